import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { expectedCallMs, noLatencies, percentileMs, recordLatency, type Latencies } from './decide.ts'

function latenciesOf(durations: readonly number[], sampleCalls = 1_000): Latencies {
  const latencies = noLatencies(sampleCalls)
  for (const ms of durations) recordLatency(latencies, ms)
  return latencies
}

/** The smallest of them that so many in a hundred do not exceed. */
function exactPercentile(durations: readonly number[], percentile: number): number {
  const sorted = durations.toSorted((a, b) => a - b)
  return sorted.find((_, place) => (place + 1) * 100 >= percentile * sorted.length - 1e-6)!
}

function isNear(actual: number | undefined, exact: number): boolean {
  return actual! / exact < 1.03 && exact / actual! < 1.03
}

const anyDuration = fc.oneof(
  fc.integer({ min: 1, max: 2_600_000 }),
  fc.integer({ min: 1, max: 300 }),
  fc.double({ min: 1, max: 100, noNaN: true }),
)

describe('the recent successes', () => {
  it('give any percentile to within 3 %', () => {
    fc.assert(
      fc.property(
        fc.array(anyDuration, { minLength: 1, maxLength: 400 }),
        fc.constantFrom(1, 37.5, 50, 90, 95, 99, 99.9, 99.99),
        (durations, percentile) =>
          assert.ok(isNear(percentileMs(latenciesOf(durations), percentile), exactPercentile(durations, percentile))),
      ),
      { numRuns: 300 },
    )
  })

  it('are the latest only: older ones leave no trace', () => {
    fc.assert(
      fc.property(
        fc.array(anyDuration, { minLength: 1, maxLength: 300 }),
        fc.integer({ min: 1, max: 40 }),
        (durations, sampleCalls) => {
          const latencies = latenciesOf(durations, sampleCalls)
          const latest = latenciesOf(durations.slice(-sampleCalls), sampleCalls)
          assert.equal(latencies.known, latest.known)
          assert.deepEqual(latencies.inBucket, latest.inBucket)
          assert.deepEqual(latencies.inGroup, latest.inGroup)
        },
      ),
    )
  })

  it('have no percentile while too few are known', () => {
    assert.equal(percentileMs(noLatencies(10), 50), undefined)
    assert.equal(percentileMs(latenciesOf([10, 10]), 50, 3), undefined)
    assert.ok(isNear(percentileMs(latenciesOf([10, 10, 10]), 50, 3), 10))
  })

  it('are counted by rank: the p95 of twenty is the second longest, the p99.9 of a thousand too', () => {
    const growing = (length: number): number[] =>
      Array.from({ length }, (_, n) => 10 * 1.2 ** Math.max(0, n + 3 - length))
    assert.ok(isNear(percentileMs(latenciesOf(growing(20)), 95), 12))
    assert.ok(isNear(percentileMs(latenciesOf(growing(1_000)), 99.9), 12))
    assert.ok(isNear(percentileMs(latenciesOf(growing(1_000)), 99.95), 14.4))
  })

  it('are never shorter than a millisecond nor longer than 46 minutes, whatever a clock says', () => {
    for (const ms of [0, -5, NaN, -Infinity, 0.3, 1]) assert.equal(percentileMs(latenciesOf([ms]), 50), 1)
    for (const ms of [2_700_000, 1e300, Infinity]) assert.ok(isNear(percentileMs(latenciesOf([ms]), 50), 46 * 60_000))
  })

  it('take no memory before the first, and about two kilobytes for a thousand', () => {
    const bytes = ({ latest, inBucket, inGroup }: Latencies): number =>
      latest.byteLength + inBucket.byteLength + inGroup.byteLength
    assert.equal(bytes(noLatencies(1_000)), 0)
    assert.equal(bytes(latenciesOf([1])), 2_088)
  })
})

describe('the expected call time', () => {
  it('is the median, which one slow call does not move', () => {
    assert.ok(isNear(expectedCallMs(latenciesOf([10, 12, 11, 10, 60_000])), 11))
  })

  it('is 0 while fewer than five successes are known', () => {
    assert.equal(expectedCallMs(latenciesOf([9, 9, 9, 9])), 0)
    assert.ok(isNear(expectedCallMs(latenciesOf([9, 9, 9, 9, 9])), 9))
  })
})
