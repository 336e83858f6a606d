/**
 * A lane's rule: whether work that waits for one destination may start, how much of it, and if not, why and until when.
 *
 *  1. Gates are pure functions of what is remembered. Time alone opens them: no timer runs.
 *  2. Credit (`credit.ts`) says how many attempts of each kind may start before the destination answers.
 *  3. A hold that the destination asked for shuts the whole lane; so does an order of an operator.
 *  4. The order of the gates: operators' orders, hold, limit, rate, credit, budget. An attempt that one of them refuses
 *     has paid nothing to another.
 *  5. An attempt that is asked for by hand waits for no credit and no budget: one at a time is sent without.
 *
 * The state is plain data, changed in place: it is written at every attempt.
 */
import type { Outcome } from '../classify/outcome.ts'
import { expectedCallMs, recordLatency } from '../latency/decide.ts'
import { nextLimit, wasDropped } from '../limiter/decide.ts'
import { answer, giveBack, hasFailed, isAnswer, noAnswer, passOver, phaseOf, takesBack, type Moment } from './credit.ts'
import { budgetBalance, creditFor, kindHolds, limitAt, noRoom, noToken, wholeTokens, type KindHolds } from './gates.ts'
import type { LaneHold } from './hold.ts'
import type { PerKind, StartKind } from './kind.ts'
import { shutBy } from './orders.ts'
import { endByHand, pay, payBack, type Payment } from './payment.ts'
import type { LanePolicy } from './policy.ts'
import type { LaneState } from './state.ts'

export type { LaneHold, LaneHoldReason } from './hold.ts'
export { budgetBalance, kindHolds, lanePhase, limitAt, shutGates, type KindHolds, type LanePhase } from './gates.ts'
export type { Payment } from './payment.ts'
export { isAtRest, newLane, type LaneState } from './state.ts'

/** An attempt that was allowed, and is about to start. */
export interface Start {
  readonly kind: StartKind
  /** Somebody asked for this very attempt: it passes a pause, and waits for no credit. */
  readonly isByHand?: boolean
  /** Requests that are under way now. */
  readonly underWay: number
  /** The limit that was in force when it was allowed. */
  readonly allowedUnder: number
}

/** What may start now. */
export interface Allowance extends PerKind<number> {
  /** Of all kinds together. */
  readonly total: number
  /** So many more of what was asked for by hand, whatever its kind. */
  readonly byHand: number
  /** Why nothing may start, but perhaps what was asked for by hand. */
  readonly hold?: LaneHold
  /** While the lane is paused: why not even what was asked for by hand may start. */
  readonly byHandHold?: LaneHold
  /** Why none of a kind may start, while others may. */
  readonly kindHolds: KindHolds
}

/** How an attempt went. */
export interface EndedCall {
  readonly outcome: Outcome
  /** Of the response; absent when there was none. */
  readonly status?: number | undefined
  readonly durationMs: number
  /** Requests of the lane that were under way when it began, itself included. */
  readonly inFlight: number
  /** The service itself cut it off when it stopped: it has its credit back. A task that its owner cancels has not. */
  readonly isCutOff?: boolean
  /** A die in [0, 1). */
  readonly roll: number
}

export interface Ended {
  /** What would have to be remembered at once has changed: the breaker opened or closed, or there is a new hold. */
  readonly isChanged: boolean
  /** The first answer after a silence: tasks that failed meanwhile are worth another attempt now. */
  readonly isBack: boolean
}

/** What may start beside those that are under way. */
export function allowance(policy: LanePolicy, state: LaneState, now: number, underWay: number): Allowance {
  const shut = shutBy(policy.orders, now)
  if (shut === undefined) return allowanceByRules(policy, state, now, underWay)
  if (shut.reason === 'kill-switch') return none(shut)
  const { total, hold } = allowanceByRules(policy, state, now, underWay)
  return { ...none(shut), total, byHand: total, ...(hold !== undefined && { byHandHold: hold }) }
}

function allowanceByRules(policy: LanePolicy, state: LaneState, now: number, underWay: number): Allowance {
  if (policy.orders?.forced === 'open') return none({ reason: 'breaker-open' })
  if (now < state.heldUntil) return none({ reason: 'retry-after', until: state.heldUntil })
  const room = limitAt(policy, state, now) - underWay
  if (room <= 0) return none(noRoom(policy, state, now, underWay))
  const total = Math.min(room, wholeTokens(policy, state, now))
  if (total <= 0) return none(noToken(policy, state))
  const retries = Math.floor(budgetBalance(policy, state, now))
  const most = (kind: StartKind, budget: number): number =>
    Math.max(0, Math.min(total, creditFor(policy, state, kind, now), budget))
  const kinds = { first: most('first', Infinity), retry: most('retry', retries), late: most('late', retries) }
  const byHand = Math.min(total, state.freeByHand === 0 ? 1 : 0)
  const isAllOpen = kinds.first > 0 && kinds.retry > 0 && kinds.late > 0
  return { total, ...kinds, byHand, kindHolds: isAllOpen ? NO_HOLDS : kindHolds(policy, state, now) }
}

