import { checkFields, isRecord, milliseconds, numberBetween, type Fields, type Problem } from '../check/problems.ts'
import { checkSamples, sampleFields, withSampleDefaults, type SamplePolicy } from '../latency/policy.ts'

/**
 * How long an attempt may take, learned from those that succeeded: a call that takes twice as long as nearly all others
 * is better given up than waited for. It only ever shortens `attemptTimeoutMs`. An option of a pipeline in code, for the
 * time limits of the document live in its `retry` alone.
 */
export interface AdaptiveTimeoutPolicy extends SamplePolicy {
  /** So many times the percentile. */
  readonly multiplier: number
  /** So many in a hundred of the recent successes took no longer. */
  readonly percentile: number
  /** The time-out is never shorter, unless `attemptTimeoutMs` is. */
  readonly minMs: number
}

/** Twice the p99 of the last thousand successes, and at least 100 ms. */
export const DEFAULT_ADAPTIVE_TIMEOUT: AdaptiveTimeoutPolicy = {
  multiplier: 2, // once is normal for one call in a hundred; twice is not
  percentile: 99, // above it single calls speak, below it usual ones would be cut off
  minMs: 100, // a pause of the garbage collector or a lost packet is no failure
  sampleCalls: 1_000, // ten calls lie above their p99: one of them alone does not move it
  minSamples: 100, // the p99 of fewer is their maximum
}

/** `true`: as it stands. */
export type AdaptiveTimeoutInput = true | Partial<AdaptiveTimeoutPolicy>

export function withAdaptiveTimeoutDefaults(input: AdaptiveTimeoutInput): AdaptiveTimeoutPolicy {
  return withSampleDefaults(DEFAULT_ADAPTIVE_TIMEOUT, input === true ? {} : input)
}

/** All problems of an adaptive time-out. */
export function checkAdaptiveTimeout(input: unknown, path = ''): Problem[] {
  if (input === true) return []
  if (!isRecord(input)) return [{ at: path, is: input, say: 'must be true, or an object with what differs' }]
  const at = path && `${path}.`
  const problems = checkFields(input, fields(), WRONG_WORDS, at)
  return problems.length > 0 ? problems : checkSamples(withAdaptiveTimeoutDefaults(input), at)
}

/** Made when an option is checked: whoever lives with the defaults need not carry it. */
function fields(): Fields {
  return {
    // Below 1 it would cut off calls that are known to succeed.
    multiplier: numberBetween(1, 100),
    percentile: numberBetween(1, 99.99),
    minMs: milliseconds(1),
    ...sampleFields(),
  }
}

/** What belongs in `retry`, and what other libraries call it. */
const WRONG_WORDS = {
  maxMs: 'retry.attemptTimeoutMs, which it never exceeds',
  attemptTimeoutMs: 'retry.attemptTimeoutMs, which it never exceeds',
  quantile: 'percentile (100 × quantile)',
  factor: 'multiplier',
  window: 'sampleCalls',
}
