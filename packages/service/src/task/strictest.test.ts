import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { checkLane, withLaneDefaults } from '@secondwind/resilience/rules'
import { laneInputOf, type DestinationLimits } from './destination-settings.ts'
import { strictest } from './strictest.ts'

const RATIO = { kind: 'ratio', ratio: 0.1, windowMs: 10_000, minRetries: 100 } as const

describe('the strictest of two limits', () => {
  it('is the one there is, where there is one', () => {
    assert.deepEqual(strictest({ concurrency: 5 }, undefined), { concurrency: 5 })
    assert.deepEqual(strictest(undefined, { concurrency: 5 }), { concurrency: 5 })
    assert.deepEqual(strictest({ concurrency: 5 }, { rateLimit: { perSecond: 9 } }), {
      concurrency: 5,
      rateLimit: { perSecond: 9 },
    })
    assert.equal(strictest(undefined, undefined), undefined)
  })

  it('has the smaller rate, and the smaller burst, that of a second where none was given', () => {
    const both = strictest({ rateLimit: { perSecond: 5 } }, { rateLimit: { perSecond: 50, burst: 100 } })
    assert.deepEqual(both, { rateLimit: { perSecond: 5, burst: 5 } })
  })

  it('has a breaker that opens earlier and longer; what is judged is what the first one judges', () => {
    const first = { windowCalls: 10, window: 'count', failureRate: 0.5, openMs: 700_000 } as const
    const second = { windowCalls: 1_000, minCalls: 500, failureRate: 0.2, maxOpenMs: 600_000 } as const
    const expected = { window: 'count', windowCalls: 10, failureRate: 0.2, openMs: 700_000, maxOpenMs: 700_000 }
    assert.deepEqual(strictest({ breaker: first }, { breaker: second })!.breaker, expected)
    assert.deepEqual(strictest({ breaker: { openMs: 1 } }, { breaker: second })!.breaker, { ...second, openMs: 1 })
  })

  it('has the smaller budget of one kind, and of two kinds the first', () => {
    const other = { ...RATIO, ratio: 0.2, minRetries: 10 }
    assert.deepEqual(strictest({ budget: RATIO }, { budget: other })!.budget, { ...RATIO, minRetries: 10 })
    const rate = { kind: 'rate', perSecond: 5, burst: 5 } as const
    assert.deepEqual(strictest({ budget: rate }, { budget: RATIO })!.budget, rate)
    assert.deepEqual(strictest({ budget: rate }, { budget: { ...rate, burst: 2 } })!.budget, { ...rate, burst: 2 })
  })

  it('can be obeyed, and never allows more at once, a second or of retries than either', () => {
    const optional = <Value>(of: fc.Arbitrary<Value>) => fc.option(of, { nil: undefined })
    const anyLimits = fc
      .record({
        concurrency: optional(fc.integer({ min: 1, max: 100 })),
        rateLimit: optional(
          fc
            .record({ perSecond: fc.integer({ min: 1, max: 100 }), burst: optional(fc.integer({ min: 1, max: 100 })) })
            .map(({ perSecond, burst }) => ({ perSecond, ...(burst !== undefined && { burst }) })),
        ),
        breaker: optional(
          fc
            .record({
              window: optional(fc.constantFrom('time' as const, 'count' as const, 'consecutive' as const)),
              windowCalls: optional(fc.integer({ min: 20, max: 50 })),
              failureRate: optional(fc.integer({ min: 1, max: 10 }).map(tenths => tenths / 10)),
              openMs: optional(fc.integer({ min: 1, max: 900_000 })),
            })
            .map(given => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined))),
        ),
      })
      .map(given => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)))
      .filter(given => checkLane(laneInputOf(given)).length === 0)
    fc.assert(
      fc.property(anyLimits, anyLimits, (first: DestinationLimits, second: DestinationLimits) => {
        const both = strictest(first, second)!
        assert.deepEqual(checkLane(laneInputOf(both)), [])
        const lane = withLaneDefaults(laneInputOf(both))
        for (const one of [first, second]) {
          assert.ok(one.concurrency === undefined || lane.limit <= one.concurrency)
          assert.ok(one.rateLimit === undefined || lane.rateLimit!.perSecond <= one.rateLimit.perSecond)
          assert.ok(one.breaker?.failureRate === undefined || lane.breaker.failureRate <= one.breaker.failureRate)
          assert.ok(one.breaker?.openMs === undefined || lane.breaker.openMs >= one.breaker.openMs)
        }
      }),
    )
  })
})
