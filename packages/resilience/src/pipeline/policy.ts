import { checkBreaker, withBreakerDefaults, type BreakerInput, type BreakerPolicy } from '../breaker/policy.ts'
import { checkBudget, DEFAULT_BUDGET, type BudgetPolicy } from '../budget/policy.ts'
import { checkBulkhead, withBulkheadDefaults, type BulkheadInput, type BulkheadPolicy } from '../bulkhead/policy.ts'
import {
  checkFields,
  isRecord,
  text,
  withoutUndefined,
  type Fields,
  type Problem,
  type WrongWords,
} from '../check/problems.ts'
import { checkHedge, withHedgeDefaults, type HedgeInput, type HedgePolicy } from '../hedge/policy.ts'
import { checkLimiter, withLimiterDefaults, type LimiterInput, type LimiterPolicy } from '../limiter/policy.ts'
import {
  checkRateLimit,
  withRateLimitDefaults,
  type RateLimitInput,
  type RateLimitPolicy,
} from '../rate-limit/policy.ts'
import { delayRange } from '../retry/backoff.ts'
import { checkRetryPolicy, DEFAULT_POLICY, type RetryPolicy, type RetryPolicyInput } from '../retry/policy.ts'
import { checkThrottle, withThrottleDefaults, type ThrottleInput, type ThrottlePolicy } from '../throttle/policy.ts'

/**
 * Everything that surrounds the calls to one dependency, as plain JSON. A part that is absent does nothing, but for
 * the budget: without `false` there is always one. Time limits live in `retry` only.
 */
export interface PipelinePolicy {
  readonly name: string
  readonly retry: RetryPolicy
  readonly hedge?: HedgePolicy
  /** `false`: none, and nothing but `maxAttempts` limits the retries. */
  readonly budget?: BudgetPolicy | false
  readonly breaker?: BreakerPolicy
  readonly bulkhead?: BulkheadPolicy
  readonly rateLimit?: RateLimitPolicy
  readonly limiter?: LimiterPolicy
  readonly throttle?: ThrottlePolicy
}

/** What users write: of each part they want whatever differs from its defaults. */
export interface PipelinePolicyInput {
  readonly name: string
  readonly retry: RetryPolicyInput
  readonly hedge?: HedgeInput
  readonly budget?: BudgetPolicy | false
  readonly breaker?: BreakerInput
  readonly bulkhead?: BulkheadInput
  readonly rateLimit?: RateLimitInput
  readonly limiter?: LimiterInput
  readonly throttle?: ThrottleInput
}

export type PolicyCheck<Policy = RetryPolicy | PipelinePolicy> =
  | { readonly policy: Policy; readonly problems?: undefined }
  | { readonly policy?: undefined; readonly problems: readonly Problem[] }

/** The type follows what was given; what comes from outside, `unknown` or `any`, may be either. */
export type CheckedPolicy<Input> = unknown extends Input
  ? RetryPolicy | PipelinePolicy
  : Input extends { readonly retry: unknown }
    ? PipelinePolicy
    : Input extends RetryPolicyInput
      ? RetryPolicy
      : RetryPolicy | PipelinePolicy

/**
 * The document with its defaults filled in, or everything that is wrong with it. A bare `RetryPolicy` is read as one
 * and comes back as one.
 */
export function checkPolicy<const Input>(input: Input): PolicyCheck<CheckedPolicy<Input>> {
  const checked: PolicyCheck = isRecord(input) && isPipeline(input) ? checkPipeline(input) : checkRetryPolicy(input)
  return checked as PolicyCheck<CheckedPolicy<Input>>
}

type Parts = Omit<PipelinePolicy, 'name' | 'retry'>

interface Part<Input, Policy> {
  readonly check: (input: unknown, path: string) => Problem[]
  readonly complete: (input: Input) => Policy
}

const PARTS: { readonly [Name in keyof Parts]-?: Part<never, NonNullable<Parts[Name]>> } = {
  hedge: { check: checkHedge, complete: withHedgeDefaults },
  budget: { check: (input, path) => (input === false ? [] : checkBudget(input, path)), complete: input => input },
  breaker: { check: checkBreaker, complete: withBreakerDefaults },
  bulkhead: { check: checkBulkhead, complete: withBulkheadDefaults },
  rateLimit: { check: checkRateLimit, complete: withRateLimitDefaults },
  limiter: { check: checkLimiter, complete: withLimiterDefaults },
  throttle: { check: checkThrottle, complete: withThrottleDefaults },
}

/** A field of the pipeline makes it one: whoever wrote `breaker` and forgot `retry` should hear just that. */
function isPipeline(input: object): boolean {
  return ['name', 'retry', ...Object.keys(PARTS)].some(field => Object.hasOwn(input, field))
}

