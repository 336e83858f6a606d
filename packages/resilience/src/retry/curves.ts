import type { DelayState } from './backoff.ts'
import type { RetryPolicy } from './policy.ts'

/** What a curve may depend on: nothing that is shared, so that concurrent operations cannot disturb each other. */
export interface CurveAsk {
  /** Attempts made so far; the wait before the first retry follows attempt 1. */
  readonly attempt: number
  /** The wait before this one; `initialDelayMs` when there was none. */
  readonly previousDelayMs: number
  /** A die: uniform in [0, 1). */
  readonly roll: number
}

/** A wait in ms as a function, for what no `backoffType` says. Functions are no JSON: an option, not a policy. */
export type Curve = (ask: CurveAsk) => number

/** What a curve answers, kept within the policy that it serves: whole, finite, between its floor and its cap. */
export function curveDelayMs(
  curve: Curve,
  policy: Pick<RetryPolicy, 'minDelayMs' | 'maxDelayMs'>,
  { attempt, previousDelayMs }: DelayState,
  roll: number,
): number {
  const delay = curve({ attempt, previousDelayMs, roll })
  // An answer that is no number must not become "at once": the longest wait is the one that does no harm.
  const capped =
    typeof delay !== 'number' || Number.isNaN(delay) ? policy.maxDelayMs : Math.min(policy.maxDelayMs, delay)
  return Math.max(policy.minDelayMs, 0, Math.round(capped))
}

/**
 * Polly's second decorrelated jitter: the differences of g(t) = 2^t × tanh(√4t) at t = n + uniform(0, 1), a smooth
 * spread without the peaks of other jitters. The waits are about 0.9, 1.1, 2, 4, 8, 16 … times `initialDelayMs` in
 * the middle, each anywhere between almost nothing and two of the next.
 *
 * Polly remembers the draw before; here both ends of the difference are drawn anew, so that nothing but the attempt
 * has to be known. Each wait is distributed as it is there; only their sum is spread a little wider.
 */
export function decorrelatedV2(initialDelayMs: number): Curve {
  return ({ attempt, roll }) => {
    const n = Math.min(attempt - 1, LAST_STEP)
    const [here, before] = twoDraws(roll)
    const growth = n === 0 ? growthAt(here) : growthAt(n + here) - growthAt(n - 1 + before)
    return (growth * initialDelayMs) / SCALE
  }
}

/** So that the first waits lie around `initialDelayMs`. */
const SCALE = 1.4
const STEEPNESS = 4

/** From here on the curve is flat, millions of years up: 2^1024 would be no number any more. */
const LAST_STEP = 60

function growthAt(t: number): number {
  return 2 ** t * Math.tanh(Math.sqrt(STEEPNESS * t))
}

/** Two independent numbers out of one: its upper digits, and its lower ones. */
function twoDraws(roll: number): readonly [number, number] {
  const upper = Math.floor(roll * HALF_OF_THE_BITS)
  return [upper / HALF_OF_THE_BITS, roll * HALF_OF_THE_BITS - upper]
}

/** 2 ** 26: a double holds 53 bits. */
const HALF_OF_THE_BITS = 67_108_864
