import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { presets } from '../presets/presets.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { delayMs, delayRange, plainDelayMs } from './backoff.ts'
import { checkRetryPolicy, DEFAULT_POLICY, type BackoffType, type JitterType, type RetryPolicy } from './policy.ts'

const BACKOFFS: readonly BackoffType[] = ['EXPONENTIAL', 'LINEAR', 'FIXED', 'FIBONACCI', 'CUSTOM']
const JITTERS: readonly JitterType[] = ['NONE', 'FULL', 'EQUAL', 'DECORRELATED', 'PROPORTIONAL']

/** Ten years, the longest wait that a policy takes. */
const LONGEST_MS = 315_576_000_000

const anyMs = fc.oneof(
  fc.integer({ min: 0, max: 100 }),
  fc.integer({ min: 0, max: 100_000 }),
  fc.integer({ min: 0, max: LONGEST_MS }),
)
const anyAttempt = fc.oneof(
  fc.integer({ min: 1, max: 70 }),
  fc.integer({ min: 1, max: 5_000 }),
  fc.integer({ min: 1, max: 1e9 }),
)
const anyRoll = fc.oneof(
  fc.constantFrom(0, 0.5, 1 - Number.EPSILON / 2),
  fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
)

const anyPolicy: fc.Arbitrary<RetryPolicy> = fc
  .record({
    backoffType: fc.constantFrom(...BACKOFFS),
    jitterType: fc.constantFrom(...JITTERS),
    ends: fc.tuple(anyMs, anyMs, anyMs),
    multiplier: fc.oneof(fc.constantFrom(1, 1.5, 2, 1_000), fc.double({ min: 1, max: 1_000, noNaN: true })),
    jitterRatio: fc.oneof(fc.constantFrom(0, 0.1, 1), fc.double({ min: 0, max: 1, noNaN: true })),
    delaysMs: fc.array(anyMs, { minLength: 1, maxLength: 12 }),
  })
  .map(({ backoffType, jitterType, ends, multiplier, jitterRatio, delaysMs }) => {
    const [minDelayMs, initialDelayMs, maxDelayMs] = ends.toSorted((left, right) => left - right) as [
      number,
      number,
      number,
    ]
    const list = backoffType === 'CUSTOM' ? { delaysMs } : {}
    const { policy, problems } = checkRetryPolicy({
      backoffType,
      jitterType,
      minDelayMs,
      initialDelayMs,
      maxDelayMs,
      multiplier,
      jitterRatio,
      ...list,
    })
    assert.deepEqual(problems, undefined)
    return policy
  })

const anyState = fc.record({ attempt: anyAttempt, previousDelayMs: anyMs })

describe('a wait', () => {
  it('is a whole, finite number of milliseconds and never negative, whatever the policy and however many attempts', () => {
    fc.assert(
      fc.property(anyPolicy, anyState, anyRoll, (policy, state, roll) => {
        const ms = delayMs(policy, state, roll)
        assert.ok(Number.isSafeInteger(ms) && ms >= 0, `${ms}`)
      }),
      { numRuns: 2_000 },
    )
  })

  it('lies within its range, and so do both ends of the die', () => {
    fc.assert(
      fc.property(anyPolicy, anyState, anyRoll, (policy, state, roll) => {
        const { minMs, maxMs } = delayRange(policy, state)
        const ms = delayMs(policy, state, roll)
        assert.ok(minMs <= ms && ms <= maxMs, `${ms} is not within ${minMs} to ${maxMs}`)
        assert.equal(delayMs(policy, state, 0), minMs)
        assert.equal(delayMs(policy, state, 1), maxMs)
      }),
      { numRuns: 2_000 },
    )
  })

  it('is not longer than maxDelayMs, which only PROPORTIONAL may pass by its ratio, and not shorter than minDelayMs', () => {
    fc.assert(
      fc.property(anyPolicy, anyState, anyRoll, (policy, state, roll) => {
        const ms = delayMs(policy, state, roll)
        const most = policy.maxDelayMs * (policy.jitterType === 'PROPORTIONAL' ? 1 + policy.jitterRatio : 1)
        assert.ok(ms <= most && ms >= policy.minDelayMs, `${ms}`)
      }),
      { numRuns: 2_000 },
    )
  })

  it('grows with the die', () => {
    fc.assert(
      fc.property(anyPolicy, anyState, anyRoll, anyRoll, (policy, state, one, other) => {
        const [lower, higher] = [Math.min(one, other), Math.max(one, other)]
        assert.ok(delayMs(policy, state, lower) <= delayMs(policy, state, higher))
      }),
    )
  })

  it('can be every whole millisecond of its range, each for an equal part of the die', () => {
    fc.assert(
      fc.property(fc.constantFrom(...JITTERS), fc.integer({ min: 0, max: 50 }), (jitterType, initialDelayMs) => {
        const policy = { ...DEFAULT_POLICY, jitterType, initialDelayMs }
        const state = { attempt: 1, previousDelayMs: initialDelayMs }
        const { minMs, maxMs } = delayRange(policy, state)
        const values = Array.from({ length: maxMs - minMs + 1 }, (_, index) => minMs + index)
        const drawn = values.map((_, index) => delayMs(policy, state, (index + 0.5) / values.length))
        assert.deepEqual(drawn, values)
      }),
    )
  })

  it('has a jitter of at least two milliseconds to choose from, where there is a delay and no floor', () => {
    fc.assert(
      fc.property(anyPolicy, anyState, (policy, state) => {
        const { minMs, maxMs } = delayRange({ ...policy, minDelayMs: 0 }, state)
        // A cap after the draw can leave a single one, when three times the wait before is far above it.
        const capped = policy.jitterType === 'DECORRELATED' && maxMs === policy.maxDelayMs
        if (policy.jitterType !== 'NONE' && maxMs > 0 && !capped) assert.ok(maxMs - minMs >= 1)
      }),
      { numRuns: 1_000 },
    )
  })
})

