import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { failure, SUCCESS, type Outcome } from '../classify/outcome.ts'
import {
  abandon,
  allowance,
  budgetBalance,
  end,
  expectedMs,
  isAtRest,
  limitAt,
  newLane,
  opensAt,
  shutGates,
  start,
  type LaneState,
  type StartKind,
} from './decide.ts'
import { changeLane } from './change.ts'
import { laneFrom } from './memory.ts'
import { withLaneDefaults, type LaneBudget, type LaneInput, type LanePolicy } from './policy.ts'

const NOW = 1_767_225_600_000
const DOWN = failure('transient')
const TRIPS_AT_ONCE: LaneInput = {
  limit: 10,
  breaker: { window: 'consecutive', consecutiveFailures: 1, openMs: 10_000, probes: 1 },
}

function lane(input: LaneInput = {}) {
  const policy = withLaneDefaults(input)
  const state = newLane(policy, NOW)
  const call = (outcome: Outcome, now: number, kind: StartKind = 'first') => {
    const permit = start(policy, state, { kind, underWay: 0, allowedUnder: limitAt(policy, state, now) }, now)
    assert.ok(permit, 'it was allowed')
    return end(policy, state, permit, { outcome, durationMs: 10, inFlight: 1, roll: 0 }, now)
  }
  return { policy, state, call }
}

