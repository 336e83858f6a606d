import { createKillSwitch, killSwitch as processSwitch, retry } from '@secondwind/resilience'
import { virtualClock, type VirtualClock } from '@secondwind/resilience/testing'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Client } from './client.ts'
import { followControls } from './follow-controls.ts'
import type { ControlState } from './wire/control.ts'

const CONTROL = { controlId: 'c', level: 'retries-off', scope: { kind: 'all' }, reason: 'a storm' } as const

/** A service that can be told what to answer; `undefined` is no answer. */
function aService(clock: VirtualClock) {
  const service = { controls: [] as ControlState['controls'] | undefined, looks: 0, aheadMs: 0 }
  const state = async (): Promise<ControlState> => {
    service.looks++
    if (service.controls === undefined) throw new Error('away')
    return { now: clock.now() + service.aheadMs, controls: service.controls }
  }
  return { service, client: { controls: { state } } as unknown as Pick<Client, 'controls'> }
}

function following() {
  const clock = virtualClock()
  const { service, client } = aService(clock)
  const problems: unknown[] = []
  const killSwitch = createKillSwitch({ clock })
  const followed = followControls(client, { clock, killSwitch, onProblem: error => problems.push(error) })
  return { clock, service, problems, ...followed }
}

describe('followControls', () => {
  it('sets the switch at the next look, and clears it when the control is over', async () => {
    const { clock, service, killSwitch, stop } = following()
    service.controls = [CONTROL]
    await clock.advance(2_000)
    assert.equal(killSwitch.levelOf('anything'), 'retries-off')
    service.controls = []
    await clock.advance(2_000)
    assert.equal(killSwitch.levelOf('anything'), undefined)
    stop()
  })

  it('keeps the last state while the service is away, and says that it is', async () => {
    const { clock, service, killSwitch, problems, stop } = following()
    service.controls = [CONTROL]
    await clock.advance(2_000)
    service.controls = undefined
    await clock.advance(60_000)
    assert.equal(killSwitch.levelOf('anything'), 'retries-off')
    assert.equal(problems.length, 30)
    stop()
  })

  it('lets an order end by its own time though the service is away, by the clock of the service', async () => {
    const { clock, service, killSwitch, stop } = following()
    service.aheadMs = 3_600_000
    service.controls = [{ ...CONTROL, expiresAt: clock.now() + 3_600_000 + 10_000 }]
    await clock.advance(2_000)
    service.controls = undefined
    await clock.advance(7_000)
    assert.equal(killSwitch.levelOf('anything'), 'retries-off')
    await clock.advance(2_000)
    assert.equal(killSwitch.levelOf('anything'), undefined)
    stop()
  })

  it('knows policies by the name and destinations by the key of an operation', async () => {
    const { clock, service, killSwitch, stop } = following()
    service.controls = [
      { ...CONTROL, scope: { kind: 'policy', policyId: 'payments' } },
      { ...CONTROL, level: 'dispatch-off', scope: { kind: 'destination', destination: 'https://api.example' } },
      { ...CONTROL, level: 'intake-off', scope: { kind: 'all' } },
    ]
    await clock.advance(2_000)
    assert.deepEqual(
      [killSwitch.levelOf('payments'), killSwitch.levelOf('x', 'https://api.example'), killSwitch.levelOf('x')],
      ['retries-off', 'retries-off', undefined],
    )
    stop()
  })

  it('takes back what it ordered when it is stopped, and looks no more', async () => {
    const { clock, service, killSwitch, stop } = following()
    service.controls = [CONTROL]
    await clock.advance(2_000)
    stop()
    assert.deepEqual(killSwitch.list(), [])
    const { looks } = service
    await clock.advance(60_000)
    assert.equal(service.looks, looks)
    assert.equal(clock.pending, 0)
  })

  it('has a switch of its own that every operation of the process obeys, and leaves that of the process alone', async () => {
    const clock = virtualClock()
    const { service, client } = aService(clock)
    service.controls = [CONTROL]
    const ended = new AbortController()
    const { looked } = followControls(client, { clock, signal: ended.signal })
    await looked
    const failing = async (): Promise<never> => {
      throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
    }
    let calls = 0
    await assert.rejects(retry(() => (calls++, failing()), { maxAttempts: 3, initialDelayMs: 0 }))
    assert.equal(calls, 1)
    assert.deepEqual(processSwitch.list(), [])
    ended.abort()
    await assert.rejects(retry(() => (calls++, failing()), { maxAttempts: 3, initialDelayMs: 0 }))
    assert.equal(calls, 4)
  })

  it('refuses to ask without a pause', () => {
    const { client } = aService(virtualClock())
    assert.throws(() => followControls(client, { everyMs: 1 }), /everyMs must be 100 milliseconds or more/)
  })
})
