import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { FAULTS, failure, SUCCESS } from '../classify/outcome.ts'
import { hasRoom, nextLimit, wholeLimit, wasDropped } from './decide.ts'
import { gradient2 } from './gradient2.ts'
import { DEFAULT_LIMITERS, withLimiterDefaults, type LimiterInput, type LimiterPolicy } from './policy.ts'
import { startLimit, type CallSample, type LimitState } from './state.ts'

const KINDS = ['vegas', 'gradient2', 'aimd'] as const

const anyPolicy: fc.Arbitrary<LimiterPolicy> = fc
  .record({
    kind: fc.constantFrom(...KINDS),
    ends: fc.tuple(
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 300 }),
      fc.integer({ min: 1, max: 300 }),
    ),
    slowCallMs: fc.constantFrom(undefined, 1, 500),
    backoffRatio: fc.constantFrom(0.5, 0.9, 0.999),
    smoothing: fc.constantFrom(0.01, 0.2, 1),
    tolerance: fc.constantFrom(1.01, 1.5),
    longWindowCalls: fc.constantFrom(1, 5, 600),
    probeMultiplier: fc.constantFrom(10, 30),
  })
  .map(({ kind, ends, slowCallMs, ...numbers }) => {
    const [minLimit, initialLimit, maxLimit] = ends.toSorted((left, right) => left - right)
    return withLimiterDefaults({ kind, minLimit, initialLimit, maxLimit, slowCallMs, ...numbers } as LimiterInput)
  })

const anySample: fc.Arbitrary<CallSample> = fc.record(
  {
    // A coarse clock sees nothing pass; one that is set back sees less.
    durationMs: fc.oneof(
      fc.constantFrom(-1, 0, 0.001, 10, 10, 11, 15, 300_000),
      fc.double({ min: 0, max: 1e6, noNaN: true }),
    ),
    inFlight: fc.integer({ min: 1, max: 400 }),
    dropped: fc.boolean(),
    roll: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  },
  { requiredKeys: ['durationMs', 'inFlight', 'dropped'] },
)

const anyHistory = fc.array(anySample, { maxLength: 200 })

describe('a limit, whatever happens', () => {
  it('is finite, and stays between its ends', () => {
    fc.assert(
      fc.property(anyPolicy, anyHistory, (policy, history) => {
        play(policy, history, ({ limit }) => {
          assert.ok(limit >= policy.minLimit && limit <= policy.maxLimit, `${policy.kind}: ${limit}`)
        })
      }),
      { numRuns: 500 },
    )
  })

  it('is never raised by a call that was dropped, and falls by at least one whole call until it is at its least', () => {
    fc.assert(
      fc.property(anyPolicy, anyHistory, (policy, history) => {
        const state = play(policy, history)
        const before = wholeLimit(state)
        const after = nextLimit(policy, state, { durationMs: 1, inFlight: 1, dropped: true })
        assert.ok(after < before || after === policy.minLimit, `${policy.kind}: from ${before} to ${after}`)
      }),
      { numRuns: 500 },
    )
  })

  it('does not grow while less than half of it is in use', () => {
    fc.assert(
      fc.property(anyPolicy, anyHistory, anySample, (policy, history, sample) => {
        const state = play(policy, history)
        fc.pre(state.limit > 2)
        const before = state.limit
        nextLimit(policy, state, { ...sample, inFlight: Math.ceil(before / 2) - 1 })
        assert.ok(state.limit <= before, `${policy.kind}: from ${before} to ${state.limit}`)
      }),
      { numRuns: 500 },
    )
  })

  it('learns from a dropped call only that it was dropped', () => {
    fc.assert(
      fc.property(anyPolicy, anyHistory, fc.constantFrom(0, 1, 1e6), (policy, history, durationMs) => {
        const state = play(policy, history)
        const before = { ...state }
        nextLimit(policy, state, { durationMs, inFlight: 1, dropped: true })
        assert.deepEqual({ ...state, limit: before.limit }, before)
      }),
    )
  })

  it('is found again by a dependency that has recovered', () => {
    fc.assert(
      fc.property(anyPolicy, anyHistory, (policy, history) => {
        fc.pre(policy.slowCallMs !== 1)
        const state = play(policy, history)
        const sample = { durationMs: 100, inFlight: policy.maxLimit, dropped: false }
        // With a smoothing of a hundredth it takes ten times twenty-five calls for one more.
        for (let call = 0; call < 500_000 && wholeLimit(state) < policy.maxLimit - 1; call++)
          nextLimit(policy, state, sample)
        assert.ok(wholeLimit(state) >= policy.maxLimit - 1, `${policy.kind}: ${state.limit} of ${policy.maxLimit}`)
      }),
      { numRuns: 50 },
    )
  })

  it('is plain data, and goes on from a copy as if nothing had happened', () => {
    fc.assert(
      fc.property(anyPolicy, anyHistory, anyHistory, (policy, before, after) => {
        const state = play(policy, before)
        const copy = JSON.parse(JSON.stringify(state)) as LimitState
        assert.deepEqual(play(policy, after, undefined, copy), play(policy, after, undefined, state))
      }),
    )
  })
})

