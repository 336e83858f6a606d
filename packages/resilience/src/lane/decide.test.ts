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
  isHopeless,
  lanePhase,
  limitAt,
  newLane,
  shutGates,
  start,
  takeOtherEnd,
  takesLast,
  type Payment,
} from './decide.ts'
import { changeLane } from './change.ts'
import { anyLane, anySteps, NOW, play, type Step } from './history.test-kit.ts'
import { START_KINDS, type StartKind } from './kind.ts'
import { laneFrom } from './memory.ts'
import { withLaneDefaults, type LaneBudget, type LaneInput } from './policy.ts'

const DOWN = failure('transient')

function lane(input: LaneInput = {}) {
  const policy = withLaneDefaults(input)
  const state = newLane(policy, NOW)
  const send = (now: number, kind: StartKind = 'first', isByHand = false): Payment => {
    const wish = { kind, isByHand, underWay: 0, allowedUnder: limitAt(policy, state, now) }
    const payment = start(policy, state, wish, { now, roll: 0 })
    assert.ok(payment, 'it was allowed')
    return payment
  }
  const call = (outcome: Outcome, now: number, kind: StartKind = 'first') => {
    const status = outcome.kind === 'success' ? 200 : 503
    return end(policy, state, send(now, kind), { outcome, status, durationMs: 10, inFlight: 1, roll: 0 }, now)
  }
  const counts = (now: number, underWay = 0): number[] => {
    const { total, first, retry, late, byHand } = allowance(policy, state, now, underWay)
    return [total, first, retry, late, byHand]
  }
  /** Its first attempts have failed, and so has a probe after a second. */
  const open = (): void => {
    for (let n = 0; n < policy.credit.most.first; n++) call(DOWN, NOW)
    call(DOWN, NOW + 1_000)
  }
  return { policy, state, send, call, counts, open }
}

