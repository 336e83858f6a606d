import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { failure } from '../classify/outcome.ts'
import { allowance, end, lanePhase, limitAt, newLane, start, type LaneState, type Start } from './decide.ts'
import { laneFrom, memoryOf } from './memory.ts'
import type { LaneOrders } from './orders.ts'
import { withLaneDefaults, type LaneInput, type LanePolicy } from './policy.ts'

const NOW = 1_767_225_600_000
const BY_HAND: Start = { kind: 'retry', isByHand: true, underWay: 0, allowedUnder: 1 }
const AT = { now: NOW, roll: 0 }
const FIRST: Start = { kind: 'first', underWay: 0, allowedUnder: 1 }

function lane(orders: LaneOrders, input: LaneInput = { limit: 16 }): [LanePolicy, LaneState] {
  const policy = { ...withLaneDefaults(input), orders }
  return [policy, newLane(policy, NOW)]
}

describe('a kill switch', () => {
  it('lets nothing start, not even what is asked for by hand, and says until when', () => {
    const [policy, state] = lane({ kill: { until: NOW + 5_000 }, pause: {} })
    const hold = { reason: 'kill-switch', until: NOW + 5_000 }
    const nothing = { total: 0, first: 0, retry: 0, late: 0, byHand: 0, kindHolds: {} }
    assert.deepEqual(allowance(policy, state, NOW, 0), { ...nothing, hold })
    assert.equal(start(policy, state, FIRST, AT), undefined)
    assert.equal(start(policy, state, BY_HAND, AT), undefined)
  })

  it('is the first gate: it is named before an open breaker', () => {
    const [policy, state] = lane({ kill: {}, forced: 'open' })
    assert.deepEqual(allowance(policy, state, NOW, 0).hold, { reason: 'kill-switch' })
  })

  it('that ended by its own time is followed by a ramp, though nobody noticed', () => {
    const [policy, state] = lane({ kill: { until: NOW } })
    assert.deepEqual(
      [0, 2_000, 4_000, 60_000].map(ms => limitAt(policy, state, NOW + ms)),
      [1, 2, 4, 16],
    )
    assert.deepEqual(allowance(policy, state, NOW, 1).hold, { reason: 'slow-start', until: NOW + 2_000 })
  })
})

describe('a pause', () => {
  it('lets only pass what is asked for by hand, one at a time, whatever the budget says', () => {
    const [policy, state] = lane({ pause: {} }, { budget: { kind: 'rate', perSecond: 0.001, burst: 1 } })
    const hold = { reason: 'paused' }
    const nothing = { total: 0, first: 0, retry: 0, late: 0, byHand: 0, kindHolds: {}, hold }
    assert.deepEqual(allowance(policy, state, NOW, 0), { ...nothing, total: 1, byHand: 1 })
    assert.deepEqual(allowance(policy, state, NOW, 1), { ...nothing, byHandHold: { reason: 'probing' } })
    assert.equal(start(policy, state, FIRST, AT), undefined)
    assert.ok(start(policy, state, BY_HAND, AT))
    assert.ok(start(policy, state, BY_HAND, AT), 'a token of the budget was not spent')
    assert.equal(start(policy, state, { ...BY_HAND, underWay: 1 }, AT), undefined)
    assert.equal(start(policy, state, { ...BY_HAND, allowedUnder: 16 }, AT), undefined, 'others may be under way')
  })

  it('is over at its instant, and the lane comes back step by step', () => {
    const [policy, state] = lane({ pause: { until: NOW + 1_000 } })
    assert.deepEqual(allowance(policy, state, NOW + 999, 0).hold, { reason: 'paused', until: NOW + 1_000 })
    assert.equal(allowance(policy, state, NOW + 1_000, 0).total, 1)
    assert.equal(allowance(policy, state, NOW + 3_000, 0).total, 2)
  })
})

describe('a breaker set by hand', () => {
  it('forced open holds the lane until it is set otherwise', () => {
    const [policy, state] = lane({ forced: 'open' })
    assert.deepEqual(allowance(policy, state, NOW, 0).hold, { reason: 'breaker-open' })
    assert.equal(start(policy, state, FIRST, AT), undefined)
  })

  it('forced closed lets everything pass, however it fails, and takes no credit', () => {
    const [policy, state] = lane({ forced: 'closed' }, { limit: 16 })
    for (let n = 0; n < 50; n++) {
      const payment = start(policy, state, { ...FIRST, allowedUnder: 16 }, AT)
      assert.ok(payment)
      end(policy, state, payment, { outcome: failure('transient'), durationMs: 1, inFlight: 1, roll: 0 }, NOW)
    }
    const { total, first, kindHolds } = allowance(policy, state, NOW, 0)
    assert.deepEqual([total, first, kindHolds], [16, 16, {}])
    assert.equal(state.credit.purses.first.balance, 20)
  })

  it('is so for the next steward too, whatever was remembered', () => {
    const [policy, state] = lane({ forced: 'closed' })
    const open = { ...memoryOf(policy, state), firstBalance: 0, firstEmptySince: NOW, firstProbeAt: NOW + 60_000 }
    const next = laneFrom(policy, open, NOW)
    assert.equal(next.credit.purses.first.balance, 0)
    assert.equal(lanePhase(policy, next), 'forced-closed')
    assert.equal(allowance(policy, next, NOW, 0).first, 16)
  })
})

describe('a ramp', () => {
  it('that was given a time is whole when it has passed: equal factors in equal times', () => {
    const [policy, state] = lane({ ramps: [{ since: NOW, rampMs: 40_000 }] })
    assert.deepEqual(
      [0, 9_999, 10_000, 20_000, 30_000, 39_999, 40_000].map(ms => limitAt(policy, state, NOW + ms)),
      [1, 1, 2, 4, 8, 15, 16],
    )
  })

  it('names the instant at which the next may start, and it may then', () => {
    const anyRamp = fc
      .record({ since: fc.integer({ min: NOW - 60_000, max: NOW }) })
      .chain(ramp =>
        fc.option(fc.integer({ min: 0, max: 600_000 })).map(rampMs => (rampMs === null ? ramp : { ...ramp, rampMs })),
      )
    fc.assert(
      fc.property(
        fc.array(anyRamp, { maxLength: 3 }),
        fc.nat(16),
        fc.integer({ min: 1, max: 16 }),
        (ramps, n, limit) => {
          const [policy, state] = lane({ ramps }, { limit })
          const { hold } = allowance(policy, state, NOW, n)
          if (hold?.reason !== 'slow-start') return
          assert.ok(hold.until !== undefined)
          assert.ok(limitAt(policy, state, hold.until) > n)
          assert.ok(limitAt(policy, state, hold.until - 1) <= n, 'and not before')
        },
      ),
      { examples: [[[{ since: NOW - 24_392, rampMs: 573_017 }], 4, 13]] },
    )
  })

  it('never gives less as time passes, and never more than the limit', () => {
    const anyTerm = fc.option(fc.record({ until: fc.integer({ min: NOW - 10_000, max: NOW }) }), { nil: undefined })
    fc.assert(
      fc.property(anyTerm, anyTerm, fc.array(fc.nat(5_000), { minLength: 2 }), (kill, pause, steps) => {
        const [policy, state] = lane({ ...(kill && { kill }), ...(pause && { pause }) })
        let now = NOW
        let before = 0
        for (const step of steps) {
          now += step
          const limit = limitAt(policy, state, now)
          assert.ok(limit >= before && limit >= 1 && limit <= 16)
          before = limit
        }
      }),
    )
  })
})
