import type { RatioBudget } from '../budget/policy.ts'
import { percentileMs, type Latencies } from '../latency/decide.ts'
import type { RetryState } from '../retry/decide.ts'
import type { HedgePolicy } from './policy.ts'

/** An attempt with the company it has had so far. */
export interface HedgedAttempt {
  /** Calls made besides the first. */
  readonly extraCalls: number
  /** When the latest of its calls began. */
  readonly latestAt: number
  /** When the attempt is over, answer or not: at its time-out, or at the deadline. */
  readonly endsAt: number
  /** Why the call must not be made twice; absent when it may. */
  readonly once?: RetryState['once']
  /** A server asked for no more calls: its pushback was `stop`. */
  readonly isStopped?: boolean
  /** A server asked for none before this instant. */
  readonly notBefore?: number
}

/** All of the outside world that the decision may see. */
export interface HedgeMoment {
  readonly now: number
  /** How long a call is left alone, read when the attempt began: company that is on its way is not put off. */
  readonly delayMs: number | undefined
  /** How long the hedge will probably take; 0 when unknown. */
  readonly expectedCallMs: number
  /** The balance of the hedge's own budget. */
  readonly hedgesLeft: number
}

export type HedgeAnswer =
  | { readonly kind: 'yes' }
  | { readonly kind: 'wait'; readonly at: number }
  | { readonly kind: 'no'; readonly reason: NoHedgeReason }

export type NoHedgeReason =
  | NonNullable<RetryState['once']>
  | 'pushback'
  | 'extra-calls'
  | 'samples'
  | 'deadline'
  | 'extra-load'

/** Whether one more call may begin now, or when to ask again. A *no* ends the asking; the calls under way go on. */
export function mayHedge(policy: HedgePolicy, attempt: HedgedAttempt, moment: HedgeMoment): HedgeAnswer {
  if (attempt.once !== undefined) return no(attempt.once)
  if (attempt.isStopped === true) return no('pushback')
  if (attempt.extraCalls >= policy.maxExtraCalls) return no('extra-calls')
  if (moment.delayMs === undefined) return no('samples')

  // Company that cannot be expected to answer in time is load and nothing else.
  const at = Math.max(moment.now, attempt.latestAt + moment.delayMs, attempt.notBefore ?? moment.now)
  if (at + moment.expectedCallMs > attempt.endsAt) return no('deadline')
  if (at > moment.now) return { kind: 'wait', at }
  return moment.hedgesLeft >= 1 ? { kind: 'yes' } : no('extra-load')
}

/** How long a call is left alone before it gets company; undefined while too few successes are known to tell. */
export function hedgeDelayMs(policy: HedgePolicy, latencies: Latencies): number | undefined {
  if (policy.delayMs !== undefined) return policy.delayMs
  const usualMs = percentileMs(latencies, policy.delayPercentile, policy.minSamples)
  return usualMs === undefined ? undefined : Math.max(policy.minDelayMs, Math.ceil(usualMs))
}

/**
 * The hedge's own limit is a budget: calls that are no hedges deposit, hedges withdraw. Without its minimum of one a
 * client that makes fewer than 1 / maxExtraLoad calls in a window would never hedge; with it such a client makes one
 * extra call in each window, which is all that the exception can cost.
 */
export function hedgeBudget({ maxExtraLoad, windowMs }: HedgePolicy): RatioBudget {
  return { kind: 'ratio', ratio: maxExtraLoad, windowMs, minRetries: 1 }
}

function no(reason: NoHedgeReason): HedgeAnswer {
  return { kind: 'no', reason }
}
