import { withoutUndefined } from '../check/problems.ts'
import type { Failure, Outcome } from '../classify/outcome.ts'
import { delayMs } from './backoff.ts'
import { curveDelayMs, type Curve } from './curves.ts'
import type { RetryPolicy } from './policy.ts'

/** Why an operation ended without success: one closed list, on every result, event, span, metric and row. */
export type GiveUpReason = (typeof GIVE_UP_REASONS)[number]

export const GIVE_UP_REASONS = [
  'permanent',
  'not-idempotent',
  'not-replayable',
  'attempts',
  'deadline',
  'retry-after-too-long',
  'budget',
  'breaker-open',
  'throttled',
  'nested',
  'killed',
  'aborted',
  'shutdown',
  'body-missing',
  'lost',
  'handed-over',
] as const

/** What must be remembered between attempts; small enough for a row. */
export interface RetryState {
  /** The attempt under way or just ended; the first is 1. */
  readonly attempt: number
  /** When the first attempt began, on the clock that `Moment.now` is read from. */
  readonly startedAt: number
  /** Our own last wait; `initialDelayMs` before the first. */
  readonly previousDelayMs: number
  /** Why the call must not be made twice; absent when it may. */
  readonly once?: 'not-idempotent' | 'not-replayable' | undefined
  /** A deadline from outside; the earlier of the two counts. */
  readonly deadlineAt?: number | undefined
}

/** All of the outside world that a decision may see. */
export interface Moment {
  readonly now: number
  /** A die: uniform in [0, 1). */
  readonly roll: number
  /** How long the next call will probably take; 0 when unknown. */
  readonly expectedCallMs: number
}

export type Decision =
  | { readonly kind: 'done' }
  | { readonly kind: 'retry'; readonly at: number; readonly state: RetryState }
  | { readonly kind: 'give-up'; readonly reason: GiveUpReason }

/** A hint is a minimum; up to a fifth is added so that those who got it together do not come back together. */
const RETRY_AFTER_SPREAD = 0.2

/**
 * What follows an attempt: nothing, another one at a given instant, or the end and its reason. A `curve` stands in for
 * the policy's own where the waits are a function.
 */
export function decide(
  policy: RetryPolicy,
  state: RetryState,
  outcome: Outcome,
  moment: Moment,
  curve?: Curve,
): Decision {
  if (outcome.kind === 'success') return { kind: 'done' }
  if (!isRetryable(outcome)) return giveUp('permanent')
  // A body that cannot be made again may have been read, even if nothing was sent.
  if (state.once !== undefined && (!outcome.unsent || state.once === 'not-replayable')) return giveUp(state.once)
  if (state.attempt >= policy.maxAttempts) return giveUp('attempts')

  // A server that names a wait is never hurried, only kept waiting longer.
  const ownWaitMs = curve ? curveDelayMs(curve, policy, state, moment.roll) : delayMs(policy, state, moment.roll)
  const askedWaitMs = spreadRetryAfterMs(outcome.retryAfterMs, moment.roll)
  const at = moment.now + Math.max(ownWaitMs, askedWaitMs)
  if (at + moment.expectedCallMs > deadlineOf(policy, state))
    return giveUp(askedWaitMs > ownWaitMs ? 'retry-after-too-long' : 'deadline')
  return { kind: 'retry', at, state: { ...state, attempt: state.attempt + 1, previousDelayMs: ownWaitMs } }
}

/** When to come back, for one of many who were asked to wait as long, as the die says. */
export function spreadRetryAfterMs(retryAfterMs: number | undefined, roll: number): number {
  const askedMs = Math.max(0, retryAfterMs || 0)
  return Math.ceil(askedMs + askedMs * RETRY_AFTER_SPREAD * (roll || 0))
}

/** What is to be remembered of an operation whose first attempt began at `startedAt`. */
export function firstState(
  policy: RetryPolicy,
  { startedAt, deadlineAt }: Pick<RetryState, 'startedAt' | 'deadlineAt'>,
  once?: RetryState['once'],
): RetryState {
  const state = { attempt: 1, startedAt, previousDelayMs: policy.initialDelayMs }
  // Kept only if it is the earlier one: a hundred thousand of these may be waiting.
  const isOwn = deadlineAt === undefined || deadlineAt >= startedAt + policy.totalBudgetMs
  return once === undefined && isOwn ? state : { ...state, once, deadlineAt }
}

/** The instant after which nothing may run, on the clock of `state.startedAt`. */
export function deadlineOf(policy: RetryPolicy, state: Pick<RetryState, 'startedAt' | 'deadlineAt'>): number {
  return Math.min(state.startedAt + policy.totalBudgetMs, state.deadlineAt ?? Infinity)
}

/** The policy as it holds in process: its share of the whole, where it names one. */
export function inProcessShare(policy: RetryPolicy): RetryPolicy {
  return policy.inProcess === undefined ? policy : { ...policy, ...withoutUndefined(policy.inProcess) }
}

/** Whether the same call may come out well another time. */
export function isRetryable(outcome: Outcome): outcome is Failure {
  return outcome.kind === 'failure' && outcome.fault !== 'permanent' && outcome.fault !== 'ignored'
}

function giveUp(reason: GiveUpReason): Decision {
  return { kind: 'give-up', reason }
}
