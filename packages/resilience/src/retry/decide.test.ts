import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { FAULTS, type Failure } from '../classify/outcome.ts'
import { delayMs } from './backoff.ts'
import { deadlineOf, decide, GIVE_UP_REASONS, inProcessShare, type Moment, type RetryState } from './decide.ts'
import { checkRetryPolicy, DEFAULT_POLICY, type RetryPolicy } from './policy.ts'

const anyMs = fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 1e8 }))

const anyPolicy: fc.Arbitrary<RetryPolicy> = fc
  .record({
    maxAttempts: fc.integer({ min: 1, max: 12 }),
    initialDelayMs: fc.integer({ min: 0, max: 1_000 }),
    maxDelayMs: fc.integer({ min: 1_000, max: 100_000 }),
    totalBudgetMs: fc.integer({ min: 1, max: 200_000 }),
    jitterType: fc.constantFrom('NONE', 'FULL', 'EQUAL', 'DECORRELATED', 'PROPORTIONAL'),
  })
  .map(input => checkRetryPolicy(input).policy!)

const anyState: fc.Arbitrary<RetryState> = fc.record(
  {
    attempt: fc.integer({ min: 1, max: 12 }),
    startedAt: fc.integer({ min: 0, max: 10_000 }),
    previousDelayMs: anyMs,
    once: fc.constantFrom('not-idempotent', 'not-replayable'),
    deadlineAt: fc.integer({ min: 0, max: 400_000 }),
  },
  { requiredKeys: ['attempt', 'startedAt', 'previousDelayMs'], noNullPrototype: true },
)

const anyFailure: fc.Arbitrary<Failure> = fc.record(
  {
    kind: fc.constant('failure'),
    fault: fc.constantFrom(...FAULTS),
    retryAfterMs: fc.oneof(anyMs, fc.double({ min: 0, max: 1e9, noNaN: true })),
    unsent: fc.boolean(),
  },
  { requiredKeys: ['kind', 'fault'], noNullPrototype: true },
)

const anyMoment: fc.Arbitrary<Moment> = fc.record(
  {
    now: fc.integer({ min: 0, max: 300_000 }),
    roll: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
    expectedCallMs: fc.integer({ min: 0, max: 5_000 }),
  },
  { noNullPrototype: true },
)

interface Given {
  readonly policy: RetryPolicy
  readonly state: RetryState
  readonly failure: Failure
  readonly moment: Moment
}

function always(check: (given: Given) => void): fc.IProperty<[Given]> {
  const given = { policy: anyPolicy, state: anyState, failure: anyFailure, moment: anyMoment }
  return fc.property(fc.record(given, { noNullPrototype: true }), check)
}

const OFTEN = { numRuns: 1_000 }

describe('whatever happened, a retry', () => {
  it('is never earlier than the server asked', () => {
    fc.assert(
      always(({ policy, state, failure, moment }) => {
        const decision = decide(policy, state, failure, moment)
        if (decision.kind === 'retry') assert.ok(decision.at >= moment.now + (failure.retryAfterMs ?? 0))
      }),
      OFTEN,
    )
  })

  it('is at most a fifth later than the server asked, where that is longer than our own wait', () => {
    fc.assert(
      always(({ policy, state, failure, moment }) => {
        const decision = decide(policy, state, failure, moment)
        const own = delayMs(policy, state, moment.roll)
        if (decision.kind === 'retry')
          assert.ok(decision.at - moment.now <= Math.max(own, Math.ceil((failure.retryAfterMs ?? 0) * 1.2) + 1))
      }),
      OFTEN,
    )
  })

  it('is never shortened to fit the time that is left', () => {
    fc.assert(
      always(({ policy, state, failure, moment }) => {
        const decision = decide(policy, state, failure, moment)
        if (decision.kind === 'retry') assert.ok(decision.at - moment.now >= delayMs(policy, state, moment.roll))
      }),
      OFTEN,
    )
  })

  it('can end before the deadline, if the call takes what it usually does', () => {
    fc.assert(
      always(({ policy, state, failure, moment }) => {
        const decision = decide(policy, state, failure, moment)
        if (decision.kind === 'retry') assert.ok(decision.at + moment.expectedCallMs <= deadlineOf(policy, state))
      }),
      OFTEN,
    )
  })

  it('is the next attempt, and one that maxAttempts allows', () => {
    fc.assert(
      always(({ policy, state, failure, moment }) => {
        const decision = decide(policy, state, failure, moment)
        if (decision.kind !== 'retry') return
        assert.equal(decision.state.attempt, state.attempt + 1)
        assert.ok(decision.state.attempt <= policy.maxAttempts)
      }),
      OFTEN,
    )
  })

  it('is not made of a call that must not be repeated, unless it never arrived', () => {
    fc.assert(
      always(({ policy, state, failure, moment }) => {
        const decision = decide(policy, state, failure, moment)
        if (decision.kind === 'retry' && state.once !== undefined) assert.equal(failure.unsent, true)
      }),
      OFTEN,
    )
  })

  it('leaves what the caller gave in the state', () => {
    fc.assert(
      always(({ policy, state, failure, moment }) => {
        const decision = decide(policy, state, failure, moment)
        if (decision.kind !== 'retry') return
        const { attempt: _, previousDelayMs: __, ...given } = state
        const { attempt: ___, previousDelayMs: ____, ...kept } = decision.state
        assert.deepEqual(kept, given)
      }),
      OFTEN,
    )
  })
})

