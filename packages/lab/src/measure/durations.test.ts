import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { Durations } from './durations.ts'

describe('durations', () => {
  it('have percentiles that are right to within half a per cent, whatever they are', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0.002, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 200 }),
        fc.integer({ min: 1, max: 100 }),
        (values, percentile) => {
          const durations = new Durations()
          for (const value of values) durations.add(value)
          const sorted = values.toSorted((one, other) => one - other)
          const exact = sorted[Math.max(1, Math.ceil((percentile / 100) * values.length)) - 1]!
          assert.ok(Math.abs(durations.percentileMs(percentile) / exact - 1) < 0.005)
        },
      ),
      { seed: 3, numRuns: 200 },
    )
  })

  it('have an exact mean, variance and maximum', () => {
    const durations = new Durations()
    for (const value of [1, 2, 3, 4]) durations.add(1e9 + value)
    assert.deepEqual([durations.meanMs, durations.longestMs], [1e9 + 2.5, 1e9 + 4])
    assert.ok(Math.abs(durations.variance - 5 / 3) < 1e-6)
  })

  it('that are none have percentiles all the same', () => {
    assert.equal(new Durations().percentileMs(99), 0)
    assert.deepEqual(new Durations().distribution(), [])
  })

  it('add up to one in their distribution, which grows', () => {
    const durations = new Durations()
    for (const value of [5, 5, 7, 100, 0]) durations.add(value)
    const shares = durations.distribution().map(({ share }) => share)
    assert.deepEqual(shares, [0.2, 0.6, 0.8, 1])
  })
})
