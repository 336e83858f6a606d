import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { checkBudget } from '../budget/policy.ts'
import { createBudget } from '../budget/run.ts'
import { noLatencies, recordLatency, type Latencies } from '../latency/decide.ts'
import type { Clock } from '../ports/clock.ts'
import { hedgeBudget, hedgeDelayMs, mayHedge, type HedgedAttempt, type HedgeMoment } from './decide.ts'
import { DEFAULT_HEDGE, withHedgeDefaults } from './policy.ts'

function latenciesOf(durations: readonly number[]): Latencies {
  const latencies = noLatencies(1_000)
  for (const ms of durations) recordLatency(latencies, ms)
  return latencies
}

const nineteenFastOneSlow = [...Array.from({ length: 19 }, () => 20), 900]

describe('the delay of a hedge', () => {
  it('is the p95 of the recent successes, in whole milliseconds', () => {
    const delayMs = hedgeDelayMs(DEFAULT_HEDGE, latenciesOf(nineteenFastOneSlow))!
    assert.ok(Number.isInteger(delayMs) && delayMs >= 20 && delayMs <= 21, `${delayMs}`)
  })

  it('is unknown while fewer than minSamples are: such a call gets no company', () => {
    assert.equal(hedgeDelayMs(DEFAULT_HEDGE, latenciesOf(nineteenFastOneSlow.slice(1))), undefined)
  })

  it('is never less than minDelayMs', () => {
    const policy = withHedgeDefaults({ minDelayMs: 30 })
    assert.equal(hedgeDelayMs(policy, latenciesOf(nineteenFastOneSlow)), 30)
  })

  it('is delayMs where it is given, whatever the successes took, and though there are none', () => {
    assert.equal(hedgeDelayMs(withHedgeDefaults({ delayMs: 0 }), noLatencies(1)), 0)
    assert.equal(hedgeDelayMs(withHedgeDefaults({ delayMs: 7 }), latenciesOf(nineteenFastOneSlow)), 7)
  })
})

const attempt: HedgedAttempt = { extraCalls: 0, latestAt: 1_000, endsAt: 11_000 }
const moment: HedgeMoment = { now: 1_050, delayMs: 50, expectedCallMs: 0, hedgesLeft: 1 }