describe('a decision', () => {
  it('is plain data of whole numbers that survives being stored', () => {
    fc.assert(
      always(({ policy, state, failure, moment }) => {
        const decision = decide(policy, state, failure, moment)
        assert.deepEqual(JSON.parse(JSON.stringify(decision)), decision)
        if (decision.kind === 'retry') assert.ok(Number.isSafeInteger(decision.at))
        if (decision.kind === 'give-up') assert.ok(GIVE_UP_REASONS.includes(decision.reason))
      }),
      OFTEN,
    )
  })

  it('depends on nothing but what it is given, and changes none of it', () => {
    fc.assert(
      always(given => {
        const before = structuredClone(given)
        const { policy, state, failure, moment } = given
        assert.deepEqual(decide(policy, state, failure, moment), decide(policy, state, failure, moment))
        assert.deepEqual(given, before)
      }),
      OFTEN,
    )
  })

  it('comes to an end: an operation that always fails makes maxAttempts calls at the most', () => {
    fc.assert(
      fc.property(anyPolicy, fc.array(anyMoment, { minLength: 12, maxLength: 12 }), (policy, moments) => {
        let state: RetryState = { attempt: 1, startedAt: 0, previousDelayMs: policy.initialDelayMs }
        let now = 0
        for (const { roll } of moments) {
          const decision = decide(
            policy,
            state,
            { kind: 'failure', fault: 'transient' },
            { now, roll, expectedCallMs: 0 },
          )
          if (decision.kind === 'give-up') return
          assert.ok(decision.kind === 'retry' && decision.at >= now)
          now = decision.at
          state = decision.state
        }
        assert.fail('it never ended')
      }),
    )
  })

  it('that a wait is too long names the server only where the server asked for it', () => {
    fc.assert(
      always(({ policy, state, failure, moment }) => {
        const decision = decide(policy, state, failure, moment)
        if (decision.kind === 'give-up' && decision.reason === 'retry-after-too-long')
          assert.ok((failure.retryAfterMs ?? 0) > 0)
      }),
      OFTEN,
    )
  })
})

describe('the deadline', () => {
  it('is the earlier of the policy and the caller', () => {
    assert.equal(deadlineOf(DEFAULT_POLICY, { startedAt: 500 }), 30_500)
    assert.equal(deadlineOf(DEFAULT_POLICY, { startedAt: 500, deadlineAt: 400 }), 400)
    assert.equal(deadlineOf(DEFAULT_POLICY, { startedAt: 500, deadlineAt: 99_999 }), 30_500)
  })
})

describe('the share in process', () => {
  it('is the whole policy where it names none', () => {
    assert.equal(inProcessShare(DEFAULT_POLICY), DEFAULT_POLICY)
  })

  it('takes the place of what it names and leaves the rest', () => {
    const whole: RetryPolicy = { ...DEFAULT_POLICY, maxAttempts: 12, inProcess: { maxAttempts: 3 } }
    const { maxAttempts, totalBudgetMs } = inProcessShare(whole)
    assert.deepEqual({ maxAttempts, totalBudgetMs }, { maxAttempts: 3, totalBudgetMs: 30_000 })
  })
})
