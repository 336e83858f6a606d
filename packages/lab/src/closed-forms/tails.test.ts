import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { near } from './near.test-kit.ts'
import { mm1, mm1QuantileMs } from './queues.ts'
import { anyOf, exponential, fannedOut, hedged, hedgeShare, quantileMs, type Survival } from './tails.ts'

/** The leaf of The Tail at Scale’s table: log-log linear through what was published, the last slope going on. */
const LEAF: readonly (readonly [ms: number, share: number])[] = [
  [1, 1],
  [10, 0.02],
  [69, 0.003_248],
  [1_800, 1.0005e-5],
]

const leaf: Survival = ms => {
  if (ms <= 1) return 1
  const next = LEAF.findIndex(([end]) => ms <= end)
  const index = next === -1 ? LEAF.length - 1 : next
  const [[fromMs, from], [toMs, to]] = [LEAF[index - 1]!, LEAF[index]!]
  const slope = Math.log(to / from) / Math.log(toMs / fromMs)
  return from * (ms / fromMs) ** slope
}

describe('a fan-out', () => {
  it('of 100 meets one slow leaf in a hundred 63.4 % of the time, of 2 000 one in ten thousand 18.1 %', () => {
    assert.ok(...near(anyOf(0.01, 100), 0.634, 5e-4))
    assert.ok(...near(anyOf(0.0001, 2_000), 0.181, 5e-4))
  })

  it('of 30 reads loses one in 26 % of requests when each fails in one of a hundred', () => {
    assert.ok(...near(anyOf(0.01, 30), 0.26, 5e-3))
  })

  it('is exact for chances too small to add up, and certain when one is certain', () => {
    assert.ok(...near(anyOf(1e-18, 10) * 1e17, 1, 1e-9))
    assert.equal(anyOf(1, 3), 1)
    assert.equal(anyOf(1, 0), 0)
  })
})

describe('a hedge', () => {
  it('is sent for the share that its delay is the percentile of', () => {
    for (const share of [0.9, 0.95, 0.99])
      assert.ok(...near(hedgeShare(exponential(100), quantileMs(exponential(100), share, 10_000)!), 1 - share, 1e-9))
  })

  it('at 10 ms brings a fan-out of 100 from 1800 to 74 ms at the 99.9th percentile, for 2 % more leaf calls', () => {
    const p999 = (survival: Survival): number | undefined => quantileMs(fannedOut(survival, 100), 0.999, 1e6)
    assert.ok(...near(p999(leaf), 1_800, 9))
    assert.ok(...near(p999(hedged(leaf, 10)), 74, 0.4))
    assert.ok(...near(hedgeShare(leaf, 10), 0.02, 1e-12))
  })

  it('at once is the minimum of two, and later is never slower than none', () => {
    assert.ok(...near(hedged(exponential(100), 0)(50), exponential(50)(50), 1e-12))
    fc.assert(
      fc.property(fc.double({ min: 0, max: 500, noNaN: true }), fc.double({ min: 0, max: 500, noNaN: true }), (ms, d) =>
        assert.ok(hedged(exponential(100), d)(ms) <= exponential(100)(ms)),
      ),
    )
  })
})

describe('a quantile', () => {
  it('of an exponential latency is that of M/M/1', () => {
    const load = { arrivalsPerSecond: 80, serviceMs: 10 }
    assert.ok(...near(quantileMs(exponential(mm1(load)!.timeMs), 0.99, 1e5), mm1QuantileMs(load, 0.99)!, 1e-6))
  })

  it('beyond what was asked for is undefined', () => {
    assert.equal(
      quantileMs(() => 0.5, 0.99, 1e6),
      undefined,
    )
  })
})
