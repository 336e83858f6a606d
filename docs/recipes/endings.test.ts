import assert from 'node:assert/strict'
import { describe, expect, it, vi } from 'vitest'
// #region import
import { describeHistory, historyOf, retry } from '@secondwind/resilience'
// #endregion
import { instantTime } from './instant-time.ts'

instantTime()

class Unavailable extends Error {
  readonly status = 503
}

const getPrice = async (): Promise<number> => {
  throw new Unavailable('no price today')
}

describe('the end without success', () => {
  it('is the last error itself, with its history beside it', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue()
    // #region history
    try {
      await retry(getPrice)
    } catch (error) {
      assert.ok(error instanceof Unavailable) // your own class, the same object
      const history = historyOf(error)!
      assert.equal(history.reason, 'attempts')
      assert.equal(history.attempts, 3)
      console.warn(describeHistory(history))
      // 3 attempts in 148 ms: HTTP 503, HTTP 503, HTTP 503 (stopped: attempts)
    }
    // #endregion
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/^3 attempts in \d+ ms: HTTP 503, HTTP 503, HTTP 503 \(stopped: attempts\)$/),
    )
  })

  it('can be another answer', async () => {
    const yesterday = 7
    // #region fallback
    const price = await retry(getPrice, {}, { onExhausted: ({ reason }) => ({ price: yesterday, because: reason }) })
    // #endregion
    assert.deepEqual(price, { price: 7, because: 'attempts' })
  })

  it('comes at once when the caller aborts, also in the middle of a wait', async () => {
    const controller = new AbortController()
    const reason = new Error('the user left')
    // #region abort
    const price = retry(getPrice, { initialDelayMs: 5_000, jitterType: 'NONE' }, { signal: controller.signal })

    controller.abort(reason)
    await assert.rejects(price, reason)
    // #endregion
    assert.equal(historyOf(reason)!.reason, 'aborted')
  })

  it('comes before a wait that would pass the deadline', async () => {
    const startedAt = performance.now()
    // #region deadline
    const policy = {
      maxAttempts: 10,
      initialDelayMs: 1_000,
      jitterType: 'NONE',
      attemptTimeoutMs: 500, // each call
      totalBudgetMs: 2_000, // all of it, waits included
    } as const
    const error = await retry(getPrice, policy).catch((error: unknown) => error)
    assert.equal(historyOf(error)!.reason, 'deadline')
    // #endregion
    assert.ok(performance.now() - startedAt < 2_000)
  })
})