describe('a lane', () => {
  it('that nobody has served starts as many as its limit lets it', () => {
    const { policy, state } = lane({ limit: 7 })
    assert.deepEqual(allowance(policy, state, NOW, 0), { total: 7, first: 7, retry: 7 })
    assert.deepEqual(allowance(policy, state, NOW, 7).hold, { reason: 'concurrency' })
  })

  it('that failed too often starts nothing until the breaker lets it, and says until when', () => {
    const { policy, state, call } = lane(TRIPS_AT_ONCE)
    assert.equal(call(DOWN, NOW), true, 'a change of phase')
    assert.equal(opensAt(state), NOW + 10_000)
    assert.deepEqual(allowance(policy, state, NOW + 9_999, 0), {
      total: 0,
      first: 0,
      retry: 0,
      hold: { reason: 'breaker-open', until: NOW + 10_000 },
    })
  })

  it('names every gate that is shut, and not the first alone', () => {
    const { policy, state, call } = lane({ ...TRIPS_AT_ONCE, rateLimit: { perSecond: 1, burst: 1 } })
    assert.deepEqual(shutGates(policy, state, NOW, 0), [])
    call(DOWN, NOW)
    const ordered = { ...policy, orders: { kill: {}, pause: { until: NOW + 9 } } }
    assert.deepEqual(shutGates(ordered, state, NOW, 0), [
      { reason: 'kill-switch' },
      { reason: 'paused', until: NOW + 9 },
      { reason: 'breaker-open', until: NOW + 10_000 },
      { reason: 'rate-limited', until: NOW + 1_000 },
    ])
    assert.deepEqual(allowance(ordered, state, NOW, 0).hold, { reason: 'kill-switch' })
    assert.deepEqual(shutGates(policy, state, NOW + 2_000, 10), [
      { reason: 'breaker-open', until: NOW + 10_000 },
      { reason: 'concurrency' },
    ])
  })

  it('that is half-open sends one request at a time, first attempt or retry', () => {
    const { policy, state, call } = lane({ ...TRIPS_AT_ONCE, budget: { kind: 'rate', perSecond: 0.001, burst: 1 } })
    call(SUCCESS, NOW, 'retry')
    call(DOWN, NOW)
    assert.deepEqual(allowance(policy, state, NOW + 10_000, 0), { total: 1, first: 1, retry: 1 })
    assert.deepEqual(allowance(policy, state, NOW + 10_000, 1).hold, { reason: 'probing' })
  })

  it('that is back is given more step by step: twice as many every two seconds', () => {
    const { policy, state, call } = lane(TRIPS_AT_ONCE)
    call(DOWN, NOW)
    const back = NOW + 10_000
    assert.equal(call(SUCCESS, back), true)
    assert.deepEqual(
      [0, 1_999, 2_000, 4_000, 6_000, 60_000].map(ms => limitAt(policy, state, back + ms)),
      [1, 1, 2, 4, 8, 10],
    )
    assert.deepEqual(allowance(policy, state, back + 2_000, 2).hold, { reason: 'slow-start', until: back + 3_170 })
    assert.equal(limitAt(policy, state, back + 3_170), 3)
  })

  it('asks ever more seldom while its destination stays away', () => {
    const { policy, state, call } = lane(TRIPS_AT_ONCE)
    let now = NOW
    const waits = Array.from({ length: 7 }, () => {
      call(DOWN, now)
      const waitMs = opensAt(state) - now
      now = opensAt(state)
      return waitMs
    })
    assert.deepEqual(waits, [10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000])
    assert.equal(policy.breaker.maxOpenMs, 300_000)
  })

  it('releases what was claimed beside others before the breaker opened: it is no probe', () => {
    const { policy, state, call } = lane(TRIPS_AT_ONCE)
    call(DOWN, NOW)
    const later = NOW + 10_000
    assert.equal(start(policy, state, { kind: 'first', underWay: 0, allowedUnder: 10 }, later), undefined)
    assert.ok(start(policy, state, { kind: 'first', underWay: 0, allowedUnder: 1 }, later))
    assert.equal(start(policy, state, { kind: 'first', underWay: 1, allowedUnder: 1 }, later), undefined)
  })

  it('has the place of a probe free again that was not made after all', () => {
    const { policy, state, call } = lane(TRIPS_AT_ONCE)
    call(DOWN, NOW)
    const wish = { kind: 'first', underWay: 0, allowedUnder: 1 } as const
    abandon(policy, state, start(policy, state, wish, NOW + 10_000)!, NOW + 10_001)
    assert.ok(start(policy, state, wish, NOW + 10_002))
  })

  const BUDGETS: readonly LaneBudget[] = [
    { kind: 'ratio', ratio: 0.2, windowMs: 10_000, minRetries: 1 },
    { kind: 'rate', perSecond: 0.001, burst: 1 },
  ]
  for (const budget of BUDGETS)
    it(`has back what it paid for an attempt that was not made after all, from a budget by ${budget.kind}`, () => {
      const { policy, state } = lane({ budget, rateLimit: { perSecond: 0.001, burst: 2 } })
      for (let times = 0; times < 20; times++)
        for (const kind of ['first', 'retry'] as const) {
          const permit = start(policy, state, { kind, underWay: 0, allowedUnder: 10 }, NOW + times)
          assert.ok(permit, kind)
          abandon(policy, state, permit, NOW + times + 1)
        }
      assert.deepEqual(allowance(policy, state, NOW + 50, 0), { total: 2, first: 2, retry: 1 })
    })

  it('has nothing back for a probe that cost nothing, nor from a budget that it no longer has', () => {
    const budget = { kind: 'rate', perSecond: 0.001, burst: 1 } as const
    const { policy, state, call } = lane({ ...TRIPS_AT_ONCE, budget, rateLimit: { perSecond: 0.001, burst: 9 } })
    const before = start(policy, state, { kind: 'retry', underWay: 0, allowedUnder: 10 }, NOW)!
    call(DOWN, NOW)
    const probe = start(policy, state, { kind: 'retry', underWay: 0, allowedUnder: 1 }, NOW + 10_000)!
    abandon(policy, state, probe, NOW + 10_001)
    assert.ok(budgetBalance(policy, state, NOW + 10_001) < 1)
    const other = withLaneDefaults({ ...TRIPS_AT_ONCE, budget, rateLimit: { perSecond: 0.001, burst: 5 } })
    const changed = changeLane(policy, other, state, NOW + 10_001)
    abandon(other, changed, before, NOW + 10_002)
    assert.ok(budgetBalance(other, changed, NOW + 10_002) < 1)
    assert.equal(Math.floor(changed.bucket!.tokens), 5)
  })

  it('expects a call to take what most of the latest successes took', () => {
    const { state, call } = lane()
    assert.equal(expectedMs(state), 0)
    for (let n = 0; n < 5; n++) call(SUCCESS, NOW)
    assert.ok(Math.abs(expectedMs(state) - 10) < 1)
  })

  it('can be forgotten when a new one would be served in the same way', () => {
    const { policy, state, call } = lane(TRIPS_AT_ONCE)
    assert.equal(isAtRest(policy, state, NOW + 59_999), false)
    assert.equal(isAtRest(policy, state, NOW + 60_000), true)
    call(DOWN, NOW)
    assert.equal(isAtRest(policy, state, NOW + 3_600_000), false, 'it would be asked anew')
    call(SUCCESS, NOW + 3_600_000)
    assert.equal(isAtRest(policy, state, NOW + 3_660_000), true)
  })
})

