import { milliseconds, numberBetween, sayProblems, wholeNumber, type FieldCheck } from '../check/problems.ts'
import type { CompiledPolicy } from '../retry/compile.ts'
import { DEFAULT_POLICY, type RetryPolicy } from '../retry/policy.ts'
import { RetryEngineError } from './errors.ts'

/** The four numbers of an engine. */
export interface EngineConfiguration {
  /** Calls after the first. */
  readonly maxRetries: number
  readonly initialDelayMs: number
  readonly backoffMultiplier: number
  /** Caps the delay before jitter; an `initialDelayMs` above it is capped like any other. */
  readonly maxDelayMs: number
}

/** Until `configure` is called, what `retry` does by default. */
export const DEFAULT_CONFIGURATION: EngineConfiguration = {
  maxRetries: DEFAULT_POLICY.maxAttempts - 1,
  initialDelayMs: DEFAULT_POLICY.initialDelayMs,
  backoffMultiplier: DEFAULT_POLICY.multiplier,
  maxDelayMs: DEFAULT_POLICY.maxDelayMs,
}

/** Throws everything that is wrong with these values at once. */
export function refuseBadNumbers<Checks extends { readonly [field: string]: FieldCheck }>(
  checks: Checks,
  values: { readonly [Field in keyof Checks]: unknown },
): void {
  const problems = Object.entries(checks).flatMap(([at, check]) => {
    const is = values[at]
    const wanted = check(is)
    return wanted === undefined ? [] : [{ at, is, say: `must be ${wanted}` }]
  })
  if (problems.length > 0)
    throw new RetryEngineError('invalid-configuration', `the engine cannot do that:${sayProblems(problems)}`)
}

export const CONFIGURATION_CHECKS: { readonly [Field in keyof EngineConfiguration]: FieldCheck } = {
  maxRetries: wholeNumber(0, 9_999),
  initialDelayMs: milliseconds(),
  backoffMultiplier: numberBetween(1, 1_000),
  maxDelayMs: milliseconds(),
}

/** As a policy that only its attempts bring to an end: what is infinite here no document could say. */
export function compileConfiguration(configuration: EngineConfiguration): CompiledPolicy {
  const { maxRetries, initialDelayMs, backoffMultiplier, maxDelayMs } = configuration
  const policy: RetryPolicy = {
    ...DEFAULT_POLICY,
    maxAttempts: 1 + maxRetries,
    backoffType: 'EXPONENTIAL',
    initialDelayMs,
    multiplier: backoffMultiplier,
    minDelayMs: 0,
    maxDelayMs,
    jitterType: 'PROPORTIONAL',
    jitterRatio: 0.1,
    totalBudgetMs: Infinity,
    attemptTimeoutMs: Infinity,
  }
  return { document: policy, policy }
}
