import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { putBack, refill } from './decide.ts'

const RATE = { perSecond: 4, burst: 10 }

describe('a bucket of tokens', () => {
  it('fills at its rate, up to its burst', () => {
    const bucket = { tokens: 1, countedAt: 1_000 }
    refill(RATE, bucket, 1_500)
    assert.deepEqual(bucket, { tokens: 3, countedAt: 1_500 })
    refill(RATE, bucket, 60_000)
    assert.deepEqual(bucket, { tokens: 10, countedAt: 60_000 })
  })

  it('neither gains nor loses when the clock steps back, and goes on from where it was', () => {
    const bucket = { tokens: 2, countedAt: 5_000 }
    refill(RATE, bucket, 1_000)
    assert.deepEqual(bucket, { tokens: 2, countedAt: 5_000 })
  })

  it('has no more after one came back than if it had never been taken', () => {
    const bucket = { tokens: 9.5, countedAt: 1_000 }
    putBack(RATE, bucket, 1_000)
    assert.deepEqual(bucket, { tokens: 10, countedAt: 1_000 })
    putBack(RATE, bucket, 2_000)
    assert.deepEqual(bucket, { tokens: 10, countedAt: 2_000 })
  })

  it('holds the same however often it is counted', () => {
    fc.assert(
      fc.property(fc.array(fc.nat({ max: 500 }), { minLength: 1 }), steps => {
        const often = { tokens: 0, countedAt: 0 }
        const once = { tokens: 0, countedAt: 0 }
        let now = 0
        for (const ms of steps) refill(RATE, often, (now += ms))
        refill(RATE, once, now)
        assert.ok(Math.abs(often.tokens - once.tokens) < 1e-9)
      }),
    )
  })
})
