import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { DEFAULT_BUDGET } from '../budget/policy.ts'
import { presets } from '../presets/presets.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { decide, type RetryState } from './decide.ts'
import { amplification, explainPolicy, tierAmplification, type Explanation, type Warning } from './explain.ts'
import { checkRetryPolicy, type RetryPolicy, type RetryPolicyInput } from './policy.ts'

function explained(input: unknown): Explanation {
  const explanation = explainPolicy(input)
  assert.ok(explanation.problems === undefined, JSON.stringify(explanation))
  return explanation
}

function warningKinds(input: unknown, level: Warning['level'] = 'warning'): string[] {
  return explained(input)
    .warnings.filter(warning => warning.level === level)
    .map(({ kind }) => kind)
}

describe('an explanation', () => {
  it('of the default policy says what it does in numbers', () => {
    const { sentence: _, amplification: __, warnings: ___, ...numbers } = explained({})
    assert.deepEqual(numbers, {
      maxCalls: 3,
      budgetBound: 1.1,
      retries: [
        { retry: 1, minMs: 0, maxMs: 100, expectedMs: 50 },
        { retry: 2, minMs: 0, maxMs: 200, expectedMs: 100 },
      ],
      totalWait: { shortestMs: 0, longestMs: 300, expectedMs: 150 },
      rideOut: { shortestMs: 0, longestMs: 20_300 },
      latestFinishMs: 30_000,
      deadlineMs: 30_000,
      possibleAttempts: 3,
      certainAttempts: 3,
    })
  })

  it('is a sentence too', () => {
    const says = (input: RetryPolicyInput): string => explained(input).sentence
    const limits = 'at most 10 s long and all within 30 s; then the last error'
    assert.equal(says({}), `3 attempts, each within 100 ms, 200 ms of the one before, ${limits}`)
    assert.equal(
      says({ jitterType: 'NONE', initialDelayMs: 500 }),
      `3 attempts, each 500 ms, 1 s after the one before, ${limits}`,
    )
    assert.equal(
      says({ jitterType: 'EQUAL', initialDelayMs: 3_000 }),
      `3 attempts, each 1.5 s to 3 s, 2.5 s to 5 s after the one before, ${limits}`,
    )
    assert.equal(says({ maxAttempts: 1 }), 'one attempt, at most 10 s long')
    assert.equal(
      explained(presets.service).sentence,
      '50 attempts, each within 1 s, 2 s, 4 s, 8 s, …, 1 h of the one before, at most 15 s long and all within 24 h; then the last error',
    )
  })

  it('counts hedges among the calls', () => {
    assert.equal(explained({ name: 'search', retry: {}, hedge: { maxExtraCalls: 2 } }).maxCalls, 9)
  })

  it('says what a ratio budget holds the load to', () => {
    const bound = (budget: object): number | undefined => explained({ name: 'a', retry: {}, budget }).budgetBound
    assert.equal(explained({ name: 'a', retry: {} }).budgetBound, 1.1)
    assert.equal(bound({ ...DEFAULT_BUDGET, ratio: 0.2 }), 1.2)
    assert.equal(bound({ ...DEFAULT_BUDGET, ratio: 0.2, of: 'attempts' }), 1.25)
    assert.equal(bound({ ...DEFAULT_BUDGET, ratio: 1, of: 'attempts' }), undefined)
    assert.equal(bound({ kind: 'rate', perSecond: 1, burst: 1 }), undefined)
  })

  it("says of a bare policy what the library's own budget holds it to, and nothing where there is nothing to hold", () => {
    assert.equal(explained({}).budgetBound, 1.1)
    assert.equal(explained({ maxAttempts: 1 }).budgetBound, undefined)
    assert.equal(explained({ name: 'a', retry: {}, budget: false }).budgetBound, undefined)
  })

  it('lists twenty retries and sums all of them', () => {
    const { retries, totalWait } = explained({ maxAttempts: 101, backoffType: 'FIXED', jitterType: 'NONE' })
    assert.equal(retries.length, 20)
    assert.equal(totalWait.longestMs, 10_000)
  })

  it('knows the floor: waits below it are it', () => {
    const { retries } = explained({ minDelayMs: 50, maxAttempts: 2 })
    // Half of the draws become 50, the other half is 75 on average.
    assert.ok(Math.abs(retries[0]!.expectedMs - 62.5) < 1)
  })

  it('of a policy that cannot be kept is its problems', () => {
    const { problems } = explainPolicy({ name: 'a', retry: { maxAttempts: 0 }, breaker: { openMs: -1 } })
    assert.deepEqual(
      problems?.map(({ at }) => at),
      ['retry.maxAttempts', 'breaker.openMs'],
    )
  })

  it('is plain data', () => {
    const explanation = explained(presets.webhook)
    assert.deepEqual(JSON.parse(JSON.stringify(explanation)), explanation)
  })
})

