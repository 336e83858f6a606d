import {
  checkFields,
  isRecord,
  withoutUndefined,
  milliseconds,
  numberBetween,
  oneOf,
  wholeNumber,
  type Fields,
  type Problem,
} from '../check/problems.ts'

/** When to stop calling a dependency that fails, and how to find out that it is back. Plain JSON. */
export interface BreakerPolicy {
  /** What is judged: the last `windowMs`, the last `windowCalls`, or failures in a row. */
  readonly window: 'time' | 'count' | 'consecutive'
  readonly windowMs: number
  readonly windowCalls: number
  /** Opens when failures, as a share of the calls in the window, reach it. */
  readonly failureRate: number
  /** Below so many calls nothing is judged: one failed call never opens a breaker. */
  readonly minCalls: number
  /** Failures in a row that open it; for `consecutive`. */
  readonly consecutiveFailures: number
  /** A call that took longer counts as slow; absent: none does. */
  readonly slowCallMs?: number
  /** Opens when slow calls, as a share, reach it. */
  readonly slowCallRate: number
  readonly openMs: number
  /** Each opening without a recovery in between lasts so many times longer, up to `maxOpenMs`. */
  readonly openMultiplier: number
  readonly maxOpenMs: number
  /** Calls let through to find out whether the dependency is back; judged together by the same rates. */
  readonly probes: number
  /** A probe that has not ended by then no longer counts, and another may go. */
  readonly probeTimeoutMs: number
  /** One event for each whole operation, or for each attempt. */
  readonly record: 'operation' | 'attempt'
}

export const DEFAULT_BREAKER: BreakerPolicy = {
  window: 'time',
  windowMs: 60_000, // a minute: an outage, not a hiccup
  windowCalls: 100,
  failureRate: 0.5, // below that, retries still do more good than harm
  minCalls: 20, // fewer say nothing about the dependency
  consecutiveFailures: 10,
  slowCallRate: 1,
  openMs: 30_000, // time for a restart
  openMultiplier: 1,
  maxOpenMs: 600_000,
  probes: 5, // one success may be luck
  probeTimeoutMs: 30_000, // a probe that hangs must not keep the breaker half-open
  record: 'operation', // three failed attempts of one operation are one failure
}

export type BreakerInput = Partial<BreakerPolicy>

export function withBreakerDefaults(input: BreakerInput): BreakerPolicy {
  const policy = { ...DEFAULT_BREAKER, ...withoutUndefined(input) }
  if (input.maxOpenMs === undefined) policy.maxOpenMs = Math.max(policy.maxOpenMs, policy.openMs)
  if (policy.window === 'count' && input.minCalls === undefined)
    policy.minCalls = Math.min(policy.minCalls, policy.windowCalls)
  return policy
}

/** All problems of a breaker's document. */
export function checkBreaker(input: unknown, path = ''): Problem[] {
  if (!isRecord(input))
    return [{ at: path, is: input, say: 'must be an object with the fields of a breaker; {} has its defaults' }]
  const at = path && `${path}.`
  const problems = checkFields(input, FIELDS, { threshold: 'failureRate or consecutiveFailures' }, at)
  if (problems.length > 0) return problems
  const policy = withBreakerDefaults(input)
  if (policy.window === 'count' && policy.minCalls > policy.windowCalls)
    problems.push({
      at: `${at}minCalls`,
      is: policy.minCalls,
      say: `is never reached: windowCalls is ${policy.windowCalls}`,
    })
  if (policy.maxOpenMs < policy.openMs)
    problems.push({ at: `${at}maxOpenMs`, is: policy.maxOpenMs, say: `must not be less than openMs, ${policy.openMs}` })
  return problems
}

const FIELDS: Fields = {
  window: oneOf('time', 'count', 'consecutive'),
  windowMs: milliseconds(10),
  windowCalls: wholeNumber(1, 10_000),
  failureRate: numberBetween(0.001, 1),
  minCalls: wholeNumber(2, 1e9),
  consecutiveFailures: wholeNumber(1, 1e6),
  slowCallMs: milliseconds(1),
  slowCallRate: numberBetween(0.001, 1),
  openMs: milliseconds(1),
  openMultiplier: numberBetween(1, 100),
  maxOpenMs: milliseconds(1),
  probes: wholeNumber(1, 1_000),
  probeTimeoutMs: milliseconds(1),
  record: oneOf('operation', 'attempt'),
}
