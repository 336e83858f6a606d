import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { breaker, checkLane, DEFAULT_LANE, withLaneDefaults } from '@secondwind/resilience/rules'
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
    const alone = withLaneDefaults({ breaker: first }).breaker
    const expected = { ...alone, failureRate: 0.2, maxOpenMs: 700_000 }
    assert.deepEqual(strictest({ breaker: first }, { breaker: second })!.breaker, expected)
  })

  it('has the breaker of every lane where the first one, who has set a part of it, says nothing', () => {
    const undone = { failureRate: 1, minCalls: 1e9, openMs: 1, maxOpenMs: 1, probes: 1, slowCallMs: 9_000 }
    const both = strictest({ breaker: { windowMs: 10_000 } }, { breaker: undone })!.breaker
    assert.deepEqual(both, { ...DEFAULT_LANE.breaker, windowMs: 10_000, slowCallMs: 9_000 })
    const usual = { breaker: { minCalls: 7, failureRate: 0.1 } }
    const { minCalls, failureRate } = strictest({ breaker: {} }, { breaker: undone }, usual)!.breaker!
    assert.deepEqual([minCalls, failureRate], [7, 0.1])
  })

  it('has a breaker that is open whenever the first one’s would be, whatever comes', () => {
    const part = <Value>(of: fc.Arbitrary<Value>) => fc.option(of, { nil: undefined })
    const anyBreaker = fc
      .record({
        window: part(fc.constantFrom('time' as const, 'count' as const, 'consecutive' as const)),
        windowMs: part(fc.integer({ min: 100, max: 60_000 })),
        windowCalls: part(fc.integer({ min: 2, max: 30 })),
        minCalls: part(fc.integer({ min: 2, max: 30 })),
        consecutiveFailures: part(fc.integer({ min: 1, max: 8 })),
        failureRate: part(fc.double({ min: 0.001, max: 1, noNaN: true })),
        slowCallMs: part(fc.integer({ min: 1, max: 20 })),
        slowCallRate: part(fc.double({ min: 0.001, max: 1, noNaN: true })),
      })
      .map(given => Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)))
      .filter(given => checkLane({ breaker: given }).length === 0)
    const call = fc.record({
      afterMs: fc.integer({ min: 0, max: 5_000 }),
      durationMs: fc.integer({ max: 20, min: 0 }),
      isFailed: fc.boolean(),
    })
    fc.assert(
      fc.property(anyBreaker, anyBreaker, fc.array(call, { maxLength: 60 }), (first, second, calls) => {
        const alone = withLaneDefaults({ breaker: first }).breaker
        const both = withLaneDefaults(strictest({ breaker: first }, { breaker: second })!).breaker
        const states = [alone, both].map(policy => ({ policy, state: breaker.closedBreaker(policy, 0) }))
        let now = 0
        for (const { afterMs, durationMs, isFailed } of calls) {
          now += afterMs
          const outcome = isFailed ? ({ kind: 'failure', fault: 'transient' } as const) : ({ kind: 'success' } as const)
          for (const { policy, state } of states)
            breaker.record(policy, state, { generation: 0 }, breaker.resultOf(policy, outcome, durationMs), now)
          const [isOpen, isOpenForBoth] = states.map(({ state }) => state.phase.kind === 'open')
          assert.ok(!isOpen || isOpenForBoth)
        }
      }),
    )
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
