import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
// #region import
import { decorrelatedV2, retry } from '@secondwind/resilience'
// #endregion
import { instantTime } from './instant-time.ts'

instantTime()

describe('waits as a function', () => {
  it('stand in for the curve and the jitter of the policy', async () => {
    let calls = 0
    const readStock = async (): Promise<number> => {
      if (++calls < 3) throw Object.assign(new Error('busy'), { status: 503 })
      return 7
    }
    // #region curve
    const stock = await retry(readStock, { maxDelayMs: 2_000 }, { curve: decorrelatedV2(100) })
    // #endregion
    assert.deepEqual([stock, calls], [7, 3])
  })
})
