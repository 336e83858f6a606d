/**
 * A lane's rule: whether work that waits for one destination may start, how much of it, and if not, why and until when.
 *
 *  1. Gates are two numbers, pure functions of what is remembered: `opensAt`, before which nothing starts, and `limitAt`,
 *     above which nothing is added. Time alone opens them: no timer runs, and nobody has to notice.
 *  2. Who comes back comes back slowly: after an opening of the breaker and after a hold the limit grows again from one.
 *  3. While the breaker is half-open one request at a time is sent, and so is what is asked for by hand during a pause.
 *     It is not asked of the budget, which a destination that was gone for hours could not pay.
 *  4. The order of the gates: operators' orders, breaker and hold, limit, rate, budget. Whoever is refused by one has
 *     paid nothing to another.
 *
 * The state is plain data, changed in place: it is written at every attempt.
 */
import {
  closedBreaker,
  mayStart,
  phaseOf,
  record,
  resultOf,
  type BreakerState,
  type Permit,
} from '../breaker/decide.ts'
import { BUDGET_RULES, ratioBalance } from '../budget/decide.ts'
import type { RatioBudget } from '../budget/policy.ts'
import type { Outcome } from '../classify/outcome.ts'
import { expectedCallMs, noLatencies, recordLatency, type Latencies } from '../latency/decide.ts'
import { nextLimit, wasDropped, wholeLimit } from '../limiter/decide.ts'
import { startLimit, type LimitState } from '../limiter/state.ts'
import { nextTokenAt } from '../rate-limit/decide.ts'
import { refill, type Tokens } from '../tokens/decide.ts'
import { sliceEnds, sumsAt, type WindowCounts } from '../window/decide.ts'
import type { LaneHold } from './hold.ts'
import { everyShut, limitByOrders, reachesByOrders, shutBy } from './orders.ts'
import { pay, payBack, type Payment } from './payment.ts'
import type { LanePolicy } from './policy.ts'
import { rampLimit, rampReaches } from './ramp.ts'

export type { LaneHold, LaneHoldReason } from './hold.ts'

export interface LaneState {
  readonly breaker: BreakerState
  readonly budget: WindowCounts | Tokens
  readonly bucket: Tokens | undefined
  readonly learned: LimitState | undefined
  readonly latencies: Latencies
  /** The destination asked to be left alone until then. */
  heldUntil: number
  /** The limit grows from one since then. */
  rampSince: number
  /** From then on the budget has its floor: whoever took a lane over does not know what was spent before. */
  floorSince: number
  /** When an attempt last began or ended. */
  latestAt: number
}

/** Work that was never tried, or was. */
export type StartKind = 'first' | 'retry'

/** An attempt that was allowed, and is about to start. */
export interface Start {
  readonly kind: StartKind
  /** Somebody asked for this very attempt: it passes a pause. */
  readonly isByHand?: boolean
  /** Requests that are under way now. */
  readonly underWay: number
  /** The limit that was in force when it was allowed. */
  readonly allowedUnder: number
}

/** What may start now. */
export interface Allowance {
  /** Of both kinds together. */
  readonly total: number
  readonly first: number
  readonly retry: number
  /** Only while the lane is paused: of what is asked for by hand, and why not. */
  readonly byHand?: Pick<Allowance, 'total' | 'hold'>
  /** Why nothing may start. */
  readonly hold?: LaneHold
  /** Why no retry may, while first attempts flow. */
  readonly retryHold?: LaneHold
}

/** Leave to start. */
interface LanePermit extends Permit {
  readonly payment: Payment
}

/** How an attempt went. */
export interface EndedCall {
  readonly outcome: Outcome
  readonly durationMs: number
  /** Requests of the lane that were under way when it began, itself included. */
  readonly inFlight: number
  /** A die in [0, 1). */
  readonly roll: number
}

/** Instants are in ms since the epoch: this one is over in every ramp and hold. */
const LONG_AGO = 0

/** The latest successes of a lane, for the expected duration of the next call. */
const KEPT_LATENCIES = 64

/** A lane that nobody has ever served: it owes nothing, and has all that its policy gives. */
export function newLane(policy: LanePolicy, now: number): LaneState {
  return {
    breaker: { ...closedBreaker(policy.breaker, now), forced: policy.orders?.forced ?? null },
    budget: BUDGET_RULES[policy.budget.kind].start(policy.budget, now) as WindowCounts | Tokens,
    bucket: policy.rateLimit && { tokens: policy.rateLimit.burst, countedAt: now },
    learned: policy.limiter && startLimit(policy.limiter),
    latencies: noLatencies(KEPT_LATENCIES),
    heldUntil: LONG_AGO,
    rampSince: LONG_AGO,
    floorSince: LONG_AGO,
    latestAt: now,
  }
}

