import { percentileMs, type Latencies } from '../latency/decide.ts'
import type { AdaptiveTimeoutPolicy } from './policy.ts'

/** What limits an attempt besides the recent successes. */
export interface TimeoutLimits {
  /** The policy's own, which is never exceeded and stands alone while too few successes are known. */
  readonly attemptTimeoutMs: number
  /** Attempts that this time-out has ended since the last success. */
  readonly timeoutsInARow: number
}

/**
 * How long the next attempt may take. Only successes are learned from, and a time-out leaves none: a dependency that
 * has become three times slower would be cut off for ever. So each time-out in a row doubles the next, as TCP does with
 * its own (RFC 6298 §5.5); the first success is then a sample, and takes the doubling back.
 */
export function adaptiveTimeoutMs(policy: AdaptiveTimeoutPolicy, latencies: Latencies, limits: TimeoutLimits): number {
  const usualMs = percentileMs(latencies, policy.percentile, policy.minSamples)
  if (usualMs === undefined) return limits.attemptTimeoutMs
  const ms = Math.max(policy.minMs, Math.ceil(policy.multiplier * usualMs))
  return Math.min(limits.attemptTimeoutMs, ms * 2 ** limits.timeoutsInARow)
}
