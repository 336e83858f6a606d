import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
// #region import
import { observe, retry } from '@secondwind/resilience'
// #endregion
import { instantTime } from './instant-time.ts'

instantTime()

describe('telemetry', () => {
  it('is one function that hears everything', async () => {
    let calls = 0
    const readStock = async (): Promise<number> => {
      if (++calls === 1) throw Object.assign(new Error('busy'), { status: 503 })
      return 7
    }
    const counters: Record<string, number> = {}
    const count = (what: string): void => void (counters[what] = (counters[what] ?? 0) + 1)
    // #region observe
    const unobserve = observe(event => {
      if (event.kind === 'retry-scheduled') count(`retries of ${event.name}`)
      if (event.kind === 'gave-up') count(`${event.name} gave up: ${event.reason}`)
      if (event.kind === 'breaker-changed') count(`${event.name} is now ${event.to}`)
      if (event.kind === 'warning') console.warn(event.message)
    })

    await retry(readStock, {}, { name: 'stock' })
    unobserve()
    // #endregion
    assert.deepEqual(counters, { 'retries of stock': 1 })
  })
})
