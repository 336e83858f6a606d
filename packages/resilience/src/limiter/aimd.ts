import type { AimdLimiter, LimiterPolicy } from './policy.ts'
import { isDropped, isHalfUsed, within, type CallSample, type LimitState } from './state.ts'

/** Additive increase, multiplicative decrease, as Netflix's concurrency-limits has it. */
export function aimd(policy: AimdLimiter, state: LimitState, sample: CallSample): void {
  if (isDropped(policy, sample)) shrink(policy, state)
  else if (isHalfUsed(state, sample)) state.limit = within(policy, state.limit + 1)
}

/** Rounded down before and after, so that every drop takes a whole call at least. */
export function shrink(policy: LimiterPolicy, state: LimitState): void {
  state.limit = within(policy, Math.floor(Math.floor(state.limit) * policy.backoffRatio))
}