/** What was made already cannot be a document: the commonest slip of all, and its problems would name odd fields. */
function checkMade(name: string, part: unknown): Problem[] | undefined {
  if (typeof (part as { readonly accompany?: unknown } | null)?.accompany !== 'function') return undefined
  return [{ at: name, is: part, say: 'must be a document; what was made already goes into gates' }]
}

function checkPipeline(input: { readonly [field: string]: unknown }): PolicyCheck<PipelinePolicy> {
  const parts = Object.entries(PARTS).filter(([name]) => input[name] !== undefined)
  const retry = checkRetryPolicy(input['retry'])
  const problems = [
    ...checkFields(input, fields(), wrongWords()),
    ...['name', 'retry']
      .filter(field => input[field] === undefined)
      .map(at => ({ at, is: undefined, say: 'must be given' })),
    ...(input['retry'] === undefined ? [] : (retry.problems ?? []).map(problem => below('retry', problem))),
    ...parts.flatMap(([name, { check }]) => checkMade(name, input[name]) ?? check(input[name], name)),
  ]
  if (retry.policy === undefined || problems.length > 0) return { problems }
  const completed = parts.map(([name, { complete }]) => [name, complete(given(input[name] as object | false) as never)])
  const policy = {
    name: input['name'] as string,
    retry: retry.policy,
    budget: DEFAULT_BUDGET,
    ...Object.fromEntries(completed),
  }
  const contradictions = checkTogether(policy)
  return contradictions.length > 0 ? { problems: contradictions } : { policy }
}

/** The parts look after themselves. */
function fields(): Fields {
  const anything = (): undefined => undefined
  return { name: text(200), retry: anything, ...Object.fromEntries(Object.keys(PARTS).map(part => [part, anything])) }
}

/** What belongs in `retry`, and what other libraries call it. */
function wrongWords(): WrongWords {
  const ofRetry = [...Object.keys(DEFAULT_POLICY), 'policyId', 'delaysMs', 'inProcess']
  const only = '(time limits live in retry only)'
  return {
    ...Object.fromEntries(ofRetry.map(field => [field, `retry.${field}`])),
    attemptTimeoutMs: `retry.attemptTimeoutMs ${only}`,
    totalBudgetMs: `retry.totalBudgetMs ${only}`,
    timeout: `retry.attemptTimeoutMs for one call, or retry.totalBudgetMs for all ${only}`,
    deadline: `retry.totalBudgetMs ${only}`,
    timeoutMs: `retry.attemptTimeoutMs for one call, or retry.totalBudgetMs for all ${only}`,
    signal: 'run(call, { signal })',
    onRetry: 'telemetry, which hears everything',
    circuitBreaker: 'breaker',
    concurrency: 'limiter, or bulkhead for a fixed limit',
  }
}

function below(path: string, { at, is, say }: Problem): Problem {
  return { at: at === '' ? path : `${path}.${at}`, is, say }
}

/** All parts are records; only the budget may be none. */
function given(part: object | false): object | false {
  return part && withoutUndefined(part)
}

/** What each part alone cannot see. */
function checkTogether({ retry, budget, hedge, limiter, bulkhead }: PipelinePolicy): Problem[] {
  const problems: Problem[] = []
  const zero = budget === false ? zeroDelay(retry) : undefined
  if (zero !== undefined) {
    const say = 'is a zero delay, which only a retry budget makes harmless: leave budget out, or give minDelayMs'
    problems.push({ at: `retry.${zero}`, is: retry[zero], say })
  }
  if (limiter && bulkhead && limiter.minLimit > bulkhead.limit) {
    const say = `is never reached: bulkhead.limit is ${bulkhead.limit}`
    problems.push({ at: 'limiter.minLimit', is: limiter.minLimit, say })
  }
  if (hedge?.delayMs !== undefined && hedge.delayMs >= retry.attemptTimeoutMs) {
    const say = `is never reached: retry.attemptTimeoutMs is ${retry.attemptTimeoutMs}`
    problems.push({ at: 'hedge.delayMs', is: hedge.delayMs, say })
  }
  return problems
}

/** The field that lets a retry follow at once, whatever the die says; undefined when none does. */
function zeroDelay(policy: RetryPolicy): 'delaysMs' | 'initialDelayMs' | undefined {
  const { maxAttempts, delaysMs = [], initialDelayMs: previousDelayMs } = policy
  // Of all curves only a list can come back to zero after its first retry.
  const retries = Math.min(maxAttempts - 1, Math.max(1, delaysMs.length))
  for (let attempt = 1; attempt <= retries; attempt++)
    if (delayRange(policy, { attempt, previousDelayMs }).maxMs === 0)
      return policy.jitterType !== 'DECORRELATED' && delaysMs.length > 0 ? 'delaysMs' : 'initialDelayMs'
  return undefined
}
