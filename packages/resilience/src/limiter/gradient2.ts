import type { Gradient2Limiter } from './policy.ts'
import { isHalfUsed, measuredMs, within, type CallSample, type LimitState } from './state.ts'

/**
 * Gradient2, as Netflix's concurrency-limits has it: the limit follows the ratio of a long average to the latest call,
 * and has room for a small queue on top. It does not look at `dropped`. `queueWhenSlow` is what is added while the
 * ratio is below one.
 */
export function gradient2(
  policy: Gradient2Limiter,
  state: LimitState,
  sample: CallSample,
  queueWhenSlow: number = policy.queueSize,
): void {
  const durationMs = measuredMs(sample)
  const ratio = averageMs(policy, state, durationMs) / durationMs
  // After a long overload the average is far too high, and would take hundreds of calls to come down.
  if (ratio > 2 && state.samples === WARM_UP_CALLS) state.baseMs *= 0.95
  if (!isHalfUsed(state, sample)) return
  const gradient = Math.max(0.5, Math.min(1, policy.tolerance * ratio))
  const wanted = gradient * state.limit + (gradient < 1 ? queueWhenSlow : policy.queueSize)
  state.limit = within(policy, state.limit + policy.smoothing * (wanted - state.limit))
}

/** So many calls weigh the same: of a moving average alone, the first call would be most for long. */
const WARM_UP_CALLS = 10

function averageMs({ longWindowCalls }: Gradient2Limiter, state: LimitState, durationMs: number): number {
  const weight = state.samples < WARM_UP_CALLS ? 1 / ++state.samples : 2 / (longWindowCalls + 1)
  state.baseMs += weight * (durationMs - state.baseMs)
  return state.baseMs
}