describe('a ride-out', () => {
  it('is as long as the waits: the shortest when calls fail at once, the longest when they hang', () => {
    const policy: RetryPolicyInput = { jitterType: 'EQUAL', attemptTimeoutMs: 1_000 }
    assert.deepEqual(explained(policy).rideOut, { shortestMs: 150, longestMs: 300 + 2_000 })
  })

  it('of webhooks is three days, more or less a tenth', () => {
    const { rideOut } = explained(presets.webhook)
    assert.equal(rideOut.shortestMs, 244_894_500)
    assert.equal(rideOut.longestMs, 299_315_500 + 9 * 15_000)
  })

  it('ends where a long wait would first have passed the deadline', () => {
    const policy: RetryPolicyInput = {
      backoffType: 'CUSTOM',
      delaysMs: [200, 2_000],
      jitterType: 'EQUAL',
      totalBudgetMs: 1_500,
    }
    // The second wait is 1000 to 2000 ms: it fits, or the first retry, after 100 to 200 ms, was the last attempt.
    assert.equal(explained(policy).rideOut.shortestMs, 100)
  })

  it('and the waits are what the rule does, whatever the dice', () => {
    const anyPolicy = fc
      .record({
        maxAttempts: fc.integer({ min: 1, max: 8 }),
        initialDelayMs: fc.integer({ min: 0, max: 500 }),
        minDelayMs: fc.constantFrom(0, 20, 300),
        maxDelayMs: fc.integer({ min: 500, max: 3_000 }),
        totalBudgetMs: fc.integer({ min: 1, max: 10_000 }),
        backoffType: fc.constantFrom('EXPONENTIAL', 'LINEAR', 'FIXED', 'FIBONACCI'),
        jitterType: fc.constantFrom('NONE', 'FULL', 'EQUAL', 'DECORRELATED', 'PROPORTIONAL'),
      })
      .map(input => checkRetryPolicy(input).policy!)
    fc.assert(
      fc.property(anyPolicy, fc.integer(), (policy, seed) => {
        const { waits, lastAttemptAt } = simulated(policy, seededRandom(seed))
        const { retries, totalWait, rideOut, possibleAttempts } = explained(policy)
        for (const [index, ms] of waits.entries())
          assert.ok(retries[index]!.minMs <= ms && ms <= retries[index]!.maxMs, `retry ${index + 1}: ${ms}`)
        assert.ok(waits.length + 1 <= possibleAttempts)
        assert.ok(totalWait.shortestMs <= lastAttemptAt && lastAttemptAt <= totalWait.longestMs, `${lastAttemptAt}`)
        assert.ok(rideOut.shortestMs <= lastAttemptAt && lastAttemptAt <= rideOut.longestMs)
      }),
      { numRuns: 500 },
    )
  })

  /** An operation whose calls all fail at once. */
  function simulated(policy: RetryPolicy, random: () => number): { waits: number[]; lastAttemptAt: number } {
    const waits: number[] = []
    let now = 0
    let state: RetryState = { attempt: 1, startedAt: 0, previousDelayMs: policy.initialDelayMs }
    for (;;) {
      const decision = decide(
        policy,
        state,
        { kind: 'failure', fault: 'transient' },
        { now, roll: random(), expectedCallMs: 0 },
      )
      if (decision.kind !== 'retry') return { waits, lastAttemptAt: now }
      waits.push(decision.at - now)
      now = decision.at
      state = decision.state
    }
  }
})

describe('a warning', () => {
  it('is not given to the default, nor to a preset of ours', () => {
    assert.deepEqual(warningKinds({}), [])
    for (const preset of ['userFacing', 'background', 'webhook', 'service'] as const)
      assert.deepEqual(warningKinds(presets[preset]), [], preset)
  })

  it('is given to callers that come back together', () => {
    assert.deepEqual(warningKinds({ jitterType: 'NONE' }), ['no-jitter'])
    assert.deepEqual(warningKinds({ minDelayMs: 5_000 }), ['no-jitter'])
    assert.deepEqual(warningKinds({ initialDelayMs: 0 }), ['no-jitter'])
    assert.deepEqual(warningKinds({ jitterType: 'NONE', maxAttempts: 1 }), [])
    assert.equal(explained({ minDelayMs: 5_000 }).warnings[0]!.at, 'minDelayMs')
    assert.equal(explained({ initialDelayMs: 0 }).warnings[0]!.at, 'initialDelayMs')
  })

  it('is given to attempts that can never happen, and to those that hardly ever do', () => {
    const fixed: RetryPolicyInput = {
      backoffType: 'FIXED',
      jitterType: 'PROPORTIONAL',
      initialDelayMs: 4_000,
      maxAttempts: 10,
    }
    assert.deepEqual(warningKinds(fixed), ['impossible-attempts'])
    assert.equal(explained(fixed).possibleAttempts, 9)
    assert.match(explained(fixed).warnings[0]!.say, /^only 9 attempts/)
    assert.deepEqual(warningKinds({ ...fixed, jitterType: 'FULL', maxAttempts: 20 }), ['unlikely-attempts'])
  })

  it('is given to a time-out that leaves no time for a retry, and a note to one that leaves little', () => {
    assert.deepEqual(warningKinds({ attemptTimeoutMs: 30_000 }), ['long-time-out'])
    assert.deepEqual(warningKinds({ attemptTimeoutMs: 30_000, maxAttempts: 1 }), [])
    assert.deepEqual(warningKinds({ attemptTimeoutMs: 16_000 }, 'note'), ['long-time-out', 'cap-not-reached'])
  })

  it('is given to a pipeline without a budget', () => {
    assert.deepEqual(warningKinds({ name: 'a', retry: {}, budget: false }), ['no-budget'])
  })

  it('is given to a list that the jitter does not use', () => {
    assert.deepEqual(warningKinds({ backoffType: 'CUSTOM', delaysMs: [100], jitterType: 'DECORRELATED' }), [
      'list-not-used',
    ])
  })

  it('is only a note where the cap is never reached', () => {
    assert.deepEqual(warningKinds({}, 'note'), ['cap-not-reached'])
    assert.deepEqual(warningKinds({ maxDelayMs: 200 }, 'note'), [])
    assert.deepEqual(warningKinds({ backoffType: 'FIXED' }, 'note'), [])
  })
})