describe('a destination that asks to be left alone', () => {
  it('is left alone by its whole lane, then begun with one', () => {
    const { policy, state, call } = lane({ limit: 10 })
    assert.equal(call(failure('throttled', 3_000), NOW), true)
    assert.deepEqual(allowance(policy, state, NOW + 2_999, 0).hold, { reason: 'retry-after', until: NOW + 3_000 })
    assert.equal(allowance(policy, state, NOW + 3_000, 0).total, 1)
    assert.equal(limitAt(policy, state, NOW + 7_000), 4)
  })

  it('holds its lane for five minutes at most, and only if it is throttling', () => {
    const { state, call } = lane()
    call(failure('transient', 60_000), NOW)
    assert.equal(opensAt(state), 0)
    call(failure('throttled', 86_400_000), NOW)
    assert.equal(opensAt(state), NOW + 300_000)
  })

  it('is not hurried by a later and shorter wish', () => {
    const { policy, state } = lane()
    const permits = [1, 2].map(underWay => start(policy, state, { kind: 'first', underWay, allowedUnder: 9 }, NOW)!)
    for (const [place, retryAfterMs] of [60_000, 1_000].entries()) {
      const outcome = failure('throttled', retryAfterMs)
      end(policy, state, permits[place]!, { outcome, durationMs: 1, inFlight: 1, roll: 0 }, NOW)
    }
    assert.equal(opensAt(state), NOW + 60_000)
  })
})

describe('rate and budget', () => {
  it('say how many may start, and when to ask again', () => {
    const { policy, state, call } = lane({
      rateLimit: { perSecond: 2, burst: 3 },
      budget: { kind: 'ratio', ratio: 0, windowMs: 10_000, minRetries: 1 },
    })
    assert.deepEqual(allowance(policy, state, NOW, 0), { total: 3, first: 3, retry: 1 })
    call(SUCCESS, NOW, 'retry')
    const { retryHold, ...rest } = allowance(policy, state, NOW, 0)
    assert.deepEqual(rest, { total: 2, first: 2, retry: 0 })
    assert.deepEqual(retryHold, { reason: 'budget', until: NOW + 10_000 })
    call(SUCCESS, NOW)
    call(SUCCESS, NOW)
    assert.deepEqual(allowance(policy, state, NOW, 0).hold, { reason: 'rate-limited', until: NOW + 500 })
    assert.equal(allowance(policy, state, NOW + 500, 0).total, 1)
  })

  it('of a lane that was taken over name the end of the window in which others may have spent', () => {
    const policy = withLaneDefaults({ budget: { kind: 'ratio', ratio: 0.2, windowMs: 10_000, minRetries: 100 } })
    const state = laneFrom(policy, { phase: 'closed', since: 0, until: 0, openings: 0, limit: null }, NOW)
    assert.deepEqual(allowance(policy, state, NOW + 1_900, 0).retryHold, { reason: 'budget', until: NOW + 10_000 })
    assert.equal(allowance(policy, state, NOW + 10_000, 0).retry, 100)
  })

  it('are asked again when an attempt starts: what was left may be spent or forgotten by then', () => {
    const { policy, state, call } = lane({
      rateLimit: { perSecond: 1, burst: 1 },
      budget: { kind: 'ratio', ratio: 1, windowMs: 10_000, minRetries: 1 },
    })
    const wish = { kind: 'retry', underWay: 0, allowedUnder: 9 } as const
    assert.ok(start(policy, state, wish, NOW))
    assert.equal(start(policy, state, wish, NOW + 1_000), undefined, 'no budget')
    assert.ok(!call(SUCCESS, NOW + 1_000))
    assert.equal(start(policy, state, wish, NOW + 1_000), undefined, 'no token')
    const late = NOW + 60_000
    assert.ok(start(policy, state, wish, late))
    assert.equal(allowance(policy, state, late, 1).total, 0, 'the bucket held one, however long nobody came')
  })

  it('of an adaptive limit is what it has learned, under the limit that is set', () => {
    const { policy, state } = lane({ limit: 10, limiter: { kind: 'aimd', initialLimit: 20 } })
    assert.equal(limitAt(policy, state, NOW), 10)
    for (let n = 0; n < 20; n++) {
      const permit = start(policy, state, { kind: 'first', underWay: 0, allowedUnder: 10 }, NOW)!
      const call = { outcome: failure('ambiguous'), durationMs: 5, inFlight: 10, roll: 0 }
      if (n < 19) end(policy, state, permit, call, NOW)
    }
    assert.ok(limitAt(policy, state, NOW) < 5)
  })
})

