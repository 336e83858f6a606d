import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { noLatencies, percentileMs, recordLatency, type Latencies } from '../latency/decide.ts'
import { adaptiveTimeoutMs } from './decide.ts'
import { DEFAULT_ADAPTIVE_TIMEOUT, withAdaptiveTimeoutDefaults } from './policy.ts'

const usually = { attemptTimeoutMs: 10_000, timeoutsInARow: 0 }

function successes(ms: number, times: number, latencies: Latencies = noLatencies(1_000)): Latencies {
  for (let n = 0; n < times; n++) recordLatency(latencies, ms)
  return latencies
}

describe('the time-out of an attempt', () => {
  it('is attemptTimeoutMs while fewer than a hundred successes are known', () => {
    assert.equal(adaptiveTimeoutMs(DEFAULT_ADAPTIVE_TIMEOUT, successes(200, 99), usually), 10_000)
    assert.notEqual(adaptiveTimeoutMs(DEFAULT_ADAPTIVE_TIMEOUT, successes(200, 100), usually), 10_000)
  })

  it('is twice the p99 of the successes, in whole milliseconds', () => {
    const latencies = successes(400, 20, successes(200, 980))
    const ms = adaptiveTimeoutMs(DEFAULT_ADAPTIVE_TIMEOUT, latencies, usually)
    assert.equal(ms, Math.ceil(2 * percentileMs(latencies, 99)!))
    assert.ok(Math.abs(ms - 800) < 24, `${ms}`)
  })

  it('is not moved by ten slow calls in a thousand', () => {
    const ms = adaptiveTimeoutMs(DEFAULT_ADAPTIVE_TIMEOUT, successes(5_000, 10, successes(200, 990)), usually)
    assert.ok(Math.abs(ms - 400) < 12, `${ms}`)
  })

  it('is never shorter than minMs, and never longer than attemptTimeoutMs', () => {
    assert.equal(adaptiveTimeoutMs(DEFAULT_ADAPTIVE_TIMEOUT, successes(3, 500), usually), 100)
    assert.equal(adaptiveTimeoutMs(DEFAULT_ADAPTIVE_TIMEOUT, successes(8_000, 500), usually), 10_000)
    const short = { attemptTimeoutMs: 50, timeoutsInARow: 0 }
    assert.equal(adaptiveTimeoutMs(DEFAULT_ADAPTIVE_TIMEOUT, successes(3, 500), short), 50)
  })

  it('doubles with each time-out in a row, until attemptTimeoutMs', () => {
    const latencies = successes(3, 500)
    const timeouts = [0, 1, 2, 6, 7, 5_000].map(timeoutsInARow =>
      adaptiveTimeoutMs(DEFAULT_ADAPTIVE_TIMEOUT, latencies, { ...usually, timeoutsInARow }),
    )
    assert.deepEqual(timeouts, [100, 200, 400, 6_400, 10_000, 10_000])
  })

  it('lets a dependency that has become slower through again, however much slower', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9_000 }), fc.integer({ min: 1, max: 10_000 }), (beforeMs, nowMs) => {
        const latencies = successes(beforeMs, 1_000)
        let timeoutsInARow = 0
        for (let attempt = 0; attempt < 2_000; attempt++) {
          const isInTime =
            nowMs <= adaptiveTimeoutMs(DEFAULT_ADAPTIVE_TIMEOUT, latencies, { ...usually, timeoutsInARow })
          timeoutsInARow = isInTime ? 0 : timeoutsInARow + 1
          if (isInTime) recordLatency(latencies, nowMs)
        }
        assert.equal(timeoutsInARow, 0)
        assert.ok(nowMs <= adaptiveTimeoutMs(DEFAULT_ADAPTIVE_TIMEOUT, latencies, usually))
      }),
      { numRuns: 50 },
    )
  })

  it('keeps to its own multiplier and percentile', () => {
    const policy = withAdaptiveTimeoutDefaults({ multiplier: 3, percentile: 50, minMs: 1, minSamples: 5 })
    const ms = adaptiveTimeoutMs(policy, successes(5_000, 2, successes(10, 3)), usually)
    assert.ok(Math.abs(ms - 30) <= 1, `${ms}`)
  })
})
