import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { failure } from '../classify/outcome.ts'
import { changeLane } from './change.ts'
import { allowance, budgetBalance, end, lanePhase, limitAt, newLane, start, type LaneState } from './decide.ts'
import type { StartKind } from './kind.ts'
import { withLaneDefaults, type LaneInput, type LanePolicy } from './policy.ts'

const NOW = 1_767_225_600_000

function change(before: LaneInput, after: LaneInput, live: (policy: LanePolicy, state: LaneState) => void = () => {}) {
  const [was, policy] = [withLaneDefaults(before), withLaneDefaults(after)]
  const old = newLane(was, NOW)
  live(was, old)
  return { policy, state: changeLane(was, policy, old, NOW), old }
}

const MOMENT = { now: NOW, roll: 0 }

function spend(count: number, kind: StartKind) {
  return (policy: LanePolicy, state: LaneState): void => {
    for (let n = 0; n < count; n++) assert.ok(start(policy, state, { kind, underWay: 0, allowedUnder: 1 }, MOMENT))
  }
}

describe('a lane whose settings change', () => {
  it('has its new limit at once', () => {
    const { policy, state } = change({ limit: 100 }, { limit: 5 })
    assert.equal(limitAt(policy, state, NOW), 5)
  })

  it('keeps what its purses hold, as far as they still hold as much', () => {
    const { state } = change({}, { credit: { most: { first: 8, retry: 90 } } }, spend(5, 'retry'))
    const { first, retry, late } = state.credit.purses
    assert.deepEqual([first.balance, retry.balance, late.balance], [8, 55, 20])
  })

  it('keeps an empty purse empty and an open lane open; its next probe is no later than a new interval', () => {
    const slow: LaneInput = { credit: { probeMinMs: 600_000, most: { first: 1 } } }
    const opened = (policy: LanePolicy, state: LaneState): void => {
      spend(1, 'first')(policy, state)
      const wish = { kind: 'first', underWay: 0, allowedUnder: 1 } as const
      const payment = start(policy, state, wish, { now: NOW + 600_000, roll: 0 })
      assert.ok(payment)
      const call = { outcome: failure('transient'), durationMs: 1, inFlight: 1, roll: 0 }
      end(policy, state, payment, call, NOW + 600_000)
    }
    const { policy, state, old } = change(slow, {}, opened)
    assert.equal(lanePhase(policy, state), 'open')
    assert.deepEqual(
      [old.credit.purses.first.probeAt, state.credit.purses.first.probeAt],
      [NOW + 1_200_000, NOW + 1_000],
    )
  })

  it('has no burst of a rate that it did not have before, and keeps what is left of one that it had', () => {
    const fresh = change({}, { rateLimit: { perSecond: 10, burst: 10 } })
    assert.deepEqual(allowance(fresh.policy, fresh.state, NOW, 0).hold, { reason: 'rate-limited', until: NOW + 100 })
    const given = change(
      { rateLimit: { perSecond: 1, burst: 10 } },
      { rateLimit: { perSecond: 1, burst: 6 } },
      spend(7, 'first'),
    )
    assert.equal(given.state.bucket?.tokens, 3)
    const smaller = change({ rateLimit: { perSecond: 1, burst: 10 } }, { rateLimit: { perSecond: 1, burst: 2 } })
    assert.equal(smaller.state.bucket?.tokens, 2)
    assert.equal(change({ rateLimit: { perSecond: 1, burst: 10 } }, {}).state.bucket, undefined)
  })

  it('keeps what retries have spent; where that cannot be known a window begins anew, and a rate with nothing to spend', () => {
    const ratio = { kind: 'ratio', ratio: 0, windowMs: 10_000, minRetries: 10 } as const
    const more = change({ budget: ratio }, { budget: { ...ratio, minRetries: 12 } }, spend(4, 'retry'))
    assert.equal(budgetBalance(more.policy, more.state, NOW), 8)
    const other = change({ budget: ratio }, { budget: { ...ratio, windowMs: 20_000 } })
    assert.equal(budgetBalance(other.policy, other.state, NOW), 10)
    const rate = change({ budget: ratio }, { budget: { kind: 'rate', perSecond: 1, burst: 5 } })
    assert.equal(budgetBalance(rate.policy, rate.state, NOW), 0)
  })

  it('keeps what its adaptive limit has learned, within the new bounds', () => {
    const { state } = change(
      { limiter: { kind: 'aimd', initialLimit: 50 } },
      { limiter: { kind: 'aimd', initialLimit: 5, maxLimit: 20 } },
    )
    assert.equal(state.learned?.limit, 20)
    assert.equal(change({ limiter: { kind: 'aimd' } }, {}).state.learned, undefined)
  })

  it('goes on with its purses as they were when the breaker is no longer set by hand', () => {
    const policy = withLaneDefaults({})
    const closed = { ...policy, orders: { forced: 'closed' } as const }
    const state = newLane(policy, NOW)
    spend(20, 'first')(policy, state)
    const forced = changeLane(policy, closed, state, NOW)
    spend(30, 'first')(closed, forced)
    const changed = changeLane(closed, policy, forced, NOW)
    assert.deepEqual(changed.credit, state.credit)
    assert.equal(allowance(policy, changed, NOW, 0).first, 0)
  })

  it('never gives more than a new lane would, and changes nothing when nothing has changed', () => {
    const anyInput: fc.Arbitrary<LaneInput> = fc.record({
      limit: fc.integer({ min: 1, max: 50 }),
      credit: fc.record({ most: fc.record({ first: fc.integer({ min: 1, max: 9 }) }) }),
      rateLimit: fc.record({ perSecond: fc.integer({ min: 1, max: 9 }), burst: fc.integer({ min: 1, max: 9 }) }),
      budget: fc.oneof(
        fc.record({
          kind: fc.constant('rate' as const),
          perSecond: fc.constant(1),
          burst: fc.integer({ min: 1, max: 9 }),
        }),
        fc.record({
          kind: fc.constant('ratio' as const),
          ratio: fc.constant(0.1),
          windowMs: fc.constantFrom(1_000, 60_000),
          minRetries: fc.integer({ min: 1, max: 9 }),
        }),
      ),
    })
    fc.assert(
      fc.property(anyInput, anyInput, fc.nat(9_000), (before, after, laterMs) => {
        const now = NOW + laterMs
        const { policy, state } = change(before, after)
        const [changed, fresh] = [state, newLane(policy, NOW)].map(each => allowance(policy, each, now, 0))
        assert.ok(changed && fresh)
        for (const part of ['total', 'first', 'retry', 'late'] as const) assert.ok(changed[part] <= fresh[part])
        const same = change(before, before)
        assert.deepEqual(same.state, same.old)
      }),
    )
  })
})