/** What can happen to a lane, with the ms that pass before it. */
type Step =
  | { readonly afterMs: number; readonly do: 'start'; readonly kind: StartKind }
  | { readonly afterMs: number; readonly do: 'end'; readonly pick: number; readonly outcome: Outcome }

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    afterMs: fc.constantFrom(0, 1, 300, 2_000, 11_000),
    do: fc.constant('start'),
    kind: fc.constantFrom<StartKind>('first', 'retry'),
  }),
  fc.record({
    afterMs: fc.constantFrom(0, 5, 700),
    do: fc.constant('end'),
    pick: fc.nat(),
    outcome: fc.constantFrom<Outcome>(SUCCESS, DOWN, failure('ambiguous'), failure('throttled', 1_500)),
  }),
)

const anyLane: fc.Arbitrary<LaneInput> = fc.record(
  {
    limit: fc.constantFrom(1, 3, 20),
    breaker: fc.record({
      window: fc.constant('consecutive' as const),
      consecutiveFailures: fc.constantFrom(1, 3),
      openMs: fc.constant(10_000),
      probes: fc.constantFrom(1, 3),
    }),
    budget: fc.constantFrom<LaneBudget>(
      { kind: 'ratio', ratio: 0.5, windowMs: 10_000, minRetries: 1 },
      { kind: 'ratio', ratio: 0.1, windowMs: 3_333, minRetries: 2, of: 'attempts', reserve: 1, minCalls: 4 },
      { kind: 'rate', perSecond: 0.3, burst: 2 },
    ),
    rateLimit: fc.constant({ perSecond: 2, burst: 4 }),
    limiter: fc.constant({ kind: 'gradient2' as const, initialLimit: 5 }),
  },
  { requiredKeys: ['limit', 'breaker'] },
)

interface Played {
  readonly policy: LanePolicy
  readonly state: LaneState
  readonly now: number
  readonly underWay: number
  readonly started: StartKind | undefined
}

/** Starts only what is allowed, as whoever keeps a lane does. */
function play(input: LaneInput, steps: readonly Step[], check: (played: Played) => void, taken?: LaneState): void {
  const { policy, state: fresh } = lane(input)
  const state = taken ?? fresh
  const permits: NonNullable<ReturnType<typeof start>>[] = []
  let now = NOW
  for (const step of steps) {
    now += step.afterMs
    let started: StartKind | undefined
    if (step.do === 'start') {
      const allowed = allowance(policy, state, now, permits.length)
      const wish = { kind: step.kind, underWay: permits.length, allowedUnder: limitAt(policy, state, now) }
      if (allowed[step.kind] > 0) {
        permits.push(start(policy, state, wish, now)!)
        started = step.kind
      } else assert.ok(allowed.hold ?? allowed.retryHold, 'whoever may not start is told why')
    } else if (permits.length > 0) {
      const [permit] = permits.splice(step.pick % permits.length, 1)
      const call = { outcome: step.outcome, durationMs: 20, inFlight: permits.length + 1, roll: 0.5 }
      end(policy, state, permit!, call, now)
    }
    check({ policy, state, now, underWay: permits.length, started })
  }
}

