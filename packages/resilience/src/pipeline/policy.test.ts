import assert from 'node:assert/strict'
import { describe, expectTypeOf, it } from 'vitest'
import { DEFAULT_BREAKER } from '../breaker/policy.ts'
import { DEFAULT_BUDGET } from '../budget/policy.ts'
import { DEFAULT_BULKHEAD } from '../bulkhead/policy.ts'
import { DEFAULT_HEDGE } from '../hedge/policy.ts'
import { DEFAULT_LIMITERS } from '../limiter/policy.ts'
import { presets } from '../presets/presets.ts'
import { DEFAULT_RATE_LIMIT } from '../rate-limit/policy.ts'
import { DEFAULT_POLICY, type RetryPolicy, type RetryPolicyInput } from '../retry/policy.ts'
import { DEFAULT_THROTTLE } from '../throttle/policy.ts'
import { checkPolicy, type PipelinePolicy, type PipelinePolicyInput, type PolicyCheck } from './policy.ts'

function problemsOf(input: unknown): { readonly [at: string]: string } {
  return Object.fromEntries((checkPolicy(input).problems ?? []).map(({ at, say }) => [at, say]))
}

describe('a policy', () => {
  it('without a field of a pipeline is a bare retry policy, and comes back as one', () => {
    assert.deepEqual(checkPolicy({}).policy, DEFAULT_POLICY)
    assert.deepEqual(checkPolicy({ maxAttempts: 5 }).policy, { ...DEFAULT_POLICY, maxAttempts: 5 })
    assert.deepEqual(Object.keys(problemsOf({ maxAtempts: 5 })), ['maxAtempts'])
  })

  it('with a retry field is a pipeline, and comes back with its defaults: always a budget, otherwise what was asked for', () => {
    assert.deepEqual(checkPolicy({ name: 'search', retry: {} }).policy, {
      name: 'search',
      retry: DEFAULT_POLICY,
      budget: DEFAULT_BUDGET,
    })
  })

  it('has each of its parts completed', () => {
    const input: PipelinePolicyInput = {
      name: 'payments',
      retry: { maxAttempts: 2 },
      hedge: { maxExtraCalls: 2 },
      budget: { kind: 'rate', perSecond: 100, burst: 200 },
      breaker: { openMs: 5_000 },
      bulkhead: { maxWaitMs: 50 },
      rateLimit: { perSecond: 10 },
      limiter: { kind: 'aimd' },
      throttle: { acceptMultiplier: 1.5 },
    }
    assert.deepEqual(checkPolicy(input).policy, {
      name: 'payments',
      retry: { ...DEFAULT_POLICY, maxAttempts: 2 },
      hedge: { ...DEFAULT_HEDGE, maxExtraCalls: 2 },
      budget: { kind: 'rate', perSecond: 100, burst: 200 },
      breaker: { ...DEFAULT_BREAKER, openMs: 5_000 },
      bulkhead: { ...DEFAULT_BULKHEAD, maxWaitMs: 50 },
      rateLimit: { ...DEFAULT_RATE_LIMIT, perSecond: 10, burst: 10 },
      limiter: DEFAULT_LIMITERS.aimd,
      throttle: { ...DEFAULT_THROTTLE, acceptMultiplier: 1.5 },
    })
  })

  it('that was checked is found right again, and unchanged', () => {
    const { policy } = checkPolicy({
      name: 'a',
      retry: {},
      breaker: {},
      limiter: { kind: 'vegas' },
      rateLimit: { perSecond: 0.5 },
    })
    assert.deepEqual(checkPolicy(policy).policy, policy)
    assert.deepEqual(JSON.parse(JSON.stringify(policy)), policy)
  })

  it('takes a field that is undefined for one that is not given', () => {
    const input = {
      name: 'a',
      retry: { maxAttempts: undefined },
      breaker: { openMs: undefined },
      hedge: undefined,
    } as never
    assert.deepEqual(checkPolicy(input).policy, {
      name: 'a',
      retry: DEFAULT_POLICY,
      budget: DEFAULT_BUDGET,
      breaker: DEFAULT_BREAKER,
    })
  })

  it('can do without a budget, when it says so', () => {
    assert.equal(checkPolicy({ name: 'a', retry: {}, budget: false }).policy?.budget, false)
  })
})

