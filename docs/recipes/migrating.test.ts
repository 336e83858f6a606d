import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { createBreaker, pipeline, retry } from '@secondwind/resilience'
import { instantTime } from './instant-time.ts'

instantTime()

/** Fails so often with the given error, then answers. */
function failing<T>(times: number, error: unknown, answer: T): () => Promise<T> {
  let calls = 0
  return async () => {
    if (calls++ < times) throw error
    return answer
  }
}

describe('coming from p-retry', () => {
  it('every error can be retried but those that are bugs', async () => {
    const run = failing(2, new Error('anything'), 'unicorn')
    // #region p-retry
    const result = await retry(
      run,
      { maxAttempts: 11, initialDelayMs: 1_000, maxDelayMs: 60_000, totalBudgetMs: 600_000 },
      { classify: error => (error instanceof TypeError ? undefined : 'transient') },
    )
    // #endregion
    assert.equal(result, 'unicorn')
  })
})

describe('coming from cockatiel', () => {
  it('retry and breaker are handed to one call', async () => {
    const readStock = failing(1, Object.assign(new Error('busy'), { status: 503 }), 7)
    // #region cockatiel
    const breaker = createBreaker({ window: 'consecutive', consecutiveFailures: 5, openMs: 10_000, probes: 1 })

    const stock = await retry(
      readStock,
      { maxAttempts: 4, jitterType: 'DECORRELATED', initialDelayMs: 128, maxDelayMs: 30_000 },
      { breaker },
    )
    // #endregion
    assert.equal(stock, 7)
  })
})

describe('coming from axios-retry', () => {
  it('an error of axios is understood as it is: its status, its headers, its code', async () => {
    const busy = Object.assign(new Error('Request failed'), {
      code: 'ERR_BAD_RESPONSE',
      response: { status: 503, headers: { 'retry-after': '1' } },
    })
    const get = failing(1, busy, { data: 'yes' })
    const axios = { get: (_url: string, _config: { signal: AbortSignal; timeout: number }) => get() }
    const startedAt = performance.now()
    // #region axios
    const { data } = await retry(({ signal, remainingMs }) =>
      axios.get('https://api.example.com/users/42', { signal, timeout: Math.ceil(remainingMs) }),
    )
    // #endregion
    assert.equal(data, 'yes')
    assert.ok(performance.now() - startedAt >= 1_000)
  })
})

describe('coming from opossum', () => {
  it('breaker, time-out, capacity and fallback are parts of a pipeline, and fire is a function', async () => {
    const isDown = { value: false }
    const queryStock = async (sku: string): Promise<number> => {
      if (isDown.value) throw Object.assign(new Error('busy'), { status: 503 })
      return sku.length
    }
    // #region opossum
    const stock = pipeline({
      name: 'stock',
      retry: { maxAttempts: 1, attemptTimeoutMs: 3_000 },
      breaker: { windowMs: 10_000, minCalls: 5, probes: 1 },
      bulkhead: { limit: 10, maxQueued: 0 },
      fallback: () => 0,
    })

    const readStock = stock.wrap(queryStock)
    const left = await readStock('sku-1')
    // #endregion
    assert.equal(left, 5)
    isDown.value = true
    for (let n = 0; n < 5; n++) assert.equal(await readStock('sku-1'), 0)
    assert.equal(stock.partsOf().breaker!.phase, 'open')
  })
})