/** What has flowed in by then is a token but for the last of its decimals. */
const NEARLY_WHOLE: [LaneInput, boolean, Step[]] = [
  { budget: { kind: 'rate', perSecond: 0.3, burst: 2 } },
  true,
  [
    { afterMs: 2_000, do: 'start', kind: 'first' },
    { afterMs: 700, do: 'end', pick: 0, outcome: { kind: 'success' } },
    { afterMs: 2_000, do: 'start', kind: 'first' },
    { afterMs: 0, do: 'start', kind: 'retry' },
    { afterMs: 2_000, do: 'start', kind: 'retry' },
  ],
]

describe('a lane, whatever happens', () => {
  it('lets nobody start before it opens, passes no limit, and sends one probe at a time', () => {
    fc.assert(
      fc.property(anyLane, fc.array(anyStep, { maxLength: 100 }), (input, steps) => {
        play(input, steps, ({ policy, state, now, underWay, started }) => {
          if (started === undefined) return
          assert.ok(now >= opensAt(state))
          assert.ok(underWay <= limitAt(policy, state, now))
          if (state.breaker.phase.kind === 'half-open') assert.equal(underWay, 1)
        })
      }),
    )
  })

  it('says of every hold that has an end when it ends: then something has changed', () => {
    fc.assert(
      fc.property(anyLane, fc.array(anyStep, { maxLength: 60 }), (input, steps) => {
        play(input, steps, ({ policy, state, now, underWay }) => {
          const { hold } = allowance(policy, state, now, underWay)
          if (hold?.until === undefined) return
          assert.ok(hold.until > now)
          assert.notDeepEqual(allowance(policy, state, Math.ceil(hold.until), underWay).hold, hold)
        })
      }),
    )
  })

  it('says of retries without budget when one can start, and not a millisecond too early', () => {
    fc.assert(
      fc.property(anyLane, fc.boolean(), fc.array(anyStep, { maxLength: 60 }), (input, isTakenOver, steps) => {
        const taken = isTakenOver ? laneFrom(withLaneDefaults(input), {}, NOW) : undefined
        play(
          input,
          steps,
          ({ policy, state, now, underWay }) => {
            const { retryHold } = allowance(policy, state, now, underWay)
            if (retryHold === undefined) return
            const until = Math.ceil(retryHold.until!)
            assert.ok(until > now)
            // Between the two another gate may shut; the balance is the budget's own word.
            assert.ok(budgetBalance(policy, structuredClone(state), until) >= 1)
            for (const early of [now, Math.floor((now + until) / 2), until - 1])
              assert.ok(budgetBalance(policy, structuredClone(state), early) < 1)
          },
          taken,
        )
      }),
      { examples: [NEARLY_WHOLE] },
    )
  })

  it('has a limit that only grows while nothing happens', () => {
    fc.assert(
      fc.property(anyLane, fc.array(anyStep), fc.array(fc.nat(5_000)), (input, steps, waits) => {
        let last: Played | undefined
        play(input, steps, played => (last = played))
        if (last === undefined) return
        let { now } = last
        let limit = 0
        for (const ms of waits) {
          now += ms
          // Half-open comes after open, where nothing starts whatever the limit says.
          if (now < opensAt(last.state) || last.state.breaker.phase.kind === 'open') continue
          const grown = limitAt(last.policy, last.state, now)
          assert.ok(grown >= limit)
          limit = grown
        }
      }),
    )
  })
})