/** Nothing starts before. */
export function opensAt({ breaker, heldUntil }: LaneState): number {
  return Math.max(heldUntil, breaker.phase.kind === 'open' ? breaker.phase.until : LONG_AGO)
}

/** So many may be under way at once. */
export function limitAt(policy: LanePolicy, state: LaneState, now: number): number {
  if (phaseOf(state.breaker, now) === 'half-open') return 1
  return Math.min(limitByOrders(policy.orders, steadyLimit(policy, state), now), rampLimit(state.rampSince, now))
}

/** What may start beside those that are under way. */
export function allowance(policy: LanePolicy, state: LaneState, now: number, underWay: number): Allowance {
  const shut = shutBy(policy.orders, now)
  if (shut === undefined) return allowanceByRules(policy, state, now, underWay)
  if (shut.reason === 'kill-switch') return none(shut)
  const { total, hold } = allowanceByRules(policy, state, now, underWay)
  return { ...none(shut), total, byHand: { total, ...(hold !== undefined && { hold }) } }
}

function allowanceByRules(policy: LanePolicy, state: LaneState, now: number, underWay: number): Allowance {
  if (state.breaker.forced === 'open') return none({ reason: 'breaker-open' })
  const opens = opensAt(state)
  if (now < opens) return none({ reason: state.heldUntil === opens ? 'retry-after' : 'breaker-open', until: opens })
  const room = limitAt(policy, state, now) - underWay
  if (room <= 0) return none(noRoom(policy, state, now, underWay))
  const total = Math.min(room, wholeTokens(policy, state, now))
  if (total <= 0) return none(noToken(policy, state))
  if (phaseOf(state.breaker, now) === 'half-open') return { total, first: total, retry: total }
  const retry = Math.max(0, Math.min(total, Math.floor(budgetBalance(policy, state, now))))
  if (retry > 0) return { total, first: total, retry }
  return { total, first: total, retry, retryHold: shutForRetries(policy, state, now)! }
}

/** Every gate that is shut now, in their order: behind the one that is named first, others may wait. */
export function shutGates(policy: LanePolicy, state: LaneState, now: number, underWay: number): LaneHold[] {
  const { breaker, heldUntil } = state
  const holds: LaneHold[] = everyShut(policy.orders ?? {}, now)
  const phase = phaseOf(breaker, now)
  if (phase === 'forced-open') holds.push({ reason: 'breaker-open' })
  if (breaker.phase.kind === 'open' && phase === 'open')
    holds.push({ reason: 'breaker-open', until: breaker.phase.until })
  if (now < heldUntil) holds.push({ reason: 'retry-after', until: heldUntil })
  if (underWay >= limitAt(policy, state, now)) holds.push(noRoom(policy, state, now, underWay))
  if (wholeTokens(policy, state, now) < 1) holds.push(noToken(policy, state))
  return holds
}

/** Besides, while retries cannot be paid for. */
export function shutForRetries(policy: LanePolicy, state: LaneState, now: number): LaneHold | undefined {
  if (phaseOf(state.breaker, now) === 'half-open' || budgetBalance(policy, state, now) >= 1) return undefined
  const until = budgetOpensAt(policy, state, now)
  return { reason: 'budget', ...(until !== undefined && { until }) }
}

/** One attempt starts, and is paid for; undefined when a gate has shut since it was allowed. */
export function start(policy: LanePolicy, state: LaneState, wish: Start, now: number): LanePermit | undefined {
  const { kind, underWay, allowedUnder } = wish
  const limit = limitAt(policy, state, now)
  const shut = shutBy(policy.orders, now)
  if (shut !== undefined && !(shut.reason === 'paused' && wish.isByHand)) return undefined
  const isProbe = shut !== undefined || phaseOf(state.breaker, now) === 'half-open'
  // What was allowed beside others, before the breaker opened, is no probe: somebody may still be under way.
  if (now < state.heldUntil || underWay >= limit || (isProbe && allowedUnder > 1)) return undefined
  const isPaidFor = kind === 'first' || isProbe || budgetBalance(policy, state, now) >= 1
  if (wholeTokens(policy, state, now) < 1 || !isPaidFor) return undefined
  const answer = mayStart(policy.breaker, state.breaker, now)
  if (answer.kind === 'no') return undefined
  state.latestAt = now
  return { ...answer.permit, payment: pay(policy, state, { kind, isProbe }, now) }
}

/** An attempt ended. True when what would have to be remembered has changed: the phase, or a hold. */
export function end(policy: LanePolicy, state: LaneState, permit: Permit, call: EndedCall, now: number): boolean {
  const { breaker } = state
  const { generation } = breaker
  const { outcome, durationMs } = call
  state.latestAt = now
  record(policy.breaker, breaker, permit, resultOf(policy.breaker, outcome, durationMs), now)
  if (breaker.generation !== generation && breaker.phase.kind === 'closed') state.rampSince = now
  if (outcome.kind === 'success') recordLatency(state.latencies, durationMs)
  learn(policy, state, call)
  return holdFor(state, outcome, now) || breaker.generation !== generation
}