describe('a curve', () => {
  it('never falls from one retry to the next, but for a list', () => {
    fc.assert(
      fc.property(anyPolicy, anyAttempt, (policy, attempt) => {
        fc.pre(policy.backoffType !== 'CUSTOM')
        assert.ok(plainDelayMs(policy, attempt) <= plainDelayMs(policy, attempt + 1))
        const [here, next] = [attempt, attempt + 1].map(n => delayRange(policy, { attempt: n, previousDelayMs: 0 }))
        assert.ok(here!.maxMs <= next!.maxMs)
      }),
      { numRuns: 1_000 },
    )
  })

  it('is its closed form, capped: EXPONENTIAL with every multiplier', () => {
    fc.assert(
      fc.property(anyPolicy, fc.integer({ min: 1, max: 40 }), (policy, retry) => {
        const closed = policy.initialDelayMs * policy.multiplier ** (retry - 1)
        assert.equal(
          plainDelayMs({ ...policy, backoffType: 'EXPONENTIAL' }, retry),
          Math.min(policy.maxDelayMs, closed),
        )
      }),
    )
  })

  it('is its closed form, capped: LINEAR and FIXED', () => {
    fc.assert(
      fc.property(anyPolicy, anyAttempt, (policy, retry) => {
        const { initialDelayMs, maxDelayMs } = policy
        assert.equal(
          plainDelayMs({ ...policy, backoffType: 'LINEAR' }, retry),
          Math.min(maxDelayMs, initialDelayMs * retry),
        )
        assert.equal(plainDelayMs({ ...policy, backoffType: 'FIXED' }, retry), initialDelayMs)
      }),
    )
  })

  it('is the sum of the two before it, capped: FIBONACCI', () => {
    fc.assert(
      fc.property(anyPolicy, fc.integer({ min: 3, max: 100 }), (policy, retry) => {
        const at = (n: number): number => plainDelayMs({ ...policy, backoffType: 'FIBONACCI' }, n)
        assert.equal(at(retry), Math.min(policy.maxDelayMs, at(retry - 1) + at(retry - 2)))
      }),
    )
  })

  it('is the list, its last entry repeating, capped: CUSTOM', () => {
    fc.assert(
      fc.property(
        anyPolicy,
        fc.array(anyMs, { minLength: 1, maxLength: 12 }),
        anyAttempt,
        (policy, delaysMs, retry) => {
          const listed = delaysMs[retry - 1] ?? delaysMs.at(-1)!
          const custom: RetryPolicy = { ...policy, backoffType: 'CUSTOM', delaysMs }
          assert.equal(plainDelayMs(custom, retry), Math.min(policy.maxDelayMs, listed))
        },
      ),
    )
  })
})

describe('many waits', () => {
  const DRAWS = 100_000

  it('of gRPC lie within a fifth of 0.1, 0.2, 0.4, 0.8 and 1 s, and are that on average', () => {
    const random = seededRandom(17)
    const means = [100, 200, 400, 800, 1_000]
    for (const [index, mean] of means.entries()) {
      const waits = draw(presets.grpc.retry, { attempt: index + 1, previousDelayMs: 100 }, random)
      assert.equal(Math.min(...extremes(waits)), mean * 0.8)
      assert.equal(Math.max(...extremes(waits)), mean * 1.2)
      assert.ok(isNear(average(waits), mean, 0.01))
    }
  })

  it('are half of the delay on average under FULL, and three quarters under EQUAL', () => {
    const random = seededRandom(18)
    const state = { attempt: 4, previousDelayMs: 100 }
    assert.ok(isNear(average(draw(DEFAULT_POLICY, state, random)), 400, 0.01))
    assert.ok(isNear(average(draw({ ...DEFAULT_POLICY, jitterType: 'EQUAL' }, state, random)), 600, 0.01))
  })

  it('grow to 2, 3.5, 5.75 and 9.125 times the first delay on average under DECORRELATED', () => {
    const random = seededRandom(19)
    const policy: RetryPolicy = {
      ...DEFAULT_POLICY,
      initialDelayMs: 1_000,
      maxDelayMs: 1e9,
      jitterType: 'DECORRELATED',
    }
    let waits = Array.from({ length: DRAWS }, () => 1_000)
    for (const factor of [2, 3.5, 5.75, 9.125]) {
      waits = waits.map(previousDelayMs => delayMs(policy, { attempt: 1, previousDelayMs }, random()))
      assert.ok(isNear(average(waits), factor * 1_000, 0.02))
    }
  })

  it('reach the cap under DECORRELATED, for it is cut off after the draw', () => {
    const random = seededRandom(20)
    const policy: RetryPolicy = { ...DEFAULT_POLICY, maxDelayMs: 1_000, jitterType: 'DECORRELATED' }
    const waits = draw(policy, { attempt: 2, previousDelayMs: 1_000 }, random)
    // Of 100 to 3000 all that is not below 1000 becomes the cap.
    assert.ok(isNear(waits.filter(ms => ms === 1_000).length / DRAWS, 2_001 / 2_901, 0.01))
  })

  function draw(
    policy: RetryPolicy,
    state: { attempt: number; previousDelayMs: number },
    random: () => number,
  ): number[] {
    return Array.from({ length: DRAWS }, () => delayMs(policy, state, random()))
  }
})

function extremes(values: readonly number[]): readonly [number, number] {
  return values.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity])
}

function average(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}

function isNear(value: number, expected: number, tolerance: number): boolean {
  return Math.abs(value / expected - 1) <= tolerance
}