describe('a lane', () => {
  it('that was never served starts as many as its limit and its credit let it', () => {
    const { policy, state, counts } = lane({ limit: 30 })
    assert.deepEqual(counts(NOW), [30, 20, 30, 20, 1])
    assert.deepEqual(counts(NOW, 28), [2, 2, 2, 2, 1])
    assert.deepEqual(allowance(policy, state, NOW, 30).hold, { reason: 'concurrency' })
  })

  it('whose destination fails sends a probe of the kind now and then, and says when; other kinds have their own credit', () => {
    const { policy, state, counts, open } = lane()
    open()
    assert.equal(lanePhase(policy, state), 'open')
    const { kindHolds, ...rest } = allowance(policy, state, NOW + 1_999, 0)
    assert.deepEqual(rest, { total: 100, first: 0, retry: 60, late: 20, byHand: 1 })
    assert.deepEqual(kindHolds, {
      first: { reason: 'breaker-open', until: NOW + 2_000, since: NOW, everyMs: 1_000 },
    })
    assert.deepEqual(counts(NOW + 2_000), [100, 1, 60, 20, 1])
  })

  it('that has sent all it may, and has not heard, says that it waits for credit', () => {
    const { policy, state, send } = lane()
    for (let n = 0; n < 20; n++) send(NOW, 'late')
    assert.deepEqual(allowance(policy, state, NOW + 40, 20).kindHolds, {
      late: { reason: 'credit', until: NOW + 1_000, everyMs: 1_000 },
    })
  })

  it('says so when the first answer comes after a silence, and when the breaker opens or closes', () => {
    const { call, open } = lane()
    open()
    assert.deepEqual(call(DOWN, NOW + 2_000), { isChanged: false, isBack: false })
    assert.deepEqual(call(SUCCESS, NOW + 3_000), { isChanged: true, isBack: true })
    assert.deepEqual(call(SUCCESS, NOW + 3_001), { isChanged: false, isBack: false }, 'half-open ends in silence')
  })

  it('has what it sends by hand start without credit, one at a time, and its answer counts', () => {
    const { policy, state, send, counts, open } = lane()
    open()
    const now = NOW + 1_500
    const payment = send(now, 'first', true)
    assert.deepEqual(counts(now), [100, 0, 60, 20, 0])
    const wish = { kind: 'first', isByHand: true, underWay: 1, allowedUnder: 100 } as const
    assert.equal(start(policy, state, wish, { now, roll: 0 }), undefined)
    end(policy, state, payment, { outcome: SUCCESS, status: 200, durationMs: 1, inFlight: 1, roll: 0 }, now)
    assert.deepEqual(counts(now), [100, 3, 60, 20, 1])
  })

  it('has another by hand when the one before was never sent', () => {
    const { policy, state, send, counts, open } = lane()
    open()
    abandon(policy, state, send(NOW + 1_500, 'first', true), NOW + 1_500)
    assert.deepEqual(counts(NOW + 1_500), [100, 0, 60, 20, 1])
  })

  it('takes probes from both ends of its queue in turn, and the other end where one task cannot end in time', () => {
    const { policy, state, call, open } = lane()
    open()
    assert.deepEqual([takesLast(policy, state, 'first'), takesLast(policy, state, 'retry')], [true, false])
    call(DOWN, NOW + 2_000)
    assert.equal(takesLast(policy, state, 'first'), false)
    takeOtherEnd(state, 'first')
    assert.equal(takesLast(policy, state, 'first'), true)
    assert.equal(takesLast({ ...policy, orders: { forced: 'closed' } }, state, 'first'), false, 'it sends no probes')
  })

  it('tries one attempt in ten seconds that would end too late: the usual call may have become shorter', () => {
    const { policy, state, open, send } = lane()
    const usual = { outcome: SUCCESS, status: 200, durationMs: 9_000, inFlight: 1, roll: 0 }
    for (let n = 0; n < 20; n++) end(policy, state, send(NOW), usual, NOW)
    open()
    const now = NOW + 20_000
    assert.equal(isHopeless(policy, state, now + 10_000, now), false, 'the first')
    assert.equal(isHopeless(policy, state, now + 10_000, now + 1), true)
    assert.equal(isHopeless(policy, state, now + 20_000, now + 10_000), false, 'and another')
    assert.equal(isHopeless(policy, state, now, now + 20_000), true, 'never one whose deadline has passed')
  })

  it('names every gate that is shut, and not the first alone', () => {
    const { policy, state, call } = lane({ limit: 10, rateLimit: { perSecond: 1, burst: 1 } })
    assert.deepEqual(shutGates(policy, state, NOW, 0), [])
    call(failure('throttled', 10_000), NOW)
    const ordered = { ...policy, orders: { kill: {}, pause: { until: NOW + 9 }, forced: 'open' } } as const
    assert.deepEqual(shutGates(ordered, state, NOW, 0), [
      { reason: 'kill-switch' },
      { reason: 'paused', until: NOW + 9 },
      { reason: 'breaker-open' },
      { reason: 'retry-after', until: NOW + 10_000 },
      { reason: 'rate-limited', until: NOW + 1_000 },
    ])
    assert.deepEqual(allowance(ordered, state, NOW, 0).hold, { reason: 'kill-switch' })
    assert.deepEqual(shutGates(policy, state, NOW + 2_000, 10), [
      { reason: 'retry-after', until: NOW + 10_000 },
      { reason: 'concurrency' },
    ])
  })

  const BUDGETS: readonly LaneBudget[] = [
    { kind: 'ratio', ratio: 0.2, windowMs: 10_000, minRetries: 1 },
    { kind: 'rate', perSecond: 0.001, burst: 1 },
  ]
  for (const budget of BUDGETS)
    it(`has back what it paid for an attempt that was not made after all, from a budget by ${budget.kind}`, () => {
      const { policy, state, send, counts } = lane({ budget, rateLimit: { perSecond: 0.001, burst: 2 } })
      for (let times = 0; times < 20; times++)
        for (const kind of ['first', 'retry'] as const) abandon(policy, state, send(NOW + times, kind), NOW + times + 1)
      assert.deepEqual(counts(NOW + 50), [2, 2, 1, 1, 1])
    })

  it('has nothing back from a budget that it no longer has', () => {
    const budget = { kind: 'rate', perSecond: 0.001, burst: 1 } as const
    const { policy, state, send } = lane({ budget, rateLimit: { perSecond: 0.001, burst: 9 } })
    const before = send(NOW, 'retry')
    const other = withLaneDefaults({ budget, rateLimit: { perSecond: 0.001, burst: 5 } })
    const changed = changeLane(policy, other, state, NOW + 1)
    abandon(other, changed, before, NOW + 2)
    assert.ok(budgetBalance(other, changed, NOW + 2) < 1)
    assert.equal(Math.floor(changed.bucket?.tokens ?? 0), 5)
    assert.equal(changed.credit.purses.retry.balance, 60, 'but its credit')
  })

  it('expects a call to take what most of the latest successes took', () => {
    const { state, call } = lane()
    assert.equal(expectedMs(state), 0)
    for (let n = 0; n < 5; n++) call(SUCCESS, NOW)
    assert.ok(Math.abs(expectedMs(state) - 10) < 1)
  })

  it('sends nothing that cannot end before its deadline, once credit is short', () => {
    const { policy, state, call, open } = lane()
    for (let n = 0; n < 5; n++) call(SUCCESS, NOW)
    const usualMs = expectedMs(state)
    assert.deepEqual(
      [NOW, NOW + 1].map(expiresAt => isHopeless(policy, state, expiresAt, NOW)),
      [true, false],
    )
    open()
    const now = NOW + 1_500
    const bounds = [now + Math.floor(1.2 * usualMs), now + Math.ceil(1.2 * usualMs) + 1]
    assert.deepEqual(
      bounds.map(expiresAt => isHopeless(policy, state, expiresAt, now)),
      [true, false],
    )
    const forced = { ...policy, orders: { forced: 'closed' } as const }
    assert.equal(isHopeless(forced, state, now + 1, now), false, 'an operator holds the breaker closed')
  })

  it('can be forgotten after a minute without traffic, unless a hold or a window lasts longer', () => {
    const { policy, state, call } = lane()
    assert.deepEqual(
      [59_999, 60_000].map(ms => isAtRest(policy, state, NOW + ms)),
      [false, true],
    )
    call(failure('throttled', 300_000), NOW)
    assert.deepEqual(
      [300_000, 313_287, 313_288].map(ms => isAtRest(policy, state, NOW + ms)),
      [false, false, true],
      'the limit is whole again',
    )
    const long = lane({ budget: { kind: 'ratio', ratio: 0.1, windowMs: 120_000, minRetries: 1 } })
    assert.equal(isAtRest(long.policy, long.state, NOW + 119_999), false)
  })
})

