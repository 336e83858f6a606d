import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import {
  answer,
  creditAt,
  fullCredit,
  giveBack,
  nextProbeAt,
  noAnswer,
  passOver,
  probeIntervalMs,
  quarterCredit,
  spend,
  takesBack,
  unspend,
  type CreditPolicy,
  type CreditState,
  type Purse,
  type Spent,
} from './credit.ts'
import { DEFAULT_CREDIT, withCreditDefaults } from './credit-policy.ts'
import { START_KINDS, type PerKind, type StartKind } from './kind.ts'

const NOW = 1_767_225_600_000

/** A purse of which all has been spent at `NOW`. */
function empty(kind: StartKind, policy = DEFAULT_CREDIT): CreditState {
  const state = fullCredit(policy)
  for (let n = 0; n < policy.most[kind]; n++) spend(policy, state, kind, { now: NOW, roll: 0 })
  return state
}

describe('a purse', () => {
  it('has a destination that is dead for an hour asked 143 times, and 179 if the die always hurries', () => {
    const probesInAnHour = (roll: number): number => {
      const state = empty('first')
      const { first } = state.purses
      while (first.probeAt < NOW + 3_600_000) spend(DEFAULT_CREDIT, state, 'first', { now: first.probeAt, roll })
      return first.probes
    }
    assert.deepEqual([0, 0.9999].map(probesInAnHour), [143, 179])
  })

  it('lets no probe pass for its own sake: when a task is passed over, the next one comes from the other end', () => {
    const { first } = empty('first').purses
    assert.equal(takesBack(first), false)
    passOver(first)
    assert.equal(takesBack(first), true)
    passOver(first)
    assert.equal(takesBack(first), false)
  })

  it('that is not empty has its tasks taken from the front, and knows no turns', () => {
    const state = fullCredit(DEFAULT_CREDIT)
    const { first } = state.purses
    passOver(first)
    for (let n = 0; n < 20; n++) spend(DEFAULT_CREDIT, state, 'first', { now: NOW, roll: 0 })
    assert.equal(takesBack(first), false)
    spend(DEFAULT_CREDIT, state, 'first', { now: NOW + 1_000, roll: 0 })
    assert.equal(takesBack(first), true)
    answer(DEFAULT_CREDIT, state, { from: 'hand' }, NOW + 1_100)
    assert.equal(takesBack(first), false)
  })

  it('has nothing back for a probe of an earlier emptiness that was not sent after all', () => {
    const state = empty('first')
    const probe = spend(DEFAULT_CREDIT, state, 'first', { now: NOW + 1_000, roll: 0 })
    answer(DEFAULT_CREDIT, state, { from: 'hand' }, NOW + 1_100)
    const before = structuredClone(state)
    unspend(state, probe)
    assert.deepEqual(state, before)
    for (let n = 0; n < 3; n++) spend(DEFAULT_CREDIT, state, 'first', { now: NOW + 1_200, roll: 0 })
    unspend(state, probe)
    assert.equal(state.purses.first.probeAt, NOW + 2_200)
  })

  it('pays nothing for an attempt that was free, and is paid for its answer all the same', () => {
    const state = empty('first')
    for (const from of ['hand', 'order'] as const) {
      giveBack(state, { from })
      assert.equal(state.purses.first.balance, 0)
    }
    answer(DEFAULT_CREDIT, state, { from: 'hand' }, NOW)
    assert.deepEqual(
      START_KINDS.map(kind => state.purses[kind].balance),
      [3, 60, 20],
    )
  })

  it('names the earliest probe of all kinds', () => {
    const state = empty('late')
    assert.equal(nextProbeAt(fullCredit(DEFAULT_CREDIT)), undefined)
    for (let n = 0; n < 20; n++) spend(DEFAULT_CREDIT, state, 'first', { now: NOW + 400, roll: 0 })
    assert.equal(nextProbeAt(state), NOW + 1_000)
    spend(DEFAULT_CREDIT, state, 'late', { now: NOW + 1_000, roll: 0 })
    assert.equal(nextProbeAt(state), NOW + 1_400)
  })
})

/** What can happen to purses, with the ms that pass before it. */
interface Step {
  readonly afterMs: number
  /** Besides, until the next probe of the kind may start. */
  readonly isProbeDue: boolean
  readonly do: 'spend' | 'answer' | 'noAnswer' | 'giveBack' | 'unspend'
  readonly kind: StartKind
  /** Which of the attempts under way ends. */
  readonly pick: number
  readonly roll: number
}