/** An attempt that was allowed is not made after all: it says nothing, costs nothing, and a probe's place is free again. */
export function abandon(policy: LanePolicy, state: LaneState, permit: LanePermit, now: number): void {
  record(policy.breaker, state.breaker, permit, 'ignored', now)
  payBack(policy, state, permit.payment, now)
}

/** Retries that may start now, whatever the other gates say. */
export function budgetBalance(policy: LanePolicy, state: LaneState, now: number): number {
  const { budget } = policy
  const known = budget.kind === 'rate' ? budget : ratioAt(budget, state, now)
  const balance = BUDGET_RULES[budget.kind].balance(known, state.budget, now)
  const whole = Math.round(balance)
  return Math.abs(whole - balance) <= EPSILON ? whole : balance
}

/** How long the next call will probably take; 0 when too little is known. */
export function expectedMs({ latencies }: LaneState): number {
  return expectedCallMs(latencies)
}

/** Whether a new lane would be served in the same way: nobody need keep this one. */
export function isAtRest(policy: LanePolicy, state: LaneState, now: number): boolean {
  const { budget, breaker } = policy
  const memoryMs = Math.max(breaker.windowMs, budget.kind === 'ratio' ? budget.windowMs : 0)
  const isOpen = now >= opensAt(state) && state.breaker.phase.kind === 'closed'
  return isOpen && now >= state.latestAt + memoryMs && rampLimit(state.rampSince, now) >= policy.limit
}

function steadyLimit(policy: LanePolicy, { learned }: LaneState): number {
  return learned === undefined ? policy.limit : Math.min(policy.limit, wholeLimit(learned))
}

function none(hold: LaneHold): Allowance {
  return { total: 0, first: 0, retry: 0, hold }
}

function noRoom(policy: LanePolicy, state: LaneState, now: number, underWay: number): LaneHold {
  const isPaused = shutBy(policy.orders, now) !== undefined
  if (isPaused || phaseOf(state.breaker, now) === 'half-open') return { reason: 'probing' }
  if (underWay >= steadyLimit(policy, state)) return { reason: 'concurrency' }
  const more = underWay + 1
  const reachesAt = reachesByOrders(policy.orders, more, steadyLimit(policy, state), now)
  return { reason: 'slow-start', until: Math.max(reachesAt, rampReaches(more, state.rampSince)) }
}

function noToken({ rateLimit }: LanePolicy, { bucket }: LaneState): LaneHold {
  return { reason: 'rate-limited', until: nextTokenAt(rateLimit!, bucket!) }
}

/** A token's worth of refill is seldom exactly one. */
const EPSILON = 1e-9

function wholeTokens({ rateLimit }: LanePolicy, { bucket }: LaneState, now: number): number {
  if (rateLimit === undefined || bucket === undefined) return Infinity
  refill(rateLimit, bucket, now)
  return Math.floor(bucket.tokens + EPSILON)
}

/** Until then it is not known what was spent before: as much as could be, so that both together spend no more. */
function ratioAt(budget: RatioBudget, { floorSince }: LaneState, now: number): RatioBudget {
  if (now >= floorSince) return budget
  return { ...budget, minRetries: 0, minCalls: 0, reserve: -(budget.minRetries + (budget.reserve ?? 0)) }
}

/** When a retry can be paid for, if nothing starts until then; first attempts may open it earlier. */
function budgetOpensAt({ budget }: LanePolicy, state: LaneState, now: number): number | undefined {
  if (budget.kind === 'rate') return nextTokenAt(budget, state.budget as Tokens)
  const window = state.budget as WindowCounts
  const changes = [...sliceEnds(window), state.floorSince]
    .filter(at => at > now)
    .toSorted((left, right) => left - right)
  return changes.find(at => ratioBalance(ratioAt(budget, state, at), sumsAt(window, at)) >= 1)
}

function learn(policy: LanePolicy, { learned }: LaneState, call: EndedCall): void {
  const dropped = wasDropped(call.outcome)
  if (policy.limiter === undefined || learned === undefined || dropped === undefined) return
  nextLimit(policy.limiter, learned, { ...call, dropped })
}

/** A task waits as long as it was asked to; its whole lane waits no longer, for one answer may be wrong for all others. */
export const LONGEST_HOLD_MS = 300_000

function holdFor(state: LaneState, outcome: Outcome, now: number): boolean {
  if (outcome.kind === 'success' || outcome.fault !== 'throttled' || !outcome.retryAfterMs) return false
  const until = now + Math.min(LONGEST_HOLD_MS, Math.ceil(outcome.retryAfterMs))
  if (until <= state.heldUntil) return false
  state.heldUntil = until
  state.rampSince = until
  return true
}