describe('a destination that asks to be left alone', () => {
  it('is left alone by its whole lane, also by what is asked for by hand', () => {
    const { policy, state, call, counts } = lane({ limit: 10 })
    assert.equal(call(failure('throttled', 3_000), NOW).isChanged, true)
    assert.deepEqual(allowance(policy, state, NOW + 2_999, 0).hold, { reason: 'retry-after', until: NOW + 3_000 })
    assert.deepEqual(counts(NOW + 2_999), [0, 0, 0, 0, 0])
    const wish = { kind: 'first', isByHand: true, underWay: 0, allowedUnder: 10 } as const
    assert.equal(start(policy, state, wish, { now: NOW + 2_999, roll: 0 }), undefined)
    assert.deepEqual(counts(NOW + 3_000), [1, 1, 1, 1, 1], 'then it is begun with one')
    assert.deepEqual(allowance(policy, state, NOW + 3_000, 1).hold, { reason: 'slow-start', until: NOW + 5_000 })
    assert.deepEqual(counts(NOW + 7_000), [4, 4, 4, 4, 1])
    assert.deepEqual(counts(NOW + 11_000), [10, 10, 10, 10, 1])
  })

  it('holds its lane for five minutes at most, and only if it is throttling', () => {
    const { state, call } = lane()
    call(failure('transient', 60_000), NOW)
    assert.equal(state.heldUntil, 0)
    call(failure('throttled', 86_400_000), NOW)
    assert.equal(state.heldUntil, NOW + 300_000)
  })

  it('that names no wait gets a short one, and more step by step', () => {
    const { state, call, counts } = lane()
    assert.equal(call(failure('throttled'), NOW).isChanged, true)
    assert.equal(state.heldUntil, NOW + 100)
    assert.deepEqual(counts(NOW + 100), [1, 1, 1, 1, 1])
  })

  it('is not hurried by a later and shorter wish', () => {
    const { policy, state, send } = lane()
    const payments = [send(NOW), send(NOW)]
    for (const [place, payment] of payments.entries()) {
      const outcome = failure('throttled', place === 0 ? 60_000 : 1_000)
      end(policy, state, payment, { outcome, status: 429, durationMs: 1, inFlight: 1, roll: 0 }, NOW)
    }
    assert.equal(state.heldUntil, NOW + 60_000)
  })
})