/** One attempt starts, and is paid for; undefined when a gate has shut since it was allowed. */
export function start(policy: LanePolicy, state: LaneState, wish: Start, moment: Moment): Payment | undefined {
  const { kind, isByHand = false, underWay, allowedUnder } = wish
  const { now } = moment
  const shut = shutBy(policy.orders, now)
  if (shut !== undefined && !(shut.reason === 'paused' && isByHand)) return undefined
  if (policy.orders?.forced === 'open' || now < state.heldUntil) return undefined
  // What was allowed beside others, before the pause, is not the one that passes it: somebody may still be under way.
  if (underWay >= limitAt(policy, state, now) || (shut !== undefined && allowedUnder > 1)) return undefined
  if (wholeTokens(policy, state, now) < 1) return undefined
  const hasCredit = creditFor(policy, state, kind, now) >= 1
  const hasBudget = kind === 'first' || isByHand || budgetBalance(policy, state, now) >= 1
  const mayBeFree = isByHand && state.freeByHand === 0
  if (!hasBudget || !(hasCredit || mayBeFree)) return undefined
  state.latestAt = now
  const free = policy.orders?.forced === 'closed' ? 'order' : hasCredit ? undefined : 'hand'
  return pay(policy, state, { kind, isByHand, free }, moment)
}

/** An attempt ended. */
export function end(policy: LanePolicy, state: LaneState, payment: Payment, call: EndedCall, now: number): Ended {
  const wasOpen = phaseOf(policy.credit, state.credit) === 'open'
  const { outcome, status, durationMs, isCutOff = false } = call
  state.latestAt = now
  endByHand(state, payment.spent)
  if (isCutOff) giveBack(state.credit, payment.spent)
  const isBack = isAnswer(outcome, status) && answer(policy.credit, state.credit, payment.spent, now)
  if (hasFailed(outcome, status)) noAnswer(state.credit, now)
  if (outcome.kind === 'success') recordLatency(state.latencies, durationMs)
  learn(policy, state, call)
  const isHeld = holdFor(state, outcome, now)
  const isOpen = phaseOf(policy.credit, state.credit) === 'open'
  return { isChanged: isHeld || isOpen !== wasOpen, isBack }
}

/** An attempt that was allowed is not made after all: it says nothing, and costs nothing. */
export function abandon(policy: LanePolicy, state: LaneState, payment: Payment, now: number): void {
  payBack(policy, state, payment, now)
}

/** Whether the next attempt of a kind is a probe that takes the task that became due last. */
export function takesLast({ orders }: LanePolicy, { credit }: LaneState, kind: StartKind): boolean {
  return orders?.forced !== 'closed' && takesBack(credit.purses[kind])
}

/** The task that a probe was to take cannot end in time: the next one comes from the other end of the queue. */
export function takeOtherEnd({ credit }: LaneState, kind: StartKind): void {
  passOver(credit.purses[kind])
}

/** How long the next call will probably take; 0 when too little is known. */
export function expectedMs({ latencies }: LaneState): number {
  return expectedCallMs(latencies)
}

/** One in so long is tried all the same: the usual call may have become shorter, and only an answer would say so. */
const DOUBTED_EVERY_MS = 10_000

/** A call takes a little longer than usual where a destination has just come back. */
const LIKELY_LONGER = 1.2

/**
 * Whether an attempt would be cut off by its deadline. Each would take credit and bring no answer, and while credit is
 * short they would be all that is sent: they stand at the front of the queue. Where credit is not short it may be tried.
 * Asked once for each attempt: the state remembers when one was tried all the same.
 */
export function isHopeless(policy: LanePolicy, state: LaneState, expiresAt: number, now: number): boolean {
  if (now >= expiresAt) return true
  const isShort = policy.orders?.forced !== 'closed' && phaseOf(policy.credit, state.credit) !== 'closed'
  if (!isShort || now + LIKELY_LONGER * expectedMs(state) < expiresAt) return false
  if (now < state.doubtedAt + DOUBTED_EVERY_MS) return true
  state.doubtedAt = now
  return false
}

const NO_HOLDS: KindHolds = {}

function none(hold: LaneHold): Allowance {
  return { total: 0, first: 0, retry: 0, late: 0, byHand: 0, hold, kindHolds: NO_HOLDS }
}

function learn(policy: LanePolicy, { learned }: LaneState, call: EndedCall): void {
  const dropped = wasDropped(call.outcome)
  if (policy.limiter === undefined || learned === undefined || dropped === undefined) return
  nextLimit(policy.limiter, learned, { ...call, dropped })
}

/** A task waits as long as it was asked to; its whole lane waits no longer, for one answer may be wrong for all others. */
export const LONGEST_HOLD_MS = 300_000

/**
 * For a 429 that names no wait. In the lab a destination that serves 50/s, and is sent 100/s, has all tasks after 126 s and
 * 0.1 failed attempts a task; without this hold after 575 s and 3.4.
 */
const SHORT_HOLD_MS = 100

function holdFor(state: LaneState, outcome: Outcome, now: number): boolean {
  if (outcome.kind === 'success' || outcome.fault !== 'throttled') return false
  const until = now + Math.min(LONGEST_HOLD_MS, Math.ceil(outcome.retryAfterMs ?? SHORT_HOLD_MS))
  if (until <= state.heldUntil) return false
  state.heldUntil = until
  return true
}