/** Times in which the destination answers, and others in which it does not. */
const anyHistory: fc.Arbitrary<Step[]> = fc
  .array(
    fc.constantFrom('answer', 'noAnswer').chain(usual =>
      fc.array(
        fc.record({
          afterMs: fc.oneof(
            { arbitrary: fc.constant(0), weight: 5 },
            { arbitrary: fc.nat(1_500), weight: 3 },
            { arbitrary: fc.nat(3_600_000), weight: 1 },
          ),
          isProbeDue: fc.boolean(),
          do: fc.oneof(
            { arbitrary: fc.constant('spend' as const), weight: 5 },
            { arbitrary: fc.constant(usual), weight: 5 },
            { arbitrary: fc.constantFrom('giveBack' as const, 'unspend' as const), weight: 1 },
          ),
          kind: fc.constantFrom(...START_KINDS, 'first' as const, 'first' as const),
          pick: fc.nat(),
          roll: fc.double({ min: 0, max: 0.999_999, noNaN: true }),
        }),
        { minLength: 1, maxLength: 60, size: 'max' },
      ),
    ),
    { maxLength: 5, size: 'max' },
  )
  .map(times => times.flat())

const perKind = (most: number): fc.Arbitrary<PerKind<number>> => {
  const count = fc.integer({ min: 1, max: most })
  return fc.record({ first: count, retry: count, late: count })
}

const anyPolicy: fc.Arbitrary<CreditPolicy> = fc
  .record({
    perAnswer: perKind(5),
    most: perKind(8),
    probeShare: fc.constantFrom(0.001, 0.05, 0.37, 1),
    probeMinMs: fc.integer({ min: 100, max: 2_000 }),
  })
  .map(withCreditDefaults)

interface Sent {
  readonly at: number
  readonly spent: Spent
  /** Since when the purse had been empty. */
  readonly emptySince: number | null
}

interface History {
  readonly state: CreditState
  readonly now: number
  readonly underWay: readonly Sent[]
  /** All that were sent, those under way included. */
  readonly sent: readonly Sent[]
  readonly answers: number
}

const LIMIT = 6

function play(policy: CreditPolicy, steps: readonly Step[], check: (history: History) => void): void {
  const state = fullCredit(policy)
  const underWay: Sent[] = []
  let sent: Sent[] = []
  let answers = 0
  let now = NOW
  for (const { afterMs, isProbeDue, do: verb, kind, pick, roll } of steps) {
    const { balance, probeAt } = state.purses[kind]
    now = Math.max(now + afterMs, isProbeDue && balance === 0 ? probeAt : 0)
    if (verb === 'spend') {
      if (underWay.length === LIMIT || creditAt(policy, state, kind, now) === 0) continue
      const { emptySince } = state.purses[kind]
      const attempt = { at: now, spent: spend(policy, state, kind, { now, roll }), emptySince }
      underWay.push(attempt)
      sent.push(attempt)
    } else {
      const [attempt] = underWay.splice(pick % Math.max(1, underWay.length), 1)
      if (attempt === undefined) continue
      if (verb === 'answer') {
        answer(policy, state, attempt.spent, now)
        answers++
      } else if (verb === 'noAnswer') noAnswer(state, now)
      else if (verb === 'giveBack') giveBack(state, attempt.spent)
      else unspend(state, attempt.spent)
      // What was cut off while it cost credit is as free as what was never sent.
      if (verb === 'unspend' || (verb === 'giveBack' && attempt.spent.from === 'purse'))
        sent = sent.filter(other => other !== attempt)
    }
    check({ state, now, underWay, sent, answers })
  }
}

const ofKind = (attempts: readonly Sent[], kind: StartKind, from: 'purse' | 'probe'): Sent[] =>
  attempts.filter(({ spent }) => spent.from === from && spent.kind === kind)

