import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { expectNoLeaks, virtualClock } from '../testing/index.ts'
import { historyOf } from './history.ts'
import { retry } from './run.ts'
import { reset, scripted, STEADY } from './scripted.test-kit.ts'

const reason = new Error('the user left')

describe('abort', () => {
  it('before the first attempt: none is made, and the reason is thrown', async () => {
    const { work, ports, calls } = scripted('never')
    await assert.rejects(retry(work, STEADY, { ports, signal: AbortSignal.abort(reason) }), reason)
    assert.deepEqual(calls, [])
  })

  it('during the wait: rejects at once with the reason, and no further attempt is made', async () => {
    const { work, ports, calls, clock } = scripted(reset())
    const controller = new AbortController()
    const result = retry(work, STEADY, { ports, signal: controller.signal })
    await clock.advance(50)
    controller.abort(reason)
    await assert.rejects(result, reason)
    assert.equal(clock.monotonic(), 50)
    assert.equal(clock.pending, 0)
    await clock.advance(10_000)
    assert.equal(calls.length, 1)
    assert.equal(historyOf(reason)!.reason, 'aborted')
  })

  it('during an attempt that ignores its signal: rejects without waiting for it', async () => {
    const { ports } = scripted()
    const controller = new AbortController()
    const result = retry(() => new Promise(() => {}), STEADY, { ports, signal: controller.signal })
    controller.abort(reason)
    await assert.rejects(result, reason)
  })

  it('during an attempt: its signal is aborted with the same reason, and what it throws then is not retried', async () => {
    const { ports, clock } = scripted()
    const controller = new AbortController()
    let calls = 0
    const work = ({ signal }: { signal: AbortSignal }) => {
      calls++
      return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
    }
    const result = retry(work, STEADY, { ports, signal: controller.signal })
    controller.abort(reason)
    await assert.rejects(result, reason)
    await clock.drain()
    assert.equal(calls, 1)
  })

  it('during an attempt that saves what it has: a success is never thrown away', async () => {
    const { ports } = scripted()
    const controller = new AbortController()
    const work = async ({ signal }: { signal: AbortSignal }) => {
      await new Promise(resolve => signal.addEventListener('abort', resolve))
      return 'half of it'
    }
    const result = retry(work, STEADY, { ports, signal: controller.signal })
    controller.abort(reason)
    assert.equal(await result, 'half of it')
  })

  it('in the breath of the call: the signal of an attempt that has read it is aborted in the same breath', async () => {
    const { ports } = scripted()
    const controller = new AbortController()
    let seen: AbortSignal | undefined
    const work = ({ signal }: { signal: AbortSignal }) => {
      seen = signal
      return new Promise(() => {})
    }
    const result = retry(work, STEADY, { ports, signal: controller.signal })
    controller.abort(reason)
    assert.equal(seen!.reason, reason)
    await assert.rejects(result, reason)
  })

  it('in the breath of the call: counts for more than what the work threw at once', async () => {
    const { ports } = scripted()
    const controller = new AbortController()
    const broken = () => Promise.reject(new Error('a bug'))
    const result = retry(broken, STEADY, { ports, signal: controller.signal })
    controller.abort(reason)
    await assert.rejects(result, reason)
    const byItself = new AbortController()
    const work = () => {
      byItself.abort(reason)
      throw new Error('a bug')
    }
    await assert.rejects(retry(work, STEADY, { ports, signal: byItself.signal }), reason)
  })

  it('of a call that is answered at once costs no listener', async () => {
    const { signal } = new AbortController()
    let added = 0
    const addEventListener = signal.addEventListener.bind(signal)
    signal.addEventListener = (...listener: Parameters<typeof addEventListener>) => {
      added++
      addEventListener(...listener)
    }
    await retry(async () => 'done', STEADY, { signal })
    assert.equal(added, 0)
    await retry(() => new Promise(resolve => setImmediate(resolve)), STEADY, { signal })
    assert.equal(added, 1)
  })

  it('after the success: nothing happens', async () => {
    const controller = new AbortController()
    const value = await retry(() => 'done', STEADY, { signal: controller.signal })
    controller.abort(reason)
    assert.equal(value, 'done')
  })

  it('by another hand inside the work says nothing about the server: it is not retried', async () => {
    const { work, ports, calls, clock } = scripted(new DOMException('gone', 'AbortError'))
    const result = retry(work, STEADY, { ports })
    void result.catch(() => {})
    await clock.drain()
    await assert.rejects(result, { name: 'AbortError' })
    assert.equal(calls.length, 1)
  })

  it('of a signal that many operations share costs one listener, and ends them all', async () => {
    await expectNoLeaks(async check => {
      const clock = virtualClock()
      const controller = check.controller()
      const work = () => Promise.reject(reset())
      const results = Array.from({ length: 50 }, () =>
        retry(work, STEADY, { ports: { clock }, signal: controller.signal, budget: false }).catch(
          (error: unknown) => error,
        ),
      )
      await clock.advance(20)
      controller.abort(reason)
      assert.deepEqual(new Set(await Promise.all(results)), new Set([reason]))
    })
  })

  it('at any instant whatever ends the operation with the reason or with its own end, within one turn', async () => {
    for (let at = 0; at <= 800; at += 25) {
      const { work, ports, clock, calls } = scripted(reset(), reset(), reset(), 'yes')
      const controller = new AbortController()
      const result = retry(work, STEADY, { ports, signal: controller.signal }).catch((error: unknown) => error)
      await clock.advance(at)
      controller.abort(reason)
      const value = await result
      assert.equal(value, at >= 700 ? 'yes' : reason, `aborted at ${at} ms`)
      await clock.drain()
      assert.equal(calls.length, [0, 100, 300, 700].filter(begin => begin <= at).length)
    }
  })
})