describe('a hedge', () => {
  it('may begin when the call has been left alone for the delay', () => {
    assert.deepEqual(mayHedge(DEFAULT_HEDGE, attempt, { ...moment, now: 1_049 }), { kind: 'wait', at: 1_050 })
    assert.deepEqual(mayHedge(DEFAULT_HEDGE, attempt, moment), { kind: 'yes' })
  })

  it('may begin at once where the delay is zero', () => {
    assert.deepEqual(mayHedge(DEFAULT_HEDGE, attempt, { ...moment, now: 1_000, delayMs: 0 }), { kind: 'yes' })
  })

  it('is never the second copy of a call that must not be made twice', () => {
    for (const once of ['not-idempotent', 'not-replayable'] as const)
      assert.deepEqual(mayHedge(DEFAULT_HEDGE, { ...attempt, once }, moment), { kind: 'no', reason: once })
  })

  it('does not begin when a server has said stop', () => {
    const stopped = { ...attempt, isStopped: true }
    assert.deepEqual(mayHedge(DEFAULT_HEDGE, stopped, moment), { kind: 'no', reason: 'pushback' })
  })

  it('does not begin before a server wants it, nor sooner because the server would', () => {
    assert.deepEqual(mayHedge(DEFAULT_HEDGE, { ...attempt, notBefore: 3_000 }, moment), { kind: 'wait', at: 3_000 })
    assert.deepEqual(mayHedge(DEFAULT_HEDGE, { ...attempt, notBefore: 1_001 }, { ...moment, now: 1_001 }), {
      kind: 'wait',
      at: 1_050,
    })
  })

  it('is one of maxExtraCalls', () => {
    const third = { ...attempt, extraCalls: 1 }
    assert.deepEqual(mayHedge(DEFAULT_HEDGE, third, moment), { kind: 'no', reason: 'extra-calls' })
    assert.deepEqual(mayHedge(withHedgeDefaults({ maxExtraCalls: 2 }), third, moment), { kind: 'yes' })
  })

  it('does not begin when its delay is unknown', () => {
    assert.deepEqual(mayHedge(DEFAULT_HEDGE, attempt, { ...moment, delayMs: undefined }), {
      kind: 'no',
      reason: 'samples',
    })
  })

  it('does not begin, and is not waited for, when it could not be expected to answer in time', () => {
    const late = { kind: 'no', reason: 'deadline' }
    assert.deepEqual(mayHedge(DEFAULT_HEDGE, { ...attempt, endsAt: 1_080 }, { ...moment, expectedCallMs: 31 }), late)
    assert.deepEqual(mayHedge(DEFAULT_HEDGE, { ...attempt, endsAt: 1_080 }, { ...moment, expectedCallMs: 30 }), {
      kind: 'yes',
    })
    assert.deepEqual(mayHedge(DEFAULT_HEDGE, { ...attempt, endsAt: 1_040 }, { ...moment, now: 1_000 }), late)
  })

  it('does not begin when its own budget has less than one left', () => {
    assert.deepEqual(mayHedge(DEFAULT_HEDGE, attempt, { ...moment, hedgesLeft: 0 }), {
      kind: 'no',
      reason: 'extra-load',
    })
  })

  it('when told to wait, may begin or is refused for good at that instant: nobody waits twice', () => {
    fc.assert(
      fc.property(
        fc.record({
          now: fc.nat(2_000),
          latestAt: fc.nat(2_000),
          notBefore: fc.nat(4_000),
          delayMs: fc.nat(3_000),
          hedgesLeft: fc.nat(1),
          endsAt: fc.nat(6_000),
        }),
        ({ now, latestAt, notBefore, delayMs, hedgesLeft, endsAt }) => {
          const call = { extraCalls: 0, latestAt, notBefore, endsAt }
          const ask = (at: number): ReturnType<typeof mayHedge> =>
            mayHedge(DEFAULT_HEDGE, call, { now: at, delayMs, expectedCallMs: 10, hedgesLeft })
          const answer = ask(now)
          if (answer.kind === 'yes') assert.ok(now >= notBefore && now >= latestAt + delayMs && now + 10 <= endsAt)
          if (answer.kind === 'wait') assert.equal(ask(answer.at).kind, hedgesLeft === 1 ? 'yes' : 'no')
        },
      ),
    )
  })
})

describe("the hedge's own budget", () => {
  it('is right whatever the policy', () => {
    for (const maxExtraLoad of [0.0001, 0.02, 1])
      assert.deepEqual(checkBudget(hedgeBudget({ ...DEFAULT_HEDGE, maxExtraLoad })), [])
  })

  it('allows two hedges for a hundred calls, and one in a window however few the calls', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(0, 5, 100, 3_000), { maxLength: 600 }), waits => {
        const time = { ms: 0 }
        const budget = createBudget(hedgeBudget(DEFAULT_HEDGE), { clock: { monotonic: () => time.ms } as Clock })
        const calls: number[] = []
        const hedges: number[] = []
        for (const ms of waits) {
          time.ms += ms
          budget.deposit()
          calls.push(time.ms)
          const since = (instants: readonly number[], ms: number): number =>
            instants.filter(at => at > time.ms - ms).length
          // Time leaves the window a tenth at a time: what is younger than nine of them is surely in it.
          if (budget.tryWithdraw('transient')) {
            assert.ok(since(hedges, 9_000) < Math.max(1, Math.ceil(0.02 * since(calls, 10_000))))
            hedges.push(time.ms)
          } else assert.ok(since(hedges, 10_001) >= 1)
        }
        assert.equal(hedges.length > 0, waits.length > 0)
      }),
    )
  })
})