describe('purses, whatever happens', () => {
  it('are never below nothing, and empty exactly since an instant that is known', () => {
    fc.assert(
      fc.property(anyPolicy, anyHistory, (policy, steps) => {
        play(policy, steps, ({ state, now }) => {
          for (const kind of START_KINDS) {
            const { balance, emptySince } = state.purses[kind]
            assert.ok(Number.isInteger(balance) && balance >= 0)
            assert.equal(balance === 0, emptySince !== null)
            assert.ok(emptySince === null || emptySince <= now)
          }
        })
      }),
    )
  })

  it('pay for no more attempts than they held and answers brought, probes aside', () => {
    fc.assert(
      fc.property(anyPolicy, anyHistory, (policy, steps) => {
        play(policy, steps, ({ sent, answers }) => {
          for (const kind of START_KINDS)
            assert.ok(ofKind(sent, kind, 'purse').length <= policy.most[kind] + policy.perAnswer[kind] * answers)
        })
      }),
    )
  })

  it('hold above most, with what is under way, no more than the limit; and nothing a second after the last answer', () => {
    fc.assert(
      fc.property(anyPolicy, anyHistory, (policy, steps) => {
        play(policy, steps, ({ state, underWay, now }) => {
          for (const kind of START_KINDS) {
            const held = creditAt(policy, state, kind, now) + ofKind(underWay, kind, 'purse').length
            assert.ok(held <= policy.most[kind] + LIMIT)
            assert.ok(creditAt(policy, state, kind, state.answeredAt + 1_001) <= policy.most[kind])
          }
        })
      }),
    )
  })

  it('that are empty send no two probes within an interval', () => {
    fc.assert(
      fc.property(anyPolicy, anyHistory, (policy, steps) => {
        play(policy, steps, ({ sent }) => {
          for (const kind of START_KINDS) {
            const [last, next] = ofKind(sent, kind, 'probe').slice(-2)
            if (last === undefined || next === undefined) continue
            const emptyMs = last.at - (last.emptySince ?? last.at)
            const hasPaid = last.emptySince !== next.emptySince
            const intervalMs = hasPaid ? policy.probeMinMs : probeIntervalMs(policy, emptyMs)
            assert.ok(next.at - last.at >= 0.8 * intervalMs)
          }
        })
      }),
    )
  })

  it('let each kind start within the longest interval, however all that was sent has failed', () => {
    fc.assert(
      fc.property(anyPolicy, anyHistory, (policy, steps) => {
        play(policy, steps, ({ state, now }) => {
          for (const kind of START_KINDS) assert.ok(creditAt(policy, state, kind, now + policy.probeMaxMs) >= 1)
        })
      }),
    )
  })

  it('are as before when an attempt that has just started is not sent after all', () => {
    fc.assert(
      fc.property(anyPolicy, anyHistory, fc.constantFrom(...START_KINDS), (policy, steps, kind) => {
        play(policy, steps, ({ state, now }) => {
          if (creditAt(policy, state, kind, now) === 0) return
          // What has lapsed is gone, and the next probe of a purse that is not empty means nothing.
          const known = (): object => {
            const purse = ({ probeAt, ...rest }: Purse): object => (rest.balance === 0 ? { ...rest, probeAt } : rest)
            const { purses, ...rest } = structuredClone(state)
            return { ...rest, purses: START_KINDS.map(each => purse(purses[each])) }
          }
          const { purses } = state
          if (purses[kind].balance > 0) purses[kind].balance = creditAt(policy, state, kind, now)
          const before = known()
          unspend(state, spend(policy, state, kind, { now, roll: 0.5 }))
          assert.deepEqual(known(), before)
        })
      }),
    )
  })

  it('with at least as much as the limit hold no attempt back while every one is answered', () => {
    fc.assert(
      fc.property(anyPolicy, anyHistory, fc.boolean(), (input, steps, isKnown) => {
        const policy = { ...input, most: { first: 24, retry: 24, late: 24 } }
        const state = isKnown ? fullCredit(policy) : quarterCredit(policy)
        const underWay: Spent[] = []
        let now = NOW
        for (const { afterMs, do: verb, kind, pick, roll } of steps) {
          now += afterMs
          if (verb === 'spend' && underWay.length < LIMIT) {
            assert.ok(creditAt(policy, state, kind, now) >= 1)
            const spent = spend(policy, state, kind, { now, roll })
            assert.equal(spent.from, 'purse')
            underWay.push(spent)
          } else {
            const [spent] = underWay.splice(pick % Math.max(1, underWay.length), 1)
            if (spent !== undefined) answer(policy, state, spent, now)
          }
        }
      }),
    )
  })
})
