import { isInScope, type ControlLevel, type QueueScope } from './control.ts'
import { isByHand } from './lane.ts'
import type { Queue } from './task.ts'

/** What can be said of a lane at a moment, to whoever asks why a task waits. */
export interface LaneView {
  readonly lane: string
  readonly breaker: 'closed' | 'open' | 'half-open' | 'forced-open' | 'forced-closed'
  /** What keeps its tasks from starting now; absent when nothing does. */
  readonly hold?: Hold
  /** What keeps its retries, while first attempts flow. */
  readonly retryHold?: Hold
  /** What keeps the tasks of some policies. */
  readonly policyHolds?: readonly PolicyHold[]
  /** Requests that may be under way at once. */
  readonly limit: number
  readonly inFlight: number
  /** Retries that may start now. */
  readonly budgetBalance: number
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
  /** When it opens, as far as anybody knows; absent when it opens as soon as something ends. */
  readonly until?: number
  /** Of the kill switch. */
  readonly level?: ControlLevel
  readonly controlId?: string
  /** What was said when it was shut. */
  readonly because?: string
  /** Whoever runs the service has shut it: no tenant opens it. */
  readonly isByOperator?: true
  /** A stop rule has shut it again, and nobody by hand. */
  readonly isByRule?: true
  /** What else is shut now, and opens no later. */
  readonly others?: readonly Hold[]
}

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
  readonly retryHold?: Hold | undefined
  readonly policyHolds?: readonly PolicyHold[] | undefined
}

/** All gates that a queue of the lane stands behind, the one that lasts longest first. */
export function holdsOn({ hold, policyHolds = [], retryHold }: Gates, queue: Queue): readonly Hold[] {
  // Mostly none is shut, and every task that comes in is told so.
  if (hold === undefined && retryHold === undefined && policyHolds.length === 0) return []
  const own = policyHolds.filter(({ scope }) => isInScope(scope, queue))
  return byEnd([
    ...apart(hold).filter(gate => !isPassed(gate, queue)),
    ...own.flatMap(({ hold: gate }) => apart(gate)),
    ...(queue.kind !== 'first' ? apart(retryHold) : []),
  ])
}

/** What was asked for by hand passes a pause; what a tenant asked for, none of an operator. */
function isPassed({ reason, isByOperator }: Hold, { rank }: Queue): boolean {
  return reason === 'paused' && isByHand(rank) && (rank !== 'urgent' || !isByOperator)
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

/** Without an instant: never, if only somebody's word opens it; else as soon as something ends. */
function endOf({ reason, until }: Hold): number {
  return until ?? (BY_WORD.has(reason) ? Infinity : -Infinity)
}

const BY_WORD: ReadonlySet<HoldReason> = new Set(['kill-switch', 'paused', 'breaker-open'])

export type HoldReason = (typeof HOLD_REASONS)[number]

export const HOLD_REASONS = [
  'kill-switch', // operators have stopped it, and perhaps much else
  'paused', // operators have stopped this destination
  'breaker-open', // the destination failed too often
  'probing', // one request at a time finds out whether it is back
  'retry-after', // it asked to be left alone
  'slow-start', // it is back, and is given more step by step
  'concurrency', // as many as may be are under way
  'rate-limited',
  'budget', // retries would be too large a part of the load
  'slots', // this instance has its hands full
  'store', // the store cannot be written to
] as const

/** Of the destination, or somebody's order. What the service itself lacks is no gate: nobody else can be blamed for it. */
export function isGate(reason: HoldReason): boolean {
  return reason !== 'slots' && reason !== 'store'
}

/** What routes may ask of the dispatcher, and tell it. */
export interface Dispatching {
  /** Undefined for a lane that this instance has never served. */
  view(lane: string): LaneView | undefined
  /** Cuts off the task's request if it is under way here. */
  cut(taskId: string): void
}
