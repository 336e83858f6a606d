import assert from 'node:assert/strict'
import { createClient } from '@secondwind/client'
// #region follow-import
import { followControls } from '@secondwind/client'
// #endregion
import { retry } from '@secondwind/resilience'
import { describe, it, onTestFinished, vi } from 'vitest'
import { aService, aTarget } from './service.test-kit.ts'

// Sockets and disks take as long as the machine lets them.
vi.setConfig({ testTimeout: 60_000 })

/** How often a call that never succeeds is made. */
async function callsMade(): Promise<number> {
  let calls = 0
  const failing = async (): Promise<never> => {
    calls++
    throw Object.assign(new Error('down'), { code: 'ECONNREFUSED' })
  }
  await assert.rejects(retry(failing, { maxAttempts: 3, initialDelayMs: 1 }))
  return calls
}

describe('a process that follows the kill switch of a service', () => {
  it('is reached within five seconds, stays as it is when the service is gone, and goes on by itself afterwards', async () => {
    const service = await aService()
    const client = createClient({ url: service.url, policy: { maxAttempts: 1 } })
    // #region follow
    const followed = followControls(client)
    // #endregion
    onTestFinished(() => followed.stop())
    await followed.looked
    assert.equal(await callsMade(), 3)

    const control = await client.controls.create({ level: 'retries-off', scope: { kind: 'all' }, reason: 'a storm' })
    await vi.waitFor(() => assert.equal(followed.killSwitch.levelOf('anything'), 'retries-off'), 5_000)
    assert.equal(await callsMade(), 1)
    await client.controls.end(control.controlId)
    await vi.waitFor(() => assert.equal(followed.killSwitch.levelOf('anything'), undefined), 5_000)

    await client.controls.create({ level: 'dispatch-off', scope: { kind: 'all' }, reason: 'a storm', forMs: 20_000 })
    await vi.waitFor(() => assert.equal(followed.killSwitch.levelOf('anything'), 'retries-off'), 5_000)
    await service.stop()
    await assert.rejects(client.controls.state())
    assert.equal(await callsMade(), 1)
    followed.stop()
    assert.equal(await callsMade(), 3)
  })
})

describe('an operator', () => {
  it('pauses a destination, and resumes it step by step', async () => {
    const [{ url }, target] = await Promise.all([aService(), aTarget()])
    target.isUp = true
    const client = createClient({ url })
    // #region steer
    await client.destinations.pause(new URL(target.url).origin, { reason: 'INC-2231', forMs: 1_800_000 })
    const { taskId } = await client.tasks.enqueue({ targetUrl: target.url })
    // …
    await client.destinations.resume(new URL(target.url).origin, { rampMs: 300_000, stopOnFailureRate: 0.3 })
    await client.waitFor(taskId)
    // #endregion
    const { settings } = await client.destinations.get(new URL(target.url).origin)
    assert.deepEqual([settings!.paused, settings!.resumed!.rampMs], [undefined, 300_000])
    const other = await client.tasks.enqueue({ targetUrl: target.url })
    assert.equal((await client.waitFor(other.taskId)).status, 'SUCCEEDED')
  })

  it('changes a control and a replay as they were read, or not at all', async () => {
    const client = createClient({ url: (await aService()).url })
    const isTooLate = { code: 'version-changed', status: 412 }
    const control = await client.controls.create({ level: 'retries-off', scope: { kind: 'all' }, reason: 'a storm' })
    const later = { ifVersion: control.version + 1 }
    await assert.rejects(client.controls.end(control.controlId, {}, later), isTooLate)
    const ended = await client.controls.end(control.controlId, {}, { ifVersion: control.version })
    assert.deepEqual([ended.isInForce, ended.version], [false, control.version + 1])

    const filter = { destination: 'https://api.example' }
    const { replayId, version } = await client.replays.plan({ filter, ratePerSecond: 1 })
    const planned = await vi.waitFor(async () => {
      const replay = await client.replays.get(replayId)
      assert.equal(replay.status, 'PLANNED')
      return replay
    }, 5_000)
    await assert.rejects(client.replays.cancel(replayId, {}, { ifVersion: version }), isTooLate)
    const cancelled = await client.replays.cancel(replayId, {}, { ifVersion: planned.version })
    assert.deepEqual([cancelled.status, cancelled.version], ['CANCELLED', planned.version + 1])
  })
})