describe('the problems of a pipeline', () => {
  it('are reported all at once, each with its path', () => {
    const found = problemsOf({
      name: '',
      retry: { maxAttempts: 0, initialDelay: 100 },
      hedge: { delayPercentile: 100 },
      budget: { kind: 'ratio', ratio: 0.1 },
      breaker: { openMs: -1, failureRate: 50 },
      bulkhead: { limit: 0 },
      rateLimit: {},
      limiter: { kind: 'aimd', backoffRatio: 2 },
      throttle: { k: 2 },
      cache: {},
    })
    assert.deepEqual(Object.keys(found).toSorted(), [
      'breaker.failureRate',
      'breaker.openMs',
      'budget.minRetries',
      'budget.windowMs',
      'bulkhead.limit',
      'cache',
      'hedge.delayPercentile',
      'limiter.backoffRatio',
      'name',
      'rateLimit.perSecond',
      'retry.initialDelay',
      'retry.maxAttempts',
      'throttle.k',
    ])
  })

  it('say what is missing', () => {
    assert.deepEqual(problemsOf({ breaker: {} }), { name: 'must be given', retry: 'must be given' })
    assert.deepEqual(problemsOf({ name: 'a', retry: null }), { retry: 'must be an object with the fields of a policy' })
    assert.deepEqual(problemsOf({ name: 'a', retry: {}, breaker: true }), {
      breaker: 'must be an object with the fields of a breaker; {} has its defaults',
    })
  })

  it('say that time limits live in retry only', () => {
    const limits = { attemptTimeoutMs: 100, totalBudgetMs: 100, timeout: 100, deadline: 100 }
    const found = problemsOf({ name: 'a', retry: {}, ...limits })
    assert.deepEqual(Object.keys(found), Object.keys(limits))
    for (const say of Object.values(found)) assert.match(say, /retry\.\w+ .*time limits live in retry only/)
    assert.match(found['attemptTimeoutMs']!, /retry\.attemptTimeoutMs /)
  })

  it('say where the fields of a retry policy belong, and what others call the parts', () => {
    const found = problemsOf({
      name: 'a',
      retry: {},
      maxAttempts: 3,
      jitterType: 'FULL',
      delaysMs: [1],
      circuitBreaker: {},
    })
    assert.match(found['maxAttempts']!, /retry\.maxAttempts/)
    assert.match(found['jitterType']!, /retry\.jitterType/)
    assert.match(found['delaysMs']!, /retry\.delaysMs/)
    assert.match(found['circuitBreaker']!, /breaker/)
  })

  it('say that a document must be an object', () => {
    for (const input of [undefined, null, 3, 'policy', []]) assert.deepEqual(Object.keys(problemsOf(input)), [''])
  })

  it('are found between the parts: a hedge that comes after the time-out', () => {
    const hedged = (delayMs: number): unknown => ({ name: 'a', retry: { attemptTimeoutMs: 500 }, hedge: { delayMs } })
    assert.deepEqual(problemsOf(hedged(500)), { 'hedge.delayMs': 'is never reached: retry.attemptTimeoutMs is 500' })
    assert.deepEqual(problemsOf(hedged(499)), {})
  })
})

describe('a zero delay', () => {
  const zero = (retry: RetryPolicyInput, budget?: false): string[] =>
    Object.keys(problemsOf({ name: 'a', retry, ...(budget === false ? { budget } : {}) }))

  it('is refused without a retry budget', () => {
    assert.deepEqual(zero({ initialDelayMs: 0 }, false), ['retry.initialDelayMs'])
    assert.deepEqual(zero({ maxDelayMs: 0 }, false), ['retry.initialDelayMs'])
    assert.deepEqual(zero({ initialDelayMs: 0, jitterType: 'DECORRELATED' }, false), ['retry.initialDelayMs'])
    assert.deepEqual(zero({ backoffType: 'CUSTOM', delaysMs: [100, 0] }, false), ['retry.delaysMs'])
  })

  it('is allowed with one', () => {
    assert.deepEqual(zero({ initialDelayMs: 0 }), [])
    assert.deepEqual(zero({ backoffType: 'CUSTOM', delaysMs: [0] }), [])
  })

  it('is none where minDelayMs lifts it, where no retry meets it, and where jitter merely can draw it', () => {
    assert.deepEqual(zero({ initialDelayMs: 0, minDelayMs: 10 }, false), [])
    assert.deepEqual(zero({ initialDelayMs: 0, maxAttempts: 1 }, false), [])
    assert.deepEqual(zero({ backoffType: 'CUSTOM', delaysMs: [100, 100, 0], maxAttempts: 3 }, false), [])
    assert.deepEqual(zero({ initialDelayMs: 1 }, false), [])
  })
})

describe('the type of a checked policy', () => {
  it('is that of what was given', () => {
    const bare: RetryPolicy | undefined = checkPolicy({ maxAttempts: 3 }).policy
    const whole: PipelinePolicy | undefined = checkPolicy({ name: 'a', retry: {} }).policy
    // @ts-expect-error -- a bare policy has no name
    assert.equal(bare?.name, undefined)
    assert.equal(whole?.name, 'a')
    expectTypeOf(checkPolicy(DEFAULT_POLICY)).toEqualTypeOf<PolicyCheck<RetryPolicy>>()
    expectTypeOf(checkPolicy(presets.webhook)).toEqualTypeOf<PolicyCheck<PipelinePolicy>>()
  })

  it('is either where nobody knows what was given', () => {
    const anybodysGuess: unknown = {}
    expectTypeOf(checkPolicy(anybodysGuess)).toEqualTypeOf<PolicyCheck>()
    expectTypeOf(checkPolicy(JSON.parse('{}'))).toEqualTypeOf<PolicyCheck>()
    assert.deepEqual(checkPolicy(JSON.parse('{}')).policy, DEFAULT_POLICY)
  })

  it('leaves no doubt whether it was right', () => {
    const checked = checkPolicy({ name: 'a', retry: {} })
    assert.ok(checked.problems === undefined)
    const { name }: PipelinePolicy = checked.policy
    assert.equal(name, 'a')
  })
})
