import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { seededRandom } from '../testing/seeded-random.ts'
import { FAULTS, failure, SUCCESS } from '../classify/outcome.ts'
import { admitCall, answerOf, keepBackChance, presentChance, recordAnswer, startThrottle } from './decide.ts'
import { DEFAULT_THROTTLE, withThrottleDefaults, type ThrottlePolicy } from './policy.ts'

const anyPolicy: fc.Arbitrary<ThrottlePolicy> = fc.record({
  acceptMultiplier: fc.constantFrom(1, 1.1, 2, 1_000),
  windowMs: fc.constantFrom(10, 30_000, 120_000),
  minAdmission: fc.constantFrom(0.1, 0.2, 1),
  minRequests: fc.constantFrom(0, 20),
  aggression: fc.constantFrom(1, 2, 100),
})

const anyCount = fc.integer({ min: 0, max: 1e6 })

/** What can happen to a throttle, with the ms that pass before it. */
const anyHistory = fc.array(
  fc.record({
    afterMs: fc.constantFrom(0, 0, 1, 100, 5_000),
    do: fc.constantFrom('ask', 'accepted', 'refused'),
    roll: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
  }),
  { maxLength: 300 },
)

describe('the chance that a call is kept back', () => {
  it('lies between zero and what must be admitted, whatever was counted', () => {
    fc.assert(
      fc.property(anyPolicy, anyCount, anyCount, (policy, requests, accepts) => {
        const chance = keepBackChance(policy, { requests, accepts })
        assert.ok(chance >= 0 && chance <= 1 - policy.minAdmission, `${chance}`)
      }),
    )
  })

  it('is zero when everything is accepted', () => {
    fc.assert(
      fc.property(anyPolicy, anyCount, (policy, requests) => {
        assert.equal(keepBackChance(policy, { requests, accepts: requests }), 0)
      }),
    )
  })

  it('never grows with an acceptance, never falls with a request', () => {
    fc.assert(
      fc.property(anyPolicy, anyCount, anyCount, (policy, requests, accepts) => {
        const chance = keepBackChance(policy, { requests, accepts })
        assert.ok(keepBackChance(policy, { requests, accepts: accepts + 1 }) <= chance)
        assert.ok(keepBackChance(policy, { requests: requests + 1, accepts }) >= chance)
      }),
    )
  })

  it('grows with aggression, unless it is zero', () => {
    const aggressive = withThrottleDefaults({ aggression: 3 })
    const counts = { requests: 100, accepts: 40 }
    assert.ok(keepBackChance(aggressive, counts) > keepBackChance(DEFAULT_THROTTLE, counts))
    assert.equal(keepBackChance(aggressive, { requests: 100, accepts: 50 }), 0)
  })
})

describe('a throttle', () => {
  it('obeys the die, and forgets everything after one window of silence, whatever happened', () => {
    fc.assert(
      fc.property(anyPolicy, anyHistory, (policy, history) => {
        const window = startThrottle(policy, 0)
        let now = 0
        for (const { afterMs, do: verb, roll } of history) {
          now += afterMs
          const chance = presentChance(policy, window, now)
          if (verb === 'ask') assert.equal(admitCall(policy, window, { now, roll }), roll >= chance)
          else recordAnswer(window, verb, now)
        }
        now += policy.windowMs
        assert.equal(presentChance(policy, window, now), 0)
        assert.deepEqual(window.sums, [0, 0, 0])
      }),
      { numRuns: 300 },
    )
  })

  it('keeps nothing back while nothing is refused, however many calls are under way', () => {
    const window = startThrottle(DEFAULT_THROTTLE, 0)
    for (let call = 0; call < 1_000; call++)
      assert.equal(admitCall(DEFAULT_THROTTLE, window, { now: call, roll: 0 }), true)
  })

  it('sends an overloaded dependency twice what it can serve', () => {
    const { sent, accepted } = overload({ offeredPerSecond: 300, capacityPerSecond: 100, seconds: 600 })
    assert.ok(Math.abs(sent / 100 - 2) < 0.04, `${sent} a second are sent`)
    assert.ok(Math.abs(accepted / 100 - 1) < 0.02, `${accepted} a second are accepted`)
  })

  it('sends one call in ten of those that are never accepted', () => {
    const { sent } = overload({ offeredPerSecond: 300, capacityPerSecond: 0, seconds: 600 })
    assert.ok(Math.abs(sent / 30 - 1) < 0.05, `${sent} a second are sent`)
  })
})

interface Overload {
  readonly offeredPerSecond: number
  readonly capacityPerSecond: number
  readonly seconds: number
}

/** Calls a second that were sent and accepted in the second half, when the window is full. */
function overload({ offeredPerSecond, capacityPerSecond, seconds }: Overload): { sent: number; accepted: number } {
  const random = seededRandom(20)
  const window = startThrottle(DEFAULT_THROTTLE, 0)
  const counted = { sent: 0, accepted: 0 }
  for (let second = 0; second < seconds; second++) {
    let served = 0
    for (let call = 0; call < offeredPerSecond; call++) {
      const now = second * 1_000 + (call * 1_000) / offeredPerSecond
      if (!admitCall(DEFAULT_THROTTLE, window, { now, roll: random() })) continue
      const isAccepted = served < capacityPerSecond
      served++
      recordAnswer(window, isAccepted ? 'accepted' : 'refused', now)
      if (second < seconds / 2) continue
      counted.sent++
      counted.accepted += Number(isAccepted)
    }
  }
  return { sent: counted.sent / (seconds / 2), accepted: counted.accepted / (seconds / 2) }
}

describe('what an outcome is to a throttle', () => {
  it('is an acceptance unless it is worth a retry, and nothing when the caller went away', () => {
    const answers = [SUCCESS, ...FAULTS.map(fault => failure(fault))].map(outcome => answerOf(outcome))
    assert.deepEqual(Object.fromEntries(['success', ...FAULTS].map((what, n) => [what, answers[n]])), {
      success: 'accepted',
      transient: 'refused',
      throttled: 'refused',
      ambiguous: 'refused',
      permanent: 'accepted',
      ignored: undefined,
    })
  })
})