describe('under nothing but time-outs', () => {
  const timedOut: CallSample = { durationMs: 10_000, inFlight: 200, dropped: true }

  it('Gradient2 as published rises to its maximum', () => {
    const policy = DEFAULT_LIMITERS.gradient2
    const state = startLimit(policy)
    for (let call = 0; call < 1_000; call++) gradient2(policy, state, timedOut)
    assert.equal(state.limit, policy.maxLimit)
  })

  it.each(KINDS)('%s with our guards shrinks to one call', kind => {
    const policy = DEFAULT_LIMITERS[kind]
    const state = startLimit(policy)
    for (let call = 0; call < 25; call++) nextLimit(policy, state, timedOut)
    assert.equal(wholeLimit(state), 1)
  })

  it.each(KINDS)('%s shrinks the same if they come as calls that were too long', kind => {
    const policy = withLimiterDefaults({ kind, slowCallMs: 5_000 })
    const state = startLimit(policy)
    for (let call = 0; call < 25; call++) nextLimit(policy, state, { ...timedOut, dropped: false })
    assert.equal(wholeLimit(state), 1)
  })
})

describe('room', () => {
  it('is left while fewer calls are under way than the limit has whole ones', () => {
    const state = { ...startLimit(DEFAULT_LIMITERS.gradient2), limit: 2.9 }
    assert.deepEqual(
      [0, 1, 2, 3].map(inFlight => hasRoom(state, inFlight)),
      [true, true, false, false],
    )
  })

  it('is always left for one: a limit of nothing would never learn', () => {
    const state = { ...startLimit(DEFAULT_LIMITERS.gradient2), limit: 0.4 }
    assert.equal(hasRoom(state, 0), true)
    assert.equal(hasRoom(state, 1), false)
  })
})

function play(
  policy: LimiterPolicy,
  history: readonly CallSample[],
  watch: (state: LimitState) => void = () => {},
  state: LimitState = startLimit(policy),
): LimitState {
  for (const sample of history) {
    assert.equal(nextLimit(policy, state, sample), wholeLimit(state))
    watch(state)
  }
  return state
}

describe('what an outcome is to a limiter', () => {
  it('is a sample when it succeeded, a drop when it was refused or timed out, and else nothing', () => {
    const drops = [SUCCESS, ...FAULTS.map(fault => failure(fault))].map(outcome => wasDropped(outcome))
    assert.deepEqual(Object.fromEntries(['success', ...FAULTS].map((what, n) => [what, drops[n]])), {
      success: false,
      transient: undefined,
      throttled: true,
      ambiguous: true,
      permanent: undefined,
      ignored: undefined,
    })
  })
})
