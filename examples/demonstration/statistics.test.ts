import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { busiestSecond, countParts, percentile, summarize } from './statistics.ts'

describe('percentile', () => {
  it('is a value that was measured, and that so many in a hundred do not exceed', () => {
    const values = Array.from({ length: 100 }, (_, index) => 100 - index)
    assert.equal(percentile(values, 50), 50)
    assert.equal(percentile(values, 95), 95)
    assert.equal(percentile([7], 95), 7)
  })

  it('is no number of nothing', () => {
    assert.ok(Number.isNaN(percentile([], 50)))
  })
})

describe('the busiest second', () => {
  it('may begin anywhere, and does not hold both of its ends', () => {
    assert.equal(busiestSecond([0, 900, 950, 1_000, 1_850, 1_900]), 4)
    assert.equal(busiestSecond([0, 1_000, 2_000]), 1)
    assert.equal(busiestSecond([]), 0)
  })
})

describe('parts of the time', () => {
  it('hold what fell into them, and leave out what came later', () => {
    assert.deepEqual(countParts([0, 199, 200, 599, 600], { count: 3, ms: 200 }), [2, 1, 1])
  })
})

describe('the summary of a contender', () => {
  it('counts calls that arrived for each one that was wanted, and the time of those that succeeded', () => {
    const results = [
      { succeeded: true, tookMs: 10 },
      { succeeded: false, tookMs: 5_000 },
    ]
    assert.deepEqual(summarize('it', results, [0, 1, 2]), {
      name: 'it',
      succeeded: 1,
      failed: 1,
      arrived: 3,
      peakPerSecond: 3,
      amplification: 1.5,
      p50Ms: 10,
      p95Ms: 10,
    })
  })
})
