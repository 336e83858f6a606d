import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { failure } from '../classify/outcome.ts'
import { changeLane } from './change.ts'
import { allowance, budgetBalance, end, limitAt, newLane, opensAt, start, type LaneState } from './decide.ts'
import { withLaneDefaults, type LaneInput, type LanePolicy } from './policy.ts'

const NOW = 1_767_225_600_000

function change(before: LaneInput, after: LaneInput, live: (policy: LanePolicy, state: LaneState) => void = () => {}) {
  const [was, policy] = [withLaneDefaults(before), withLaneDefaults(after)]
  const old = newLane(was, NOW)
  live(was, old)
  return { policy, state: changeLane(was, policy, old, NOW), old }
}

function spend(count: number, kind: 'first' | 'retry') {
  return (policy: LanePolicy, state: LaneState): void => {
    for (let n = 0; n < count; n++) assert.ok(start(policy, state, { kind, underWay: 0, allowedUnder: 1 }, NOW))
  }
}

function fail(policy: LanePolicy, state: LaneState): void {
  const permit = start(policy, state, { kind: 'first', underWay: 0, allowedUnder: 1 }, NOW)!
  end(policy, state, permit, { outcome: failure('transient'), durationMs: 1, inFlight: 1, roll: 0 }, NOW)
}

const TRIPS = { window: 'consecutive', consecutiveFailures: 1, openMs: 10_000 } as const

describe('a lane whose settings change', () => {
  it('has its new limit at once', () => {
    const { policy, state } = change({ limit: 100 }, { limit: 5 })
    assert.equal(limitAt(policy, state, NOW), 5)
  })

  it('keeps an open breaker open, under other rules too', () => {
    for (const breaker of [{ ...TRIPS, openMs: 20_000 }, { window: 'count', windowCalls: 10 } as const]) {
      const { state } = change({ breaker: TRIPS }, { breaker }, fail)
      assert.equal(opensAt(state), NOW + 10_000)
    }
  })

  it('has no burst of a rate that it did not have before, and keeps what is left of one that it had', () => {
    const fresh = change({}, { rateLimit: { perSecond: 10, burst: 10 } })
    assert.deepEqual(allowance(fresh.policy, fresh.state, NOW, 0).hold, { reason: 'rate-limited', until: NOW + 100 })
    const given = change(
      { rateLimit: { perSecond: 1, burst: 10 } },
      { rateLimit: { perSecond: 1, burst: 6 } },
      spend(7, 'first'),
    )
    assert.equal(given.state.bucket!.tokens, 3)
    const smaller = change({ rateLimit: { perSecond: 1, burst: 10 } }, { rateLimit: { perSecond: 1, burst: 2 } })
    assert.equal(smaller.state.bucket!.tokens, 2)
    assert.equal(change({ rateLimit: { perSecond: 1, burst: 10 } }, {}).state.bucket, undefined)
  })

  it('keeps what retries have spent, and where that cannot be known has nothing to spend', () => {
    const ratio = { kind: 'ratio', ratio: 0, windowMs: 10_000, minRetries: 10 } as const
    const more = change({ budget: ratio }, { budget: { ...ratio, minRetries: 12 } }, spend(4, 'retry'))
    assert.equal(budgetBalance(more.policy, more.state, NOW), 8)
    const other = change({ budget: ratio }, { budget: { ...ratio, windowMs: 20_000 } })
    assert.ok(budgetBalance(other.policy, other.state, NOW) <= 0)
    const rate = change({ budget: ratio }, { budget: { kind: 'rate', perSecond: 1, burst: 5 } })
    assert.equal(budgetBalance(rate.policy, rate.state, NOW), 0)
  })

  it('keeps what its adaptive limit has learned, within the new bounds', () => {
    const { state } = change(
      { limiter: { kind: 'aimd', initialLimit: 50 } },
      { limiter: { kind: 'aimd', initialLimit: 5, maxLimit: 20 } },
    )
    assert.equal(state.learned!.limit, 20)
    assert.equal(change({ limiter: { kind: 'aimd' } }, {}).state.learned, undefined)
  })

  it('begins to judge anew when the breaker is no longer set by hand', () => {
    const policy = withLaneDefaults({ breaker: TRIPS })
    const forced = { ...policy, orders: { forced: 'open' } as const }
    const state = changeLane(policy, forced, newLane(policy, NOW), NOW)
    assert.equal(state.breaker.forced, 'open')
    assert.equal(changeLane(forced, policy, state, NOW).breaker.forced, null)
  })

  it('never gives more than a new lane would, and changes nothing when nothing has changed', () => {
    const anyInput: fc.Arbitrary<LaneInput> = fc.record({
      limit: fc.integer({ min: 1, max: 50 }),
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
        assert.ok(changed!.total <= fresh!.total && changed!.retry <= fresh!.retry)
        const same = change(before, before)
        assert.deepEqual(same.state, same.old)
      }),
    )
  })
})
