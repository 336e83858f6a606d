import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
// #region import
import { createBreaker, RefusedError, retry } from '@secondwind/resilience'
// #endregion
import { historyOf } from '@secondwind/resilience'
import { virtualClock } from '@secondwind/resilience/testing'
import { instantTime } from './instant-time.ts'

instantTime()

const down = async (): Promise<never> => {
  throw Object.assign(new Error('down'), { status: 503 })
}

describe('a breaker', () => {
  it('is created once for a dependency, and asked before every attempt', async () => {
    const chargeCard = down
    // #region create
    const breaker = createBreaker({ window: 'consecutive', consecutiveFailures: 5 }, { name: 'payments' })

    const charge = () => retry(chargeCard, {}, { breaker })
    // #endregion
    for (let n = 0; n < 5; n++) await assert.rejects(charge(), { status: 503 })
    assert.equal(breaker.phase, 'open')
    // #region refused
    try {
      await charge()
    } catch (error) {
      assert.ok(error instanceof RefusedError) // nothing was sent
      assert.equal(error.code, 'breaker-open')
      assert.equal(error.retryAfterMs, 30_000)
    }
    // #endregion
  })

  it('ends an operation that is waiting when it opens', async () => {
    const breaker = createBreaker()
    const waiting = retry(down, {}, { breaker })
    breaker.forceOpen()
    const error = await waiting.catch((error: unknown) => error)
    assert.deepEqual([historyOf(error)!.reason, historyOf(error)!.attempts], ['breaker-open', 1])
  })

  it('lets five probes find out whether the dependency is back', async () => {
    const clock = virtualClock()
    const breaker = createBreaker({}, { clock })
    for (let n = 0; n < 20; n++) await assert.rejects(breaker.run(down))
    assert.equal(breaker.phase, 'open')
    await clock.advance(30_000)
    assert.equal(breaker.phase, 'half-open')
    for (let n = 0; n < 3; n++) await breaker.run(() => 'up again')
    assert.equal(breaker.phase, 'closed')
  })

  it('does not count an answer that says no', async () => {
    const breaker = createBreaker()
    const notFound = Object.assign(new Error('not found'), { status: 404 })
    for (let n = 0; n < 100; n++) await assert.rejects(breaker.run(() => Promise.reject(notFound)))
    assert.equal(breaker.phase, 'closed')
  })

  it('can be set by hand', () => {
    const breaker = createBreaker()
    // #region hand
    breaker.forceOpen() // lets nothing through
    breaker.forceClosed() // lets everything through
    breaker.release() // judges for itself again
    // #endregion
    assert.equal(breaker.phase, 'closed')
  })

  it('survives a restart', async () => {
    const storage = new Map<string, string>()
    const breaker = createBreaker({ window: 'consecutive', consecutiveFailures: 1 })
    await assert.rejects(breaker.run(down))
    // #region snapshot
    storage.set('payments', JSON.stringify(breaker.snapshot()))

    const restarted = createBreaker({ window: 'consecutive', consecutiveFailures: 1 })
    restarted.restore(JSON.parse(storage.get('payments')!))
    // #endregion
    assert.equal(restarted.phase, 'open')
  })
})