describe('amplification', () => {
  const calls = (maxAttempts: number, failureRate: number): number => amplification({ maxAttempts, failureRate })

  it('is (1 − f^n) / (1 − f): three retries', () => {
    for (const [failureRate, expected] of [
      [0, 1],
      [0.1, 1.111],
      [0.2, 1.248],
      [0.3, 1.417],
      [0.5, 1.875],
      [1, 4],
    ] as const)
      assert.ok(isNear(calls(4, failureRate), expected))
  })

  it('is exact where almost every call fails', () => {
    // One part in a trillion off all ten thousand: 10 000 − 10 000² / 2 × 10⁻¹².
    assert.ok(isNear(calls(10_000, 1 - 1e-12), 9_999.99995))
    assert.ok(isNear(calls(3, 1 - Number.EPSILON), 3))
  })

  it('is found by counting calls', () => {
    const random = seededRandom(9)
    for (const failureRate of [0.1, 0.3, 0.5, 0.7, 0.9]) {
      let made = 0
      for (let operation = 0; operation < 100_000; operation++)
        for (let attempt = 1; attempt <= 4; attempt++) {
          made++
          if (random() >= failureRate) break
        }
      assert.ok(Math.abs(made / 100_000 / calls(4, failureRate) - 1) < 0.01)
    }
  })

  it('is given at the failure rates that are asked for, with what they leave of the successes', () => {
    const explanation = explainPolicy({ maxAttempts: 4 }, { failureRates: [0.5] })
    assert.ok(explanation.problems === undefined)
    assert.deepEqual(explanation.amplification, [{ failureRate: 0.5, callsPerOperation: 1.875, successRate: 0.9375 }])
  })

  it('of tiers is their product when everything fails', () => {
    assert.equal(tierAmplification([4, 4, 4], 1).worstCase, 64)
    assert.equal(tierAmplification([3, 3, 3, 3, 3], 1).whenLastFails, 243)
    assert.equal(tierAmplification([3, 3, 3], 1).whenEachFails, 27)
    assert.equal(tierAmplification([3, 3, 3, 3], 1).worstCase, 81)
    assert.equal(tierAmplification([3, 2, 1], 1).worstCase, 6)
    assert.equal(tierAmplification([], 1).worstCase, 1)
  })

  it('of tiers telescopes when only the last one fails', () => {
    assert.ok(Math.abs(tierAmplification([3, 3, 3], 0.5).whenLastFails - 2) < 0.02)
    assert.ok(isNear(tierAmplification([4, 4, 4], 0.5).whenLastFails, (1 - 0.5 ** 64) / 0.5))
    assert.ok(isNear(tierAmplification([2, 3], 0.5).whenLastFails, amplifiedBelow([2, 3], 0.5)))
  })

  it('of tiers is the product of theirs when each of them fails', () => {
    assert.equal(tierAmplification([4, 4, 4], 0.5).whenEachFails.toFixed(3), '6.592')
    assert.equal(tierAmplification([4, 4, 4], 0.9).whenEachFails.toFixed(2), '40.67')
    assert.equal(tierAmplification([6, 6, 6, 6], 0.7).whenEachFails.toFixed(2), '74.83')
  })

  it('of any number of tiers stays a number', () => {
    const tiers = Array.from({ length: 200 }, () => 10_000)
    for (const calls of Object.values(tierAmplification(tiers, 1))) assert.ok(Number.isFinite(calls))
    for (const calls of Object.values(tierAmplification(tiers, 0.5))) assert.ok(Number.isFinite(calls))
  })

  /** Tier by tier from below: each retries what the one below has given up. */
  function amplifiedBelow(tiers: readonly number[], failureRate: number): number {
    return tiers.toReversed().reduce(
      ({ calls, failing }, maxAttempts) => ({
        calls: calls * amplification({ maxAttempts, failureRate: failing }),
        failing: failing ** maxAttempts,
      }),
      { calls: 1, failing: failureRate },
    ).calls
  }
})

function isNear(value: number, expected: number): boolean {
  return Math.abs(value - expected) < 1e-9 * expected
}
