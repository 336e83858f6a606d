import type { Outcome } from '../classify/outcome.ts'
import { count, emptyWindow, forgetOld, type WindowCounts } from '../window/decide.ts'
import type { ThrottlePolicy } from './policy.ts'

const REQUESTS = 0
const ACCEPTS = 1
const REFUSALS = 2

/** What a throttle remembers: changed in place, for it is written at every call. */
export function startThrottle({ windowMs }: ThrottlePolicy, now: number): WindowCounts {
  return emptyWindow(windowMs, 3, now)
}

/** Whether a call is sent. It counts as a request before it is, and also if it is kept back. */
export function admitCall(
  policy: ThrottlePolicy,
  window: WindowCounts,
  { now, roll }: { readonly now: number; readonly roll: number },
): boolean {
  const isSent = roll >= presentChance(policy, window, now)
  count(window, REQUESTS, now)
  return isSent
}

/** A call that was sent has ended. Every answer that is no sign of overload is an acceptance, a 404 too. */
export function recordAnswer(window: WindowCounts, answer: 'accepted' | 'refused', now: number): void {
  count(window, answer === 'accepted' ? ACCEPTS : REFUSALS, now)
}

/**
 * What an attempt's outcome is to a throttle; undefined when it says nothing, as an abort does. A dependency that is
 * down or answers 503 has not accepted the call, whether or not it says that this is for its load.
 */
export function answerOf(outcome: Outcome): 'accepted' | 'refused' | undefined {
  if (outcome.kind === 'success' || outcome.fault === 'permanent') return 'accepted'
  return outcome.fault === 'ignored' ? undefined : 'refused'
}

/** The chance that the next call is kept back. */
export function presentChance(policy: ThrottlePolicy, window: WindowCounts, now: number): number {
  forgetOld(window, now)
  const [requests, accepts, refusals] = window.sums as [number, number, number]
  // Calls under way are requests already, and not yet accepted: without a refusal that is no bad sign, only a burst.
  return refusals === 0 || requests < policy.minRequests ? 0 : keepBackChance(policy, { requests, accepts })
}

/** The bare formula. */
export function keepBackChance(
  { acceptMultiplier, aggression, minAdmission }: ThrottlePolicy,
  { requests, accepts }: { readonly requests: number; readonly accepts: number },
): number {
  const excess = Math.max(0, (requests - acceptMultiplier * accepts) / (requests + 1))
  return Math.min(1 - minAdmission, excess ** (1 / aggression))
}
