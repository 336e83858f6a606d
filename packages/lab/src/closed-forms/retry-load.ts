/** What retries add to a dependency's load, how much it then needs, and how long a backlog takes to go. */
import { amplification, delayRange, explainPolicy, type Problem, type RetryPolicy } from '@secondwind/resilience'

export interface RetryLoadAsk {
  readonly operationsPerSecond: number
  readonly maxAttempts: number
  /** The share of calls that fail, each by itself. */
  readonly failureRate: number
}

export interface RetryLoad {
  readonly callsPerOperation: number
  readonly callsPerSecond: number
  readonly retriesPerSecond: number
  /** The share of operations that succeed in the end. */
  readonly successRate: number
}

/** An operation succeeds by exactly one call, so successes are (1 − f) of the calls, whatever the policy. */
export function retryLoad({ operationsPerSecond, maxAttempts, failureRate }: RetryLoadAsk): RetryLoad {
  const callsPerOperation = amplification({ maxAttempts, failureRate })
  const callsPerSecond = operationsPerSecond * callsPerOperation
  return {
    callsPerOperation,
    callsPerSecond,
    retriesPerSecond: callsPerSecond - operationsPerSecond,
    successRate: (1 - failureRate) * callsPerOperation,
  }
}

/**
 * The load below which a storm cannot keep itself alive: with every call failing, λ × maxAttempts must stay under the
 * capacity (N. Bronson et al., Metastable Failures in Distributed Systems, HotOS 2021).
 */
export function safeOperationsPerSecond(ask: {
  readonly capacityPerSecond: number
  readonly maxAttempts: number
}): number {
  return ask.capacityPerSecond / amplification({ maxAttempts: ask.maxAttempts, failureRate: 1 })
}

export interface PolicyCapacity {
  readonly problems?: undefined
  /** Calls a second that the dependency must bear at the usual failure rate, and when every call fails. */
  readonly usualPerSecond: number
  readonly worstPerSecond: number
  /** Whether it is a ratio budget that holds the worst case, or `maxAttempts` alone. */
  readonly heldBy: 'budget' | 'attempts'
}

/**
 * The capacity that a policy asks of its dependency: the load at each failure rate, held down by a ratio budget where
 * there is one, over the share of the capacity that may be used.
 */
export function capacityFor(
  policy: unknown,
  ask: {
    readonly operationsPerSecond: number
    readonly failureRate: number
    /** The share of the capacity that may be in use; 1 leaves no headroom. */
    readonly utilisation: number
  },
): PolicyCapacity | { readonly problems: readonly Problem[] } {
  const explained = explainPolicy(policy, { failureRates: [ask.failureRate, 1] })
  if (explained.problems !== undefined) return { problems: explained.problems }
  const bound = explained.budgetBound ?? Infinity
  const [usual, worst] = explained.amplification.map(({ callsPerOperation }) => callsPerOperation)
  const capacity = (callsPerOperation: number): number =>
    (ask.operationsPerSecond * Math.min(bound, callsPerOperation)) / ask.utilisation
  return {
    usualPerSecond: capacity(usual!),
    worstPerSecond: capacity(worst!),
    heldBy: bound < worst! ? 'budget' : 'attempts',
  }
}

export interface Backlog {
  /** Calls that wait. */
  readonly calls: number
  readonly arrivalsPerSecond: number
  readonly capacityPerSecond: number
}

/** How long a backlog takes to go: what is left over of the capacity eats it. Undefined if nothing is left over. */
export function drainMs({ calls, arrivalsPerSecond, capacityPerSecond }: Backlog): number | undefined {
  if (calls <= 0) return 0
  const spare = capacityPerSecond - arrivalsPerSecond
  return spare > 0 ? (1_000 * calls) / spare : undefined
}

export interface Burst {
  readonly arrivalsPerSecond: number
  readonly capacityPerSecond: number
  /** Calls a second that come on top, and for how long. */
  readonly extraPerSecond: number
  readonly burstMs: number
}

/** The queue at the end of a burst, and how long it takes to go once the burst is over. */
export function burstBacklog(burst: Burst): { readonly calls: number; readonly drainMs: number | undefined } {
  const { arrivalsPerSecond, capacityPerSecond, extraPerSecond, burstMs } = burst
  const calls = Math.max(0, ((arrivalsPerSecond + extraPerSecond - capacityPerSecond) * burstMs) / 1_000)
  return { calls, drainMs: drainMs({ calls, arrivalsPerSecond, capacityPerSecond }) }
}

/**
 * How long a first-in-first-out dependency that stood still needs until it answers in time again: everybody makes all
 * attempts, during the stall and while the backlog lasts. Undefined when it never recovers. Near
 * `safeOperationsPerSecond` it takes very long.
 */
export function stallRecoveryMs(stall: {
  readonly stallMs: number
  readonly operationsPerSecond: number
  readonly capacityPerSecond: number
  readonly maxAttempts: number
}): number | undefined {
  const { callsPerSecond } = retryLoad({ ...stall, failureRate: 1 })
  const calls = (callsPerSecond * stall.stallMs) / 1_000
  return drainMs({ calls, arrivalsPerSecond: callsPerSecond, capacityPerSecond: stall.capacityPerSecond })
}

/**
 * How fast clients that failed together come back for retry n: spread evenly over the policy's own range of waits.
 * Undefined when the range is a single instant. The one before is taken as the longest, for `DECORRELATED`.
 */
export function herdPerSecond(herd: {
  readonly clients: number
  readonly policy: RetryPolicy
  readonly retry: number
}): number | undefined {
  let range = { minMs: 0, maxMs: herd.policy.initialDelayMs }
  for (let attempt = 1; attempt <= herd.retry; attempt++)
    range = delayRange(herd.policy, { attempt, previousDelayMs: range.maxMs })
  const spreadMs = range.maxMs - range.minMs
  return spreadMs > 0 ? (1_000 * herd.clients) / spreadMs : undefined
}
