import { isInScope, type ControlLevel, type QueueScope } from './control.ts'
import { isByHand } from './lane.ts'
import type { laneKind } from '@secondwind/resilience/rules'
import type { Queue, QueueKind, Rank } from './task.ts'

/** The gates of a lane at a moment: why its tasks wait, and until when. */
export interface LaneView {
  readonly lane: string
  readonly breaker: 'closed' | 'open' | 'half-open' | 'forced-open' | 'forced-closed'
  /** What keeps its tasks from starting now; absent when nothing does. */
  readonly hold?: Hold
  /** What keeps attempts of one kind, while others flow. */
  readonly kindHolds?: KindHolds
  /** What keeps the tasks of some policies. */
  readonly policyHolds?: readonly PolicyHold[]
  /** Requests that may be under way at once. */
  readonly limit: number
  readonly inFlight: number
  /** Attempts of each kind that may be sent before the destination answers. */
  readonly credit: laneKind.PerKind<number>
  /** When the next probe may be sent, of any kind whose credit is used up. */
  readonly nextProbeAt?: number
  /** Retries that the budget lets start now; absent where there is none. */
  readonly budgetBalance?: number
  /** The earliest instant at which one of its tasks is, or was, due. */
  readonly oldestDueAt?: number
  /** Since when the service owes an attempt: the first that is due and that no gate holds, since it was so. */
  readonly overdueSince?: number
  /** When the first of those that a gate holds was due. */
  readonly heldSince?: number
}

/** A closed gate. */
export interface Hold {
  readonly reason: HoldReason
  /** When it opens, as far as the service knows; absent when it opens as soon as something ends. */
  readonly until?: number
  /** Of credit that is used up: since when nothing has come back, and how long probes lie apart. */
  readonly since?: number
  readonly everyMs?: number
  /** Of the kill switch. */
  readonly level?: ControlLevel
  readonly controlId?: string
  /** What was said when it was shut. */
  readonly because?: string
  /** An operator has shut it: no tenant opens it. */
  readonly isByOperator?: true
  /** A stop rule has shut it again, no operator by hand. */
  readonly isByRule?: true
  /** What else is shut now, and opens no later. */
  readonly others?: readonly Hold[]
}

export type KindHolds = { readonly [kind in QueueKind]?: Hold }

export interface PolicyHold {
  readonly scope: QueueScope
  readonly hold: Hold
}

/** The gate that a queue of the lane stands behind, and the others. */
export function holdOn(view: LaneView, queue: Queue): Hold | undefined {
  return together(holdsOn(view, queue))
}

/** What is shut of a lane. */
export interface Gates {
  readonly hold?: Hold | undefined
  readonly kindHolds?: KindHolds | undefined
  readonly policyHolds?: readonly PolicyHold[] | undefined
}

/** All gates that a queue of the lane stands behind, the one that lasts longest first. */
export function holdsOn({ hold, policyHolds = [], kindHolds }: Gates, queue: Queue): readonly Hold[] {
  // Mostly none is shut, and every task that comes in is told so.
  if (hold === undefined && kindHolds === undefined && policyHolds.length === 0) return []
  const own = policyHolds.filter(({ scope }) => isInScope(scope, queue))
  return byEnd([
    ...apart(hold).filter(gate => !isPassed(gate, queue)),
    ...own.flatMap(({ hold: gate }) => apart(gate)),
    ...apart(kindHolds?.[queue.kind]).filter(gate => !isSpared(gate, queue)),
  ])
}

/** What was asked for by hand passes a tenant's pause, and no pause of an operator. */
function isPassed({ reason, isByOperator }: Hold, { rank }: Queue): boolean {
  return reason === 'paused' && isByHand(rank) && !isByOperator
}

/** What was asked for by hand waits for no credit and no budget. */
function isSpared({ reason }: Hold, { rank }: Queue): boolean {
  return isByHand(rank) && FOR_OTHERS.has(reason)
}

const FOR_OTHERS: ReadonlySet<HoldReason> = new Set(['breaker-open', 'credit', 'budget'])

/** Whether the gate can keep tasks of this rank. A pause of an operator keeps all; its caller looks at those. */
export function isHeldBy(reason: HoldReason, rank: Rank): boolean {
  return !isByHand(rank) || !(reason === 'paused' || FOR_OTHERS.has(reason))
}

/** Several that are shut at once, told as the one that lasts longest. */
export function together(holds: readonly Hold[]): Hold | undefined {
  if (holds.length === 0) return undefined
  const [hold, ...others] = byEnd(holds)
  return hold && { ...hold, ...(others.length > 0 && { others }) }
}

function apart(hold: Hold | undefined): readonly Hold[] {
  if (hold === undefined) return []
  const { others = [], ...first } = hold
  return [first, ...others]
}

function byEnd(holds: readonly Hold[]): readonly Hold[] {
  return holds.toSorted((left, right) => endOf(right) - endOf(left) || 0)
}

/** Without an instant: never, if only an order opens it; else as soon as something ends. */
function endOf({ reason, until, since }: Hold): number {
  return until ?? (BY_WORD.has(reason) && since === undefined ? Infinity : -Infinity)
}

const BY_WORD: ReadonlySet<HoldReason> = new Set(['kill-switch', 'paused', 'breaker-open'])

export type HoldReason = (typeof HOLD_REASONS)[number]

export const HOLD_REASONS = [
  'kill-switch', // operators have stopped it, and perhaps much else
  'paused', // operators have stopped this destination
  'breaker-open', // nothing comes back from the destination, or operators have forced the breaker open
  'probing', // in a pause one request at a time is sent by hand
  'retry-after', // it asked to be left alone
  'slow-start', // it is back, and is given more step by step
  'concurrency', // the limit of requests under way is reached
  'rate-limited',
  'credit', // it answers, and its answers have not yet paid for this kind of attempt
  'budget', // retries would be too large a part of the load
  'slots', // this instance has its hands full
  'store', // the store cannot be written to
] as const

/** A gate belongs to the destination, or is an order. Room that the service itself lacks is no gate: the lack is its own fault. */
export type GateReason = Exclude<HoldReason, 'slots' | 'store'>

export const GATE_REASONS: readonly GateReason[] = HOLD_REASONS.filter(isGate)

export function isGate(reason: HoldReason): reason is GateReason {
  return reason !== 'slots' && reason !== 'store'
}

/** What routes may ask of the dispatcher, and tell it. */
export interface Dispatching {
  /** Undefined for a lane of a partition that another instance serves. */
  view(lane: string): LaneView | undefined
  /** Cuts off the task's request if it is under way here. */
  cut(taskId: string): void
}