describe('rate and budget', () => {
  it('say how many may start, and when to ask again', () => {
    const { policy, state, call, counts } = lane({
      rateLimit: { perSecond: 2, burst: 3 },
      budget: { kind: 'ratio', ratio: 0, windowMs: 10_000, minRetries: 1 },
    })
    assert.deepEqual(counts(NOW), [3, 3, 1, 1, 1])
    call(SUCCESS, NOW, 'late')
    assert.deepEqual(counts(NOW), [2, 2, 0, 0, 1])
    const hold = { reason: 'budget', until: NOW + 10_000 }
    assert.deepEqual(allowance(policy, state, NOW, 0).kindHolds, { retry: hold, late: hold })
    call(SUCCESS, NOW)
    call(SUCCESS, NOW)
    assert.deepEqual(allowance(policy, state, NOW, 0).hold, { reason: 'rate-limited', until: NOW + 500 })
    assert.equal(allowance(policy, state, NOW + 500, 0).total, 1)
  })

  it('are asked again when an attempt starts: what was left may be spent or forgotten by then', () => {
    const { policy, state, call } = lane({
      rateLimit: { perSecond: 1, burst: 1 },
      budget: { kind: 'ratio', ratio: 1, windowMs: 10_000, minRetries: 1 },
    })
    const retry = (now: number) =>
      start(policy, state, { kind: 'retry', underWay: 0, allowedUnder: 9 }, { now, roll: 0 })
    assert.ok(retry(NOW))
    assert.equal(retry(NOW + 1_000), undefined, 'no budget')
    call(SUCCESS, NOW + 1_000)
    assert.equal(retry(NOW + 1_000), undefined, 'no token')
    const late = NOW + 60_000
    assert.ok(retry(late))
    assert.equal(allowance(policy, state, late, 1).total, 0, 'the bucket held one, however long it was not used')
  })

  it('of an adaptive limit is what it has learned, under the limit that is set', () => {
    const { policy, state, send } = lane({ limit: 10, limiter: { kind: 'aimd', initialLimit: 20 } })
    assert.equal(limitAt(policy, state, NOW), 10)
    for (let n = 0; n < 19; n++) {
      const call = { outcome: failure('ambiguous'), durationMs: 5, inFlight: 10, roll: 0 }
      end(policy, state, send(NOW), call, NOW)
    }
    assert.ok(limitAt(policy, state, NOW) < 5)
  })
})

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
  it('passes no limit and no hold, and has one attempt without credit at most', () => {
    fc.assert(
      fc.property(anyLane, anySteps, (input, steps) => {
        play(input, steps, ({ policy, state, now, underWay, started }) => {
          assert.ok(state.freeByHand === 0 || state.freeByHand === 1)
          if (started === undefined) return
          assert.ok(now >= state.heldUntil)
          assert.ok(underWay <= limitAt(policy, state, now))
        })
      }),
    )
  })

  it('says of every hold that has an end when it ends: then something has changed', () => {
    fc.assert(
      fc.property(anyLane, anySteps, (input, steps) => {
        play(input, steps, ({ policy, state, now, underWay }) => {
          const { hold } = allowance(policy, state, now, underWay)
          if (hold?.until === undefined) return
          assert.ok(hold.until > now)
          assert.notDeepEqual(allowance(policy, state, Math.ceil(hold.until), underWay).hold, hold)
        })
      }),
    )
  })

  it('says of a kind without credit when one can start, and not a millisecond too early', () => {
    fc.assert(
      fc.property(anyLane, anySteps, ({ limit = 1, credit = {} }, steps) => {
        play({ limit, credit }, steps, played => {
          const { policy, now } = played
          // Another gate may be shut between the two: this one is seen alone.
          const state = { ...structuredClone(played.state), heldUntil: 0 }
          const { kindHolds, ...counts } = allowance(policy, state, now, 0)
          for (const kind of START_KINDS) {
            const hold = kindHolds[kind]
            assert.equal(counts[kind] === 0, hold !== undefined)
            if (hold === undefined) continue
            assert.ok(hold.until !== undefined && hold.until > now && hold.until <= now + 60_000)
            assert.equal(allowance(policy, state, hold.until - 1, 0)[kind], 0)
            assert.equal(allowance(policy, state, hold.until, 0)[kind], 1)
            const wish = { kind, underWay: 0, allowedUnder: 1 }
            assert.equal(start(policy, structuredClone(state), wish, { now: hold.until - 1, roll: 0 }), undefined)
            assert.ok(start(policy, structuredClone(state), wish, { now: hold.until, roll: 0 }))
          }
        })
      }),
    )
  })

  it('says of retries without budget when one can start, and not a millisecond too early', () => {
    fc.assert(
      fc.property(anyLane, fc.boolean(), anySteps, (input, isTakenOver, steps) => {
        const taken = isTakenOver ? laneFrom(withLaneDefaults(input), {}, NOW) : undefined
        play(
          input,
          steps,
          ({ policy, state, now, underWay }) => {
            const { retry: hold } = allowance(policy, state, now, underWay).kindHolds
            if (hold?.reason !== 'budget') return
            assert.ok(hold.until !== undefined)
            const until = Math.ceil(hold.until)
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

  it('lets each kind start within a minute after everything has failed and every hold is over', () => {
    fc.assert(
      fc.property(anyLane, anySteps, (input, steps) => {
        play(input, steps, ({ policy, state, now }) => {
          const later = Math.max(now, state.heldUntil) + 60_000
          const { first, retry, late } = allowance(policy, structuredClone(state), later, 0)
          assert.ok(first > 0 && retry > 0 && late > 0)
        })
      }),
    )
  })

  it('is as before when an attempt that has just started is not sent after all', () => {
    fc.assert(
      fc.property(anyLane, anySteps, fc.constantFrom(...START_KINDS), (input, steps, kind) => {
        play(input, steps, ({ policy, state, now, underWay }) => {
          const wish = { kind, isByHand: true, underWay, allowedUnder: 1 }
          const seen = () => [1, 400, 5_000].map(ms => allowance(policy, structuredClone(state), now + ms, underWay))
          const before = seen()
          const payment = start(policy, state, wish, { now, roll: 0.5 })
          if (payment === undefined) return
          abandon(policy, state, payment, now)
          assert.deepEqual(seen(), before)
        })
      }),
    )
  })

  it('with a limit of 1 is as without credit while its destination answers', () => {
    const anyCall = fc.record({ kind: fc.constantFrom(...START_KINDS), tookMs: fc.nat(5_000), restsMs: fc.nat(5_000) })
    fc.assert(
      fc.property(fc.array(anyCall, { maxLength: 60, size: 'max' }), calls => {
        const { policy, state, send, counts } = lane({ limit: 1, credit: { most: { first: 1, retry: 1, late: 1 } } })
        let now = NOW
        for (const { kind, tookMs, restsMs } of calls) {
          now += restsMs
          assert.deepEqual(counts(now), [1, 1, 1, 1, 1])
          const payment = send(now, kind)
          now += tookMs
          const call = { outcome: SUCCESS, status: 200, durationMs: tookMs, inFlight: 1, roll: 0 }
          assert.equal(end(policy, state, payment, call, now).isChanged, false)
        }
      }),
    )
  })
})
