import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { checkLane, DEFAULT_LANE, laneKind, withLaneDefaults } from '@secondwind/resilience/rules'
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

  it('has the smaller credit of each kind, and the longer waits between probes', () => {
    const first = { most: { first: 10, retry: 90 }, probeShare: 0.1, probeMinMs: 2_000, probeMaxMs: 10_000 }
    const second = {
      most: { first: 15, retry: 30, late: 5 },
      perAnswer: { late: 1 },
      probeShare: 0.2,
      probeMaxMs: 5_000,
    }
    assert.deepEqual(strictest({ credit: first }, { credit: second })!.credit, {
      most: { first: 10, retry: 30, late: 5 },
      perAnswer: { first: 3, retry: 4, late: 1 },
      probeShare: 0.2,
      probeMinMs: 2_000,
      probeMaxMs: 10_000,
    })
  })

  it('has a longest wait between probes that is no shorter than the least one', () => {
    const { probeMinMs, probeMaxMs } = strictest({ credit: {} }, { credit: { probeMinMs: 90_000 } })!.credit!
    assert.deepEqual([probeMinMs, probeMaxMs], [90_000, 90_000])
  })

  it('has the credit of every lane where the first one, who has set a part of it, says nothing', () => {
    const undone = { most: { first: 1e6, late: 1e6 }, perAnswer: { first: 1e6 }, probeMinMs: 100, probeMaxMs: 100 }
    const both = strictest({ credit: { most: { first: 30 } } }, { credit: undone })!.credit
    assert.deepEqual(both, { ...DEFAULT_LANE.credit, most: { ...DEFAULT_LANE.credit.most, first: 30 } })
    const usual = { credit: { most: { retry: 7 }, probeMinMs: 3_000 } }
    const { most, probeMinMs } = strictest({ credit: {} }, { credit: undone }, usual)!.credit!
    assert.deepEqual([most?.retry, probeMinMs], [7, 3_000])
  })

  it('has the smaller budget of one kind, and of two kinds the first', () => {
    const other = { ...RATIO, ratio: 0.2, minRetries: 10 }
    assert.deepEqual(strictest({ budget: RATIO }, { budget: other })!.budget, { ...RATIO, minRetries: 10 })
    const rate = { kind: 'rate', perSecond: 5, burst: 5 } as const
    assert.deepEqual(strictest({ budget: rate }, { budget: RATIO })!.budget, rate)
    assert.deepEqual(strictest({ budget: rate }, { budget: { ...rate, burst: 2 } })!.budget, { ...rate, burst: 2 })
  })

  it('can be obeyed, and never allows more at once, a second, without an answer or between probes than either', () => {
    const optional = <Value>(of: fc.Arbitrary<Value>) => fc.option(of, { nil: undefined })
    const count = fc.integer({ min: 1, max: 100 })
    const perKind = fc.record({ first: count, retry: count, late: count }, { requiredKeys: [] })
    const anyLimits = fc
      .record({
        concurrency: optional(fc.integer({ min: 1, max: 100 })),
        rateLimit: optional(
          fc
            .record({ perSecond: fc.integer({ min: 1, max: 100 }), burst: optional(fc.integer({ min: 1, max: 100 })) })
            .map(({ perSecond, burst }) => ({ perSecond, ...(burst !== undefined && { burst }) })),
        ),
        credit: optional(
          fc.record(
            {
              most: perKind,
              perAnswer: perKind,
              probeShare: fc.integer({ min: 1, max: 100 }).map(hundredths => hundredths / 100),
              probeMinMs: fc.integer({ min: 100, max: 90_000 }),
              probeMaxMs: fc.integer({ min: 100, max: 90_000 }),
            },
            { requiredKeys: [] },
          ),
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
          for (const kind of laneKind.START_KINDS)
            for (const part of ['most', 'perAnswer'] as const)
              assert.ok(lane.credit[part][kind] <= (one.credit?.[part]?.[kind] ?? Infinity))
          for (const part of ['probeShare', 'probeMinMs', 'probeMaxMs'] as const)
            assert.ok(lane.credit[part] >= (one.credit?.[part] ?? 0))
        }
      }),
    )
  })
})
