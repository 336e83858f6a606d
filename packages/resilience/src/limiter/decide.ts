/**
 * The limiter's rule: one of three published algorithms, and guards around it.
 *
 *  1. A dropped call takes a part of the limit, of whatever kind it is. As published, Gradient2 does not look at drops,
 *     and its average gets used to them: under nothing but time-outs it rises to its maximum.
 *  2. A dropped call teaches nothing else: neither a time-out nor a quick refusal says how long an answer takes.
 *  3. A call that took longer than `slowCallMs` is dropped. Whoever knows such a number should give it: the average of
 *     Gradient2 gets used to an overload that lasts, and the limit goes up with it, slowly; this ceiling does not move.
 *  4. Gradient2 adds its queue only while nothing is slow. As published, the limit creeps up under mild overload.
 *  5. Vegas and Gradient2 judge the average of a few calls. Calls differ, and judged one by one the longer half of them
 *     would look like a queue: of a dependency with exponential service times, less than half would be used.
 *  6. While less than half of the limit is in use it does not grow.
 *  7. The limit stays between `minLimit` and `maxLimit`, and the least is one: a limit that can fall no further than
 *     twenty leaves nineteen too many at a dependency that can bear one.
 */
import type { Outcome } from '../classify/outcome.ts'
import { aimd, shrink } from './aimd.ts'
import { gradient2 } from './gradient2.ts'
import type { LimiterPolicy } from './policy.ts'
import { isDropped, type CallSample, type LimitState } from './state.ts'
import { vegas } from './vegas.ts'

/** An attempt ended: the state learns from it, and the limit that holds from now on is returned. */
export function nextLimit(policy: LimiterPolicy, state: LimitState, sample: CallSample): number {
  if (isDropped(policy, sample)) shrink(policy, state)
  else learn(policy, state, sample)
  return wholeLimit(state)
}

/**
 * Whether an attempt counts as dropped; undefined when it is no sample at all. Only a success says how long an answer
 * takes: a connection that is refused, or a request that is found invalid, is over in no time, and compared with it
 * everything else would look slow.
 */
export function wasDropped(outcome: Outcome): boolean | undefined {
  if (outcome.kind === 'success') return false
  return outcome.fault === 'throttled' || outcome.fault === 'ambiguous' ? true : undefined
}

/** Whether one more call may start beside those under way. */
export function hasRoom(state: LimitState, inFlight: number): boolean {
  return inFlight < wholeLimit(state)
}

/** The limit as it is kept: a part of a call cannot be sent, and none at all would never learn. */
export function wholeLimit({ limit }: LimitState): number {
  return Math.max(1, Math.floor(limit))
}

/** Ten, as Netflix's windows have at least; or as many as may be under way, so that a small limit grows as quickly. */
const AVERAGED_CALLS = 10

function learn(policy: LimiterPolicy, state: LimitState, sample: CallSample): void {
  if (policy.kind === 'aimd') return aimd(policy, state, sample)
  state.calls++
  state.totalMs += sample.durationMs
  if (state.calls < Math.min(AVERAGED_CALLS, wholeLimit(state))) return
  const average = { ...sample, durationMs: state.totalMs / state.calls }
  state.calls = 0
  state.totalMs = 0
  if (policy.kind === 'vegas') vegas(policy, state, average)
  else gradient2(policy, state, average, 0)
}
