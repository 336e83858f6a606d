import type { lane as lanes } from '@secondwind/resilience/rules'
import { isInScope } from '../task/control.ts'
import { isByHand, standingAt } from '../task/lane.ts'
import type { QueueGate } from '../task/orders.ts'
import type { Queue, QueueKind, Rank } from '../task/task.ts'

/** A queue as far as the dispatcher knows it. */
export interface WaitingQueue {
  readonly queue: Queue
  /** Not later than its first task is due. */
  readonly dueAt: number
  /** So many are probably due: slots are not kept for more. */
  readonly likely: number
}

/** What a lane could do now. */
export interface Prospect {
  /** So many slots it could use. */
  readonly most: number
  /** Else it is worth another look then; never, while only the end of an attempt can change something. */
  readonly lookInMs: number
}

interface Instants {
  /** The clock that gates go by. */
  readonly now: number
  /** The clock that tasks are due by. */
  readonly storeNow: number
}

/** What a lane's own gates let start, and those before some of its queues: usually there are none. */
export interface Openings {
  readonly allowed: lanes.Allowance
  readonly gates: readonly QueueGate[]
  /** Whether what has this rank passes a pause, and waits for no credit. */
  readonly passes: (rank: Rank) => boolean
  /** Whether the next attempt of this kind is a probe that takes the task that became due last. */
  readonly takesLast: (kind: QueueKind) => boolean
}

export function prospectOf(queues: Iterable<WaitingQueue>, openings: Openings, { now, storeNow }: Instants): Prospect {
  const { allowed, gates } = openings
  const open: WaitingQueue[] = []
  let lookInMs = Infinity
  for (const waiting of queues) {
    const { queue, dueAt } = waiting
    const opensInMs = Math.max(
      roomFor(openings, queue) > 0 ? 0 : opensIn(openings, queue, now),
      gateIn(gates, queue, now),
    )
    const lookMs = Math.max(dueAt - storeNow, opensInMs)
    if (lookMs > 0) lookInMs = Math.min(lookInMs, lookMs)
    else open.push(waiting)
  }
  // Queues share the room of their kind, or of a gate: only by dividing it is seen how many there are in all.
  return { most: sum(portionsOf(open, openings, allowed.total, storeNow)), lookInMs }
}

export interface Portion<Waiting extends WaitingQueue> {
  readonly of: Waiting
  readonly count: number
  /** From which end of the queue: absent, from the front. */
  readonly end?: 'back'
}

/**
 * A lane's slots over its queues: `urgent` first, else whichever has been due longest. What a queue turns out not to need
 * comes back with the answer; the next round knows more.
 */
export function portionsOf<Waiting extends WaitingQueue>(
  queues: Iterable<Waiting>,
  openings: Openings,
  slots: number,
  storeNow: number,
): Portion<Waiting>[] {
  const { allowed, gates, passes } = openings
  const left = { first: allowed.first, retry: allowed.retry, late: allowed.late }
  let leftByHand = allowed.byHand
  const rooms = new Map(gates.map(gate => [gate, gate.room]))
  const portions: Portion<Waiting>[] = []
  for (const waiting of inOrder(
    [...queues].filter(({ dueAt }) => dueAt <= storeNow),
    openings,
  )) {
    const { queue, likely } = waiting
    const { kind, rank } = queue
    const before = gates.filter(({ scope }) => isInScope(scope, queue))
    const room = left[kind] + (passes(rank) ? leftByHand : 0)
    const count = Math.min(slots, room, likely, ...before.map(gate => rooms.get(gate)!))
    if (count <= 0) continue
    slots -= count
    const byHand = Math.max(0, count - left[kind])
    left[kind] -= count - byHand
    leftByHand -= byHand
    for (const gate of before) rooms.set(gate, rooms.get(gate)! - count)
    portions.push({ of: waiting, count, ...(isFromBack(openings, queue) && { end: 'back' }) })
  }
  return portions
}

/** A probe of the last task looks for it in the queue whose first task became due last. */
function inOrder<Waiting extends WaitingQueue>(due: readonly Waiting[], openings: Openings): Waiting[] {
  const sorted = due.toSorted(byStanding)
  if (!sorted.some(({ queue }) => isFromBack(openings, queue))) return sorted
  const [front, back] = [false, true].map(isBack =>
    sorted.filter(({ queue }) => isFromBack(openings, queue) === isBack),
  )
  return [...front!, ...back!.toReversed()]
}

function isFromBack({ takesLast }: Openings, { kind, rank }: Queue): boolean {
  return takesLast(kind) && !isByHand(rank)
}

function roomFor({ allowed, passes }: Openings, { kind, rank }: Queue): number {
  return allowed[kind] + (passes(rank) ? allowed.byHand : 0)
}

function opensIn({ allowed, passes }: Openings, { kind, rank }: Queue, now: number): number {
  const { hold, byHandHold, kindHolds } = allowed
  const shut = hold?.reason === 'paused' && passes(rank) ? byHandHold : (hold ?? kindHolds[kind])
  return waitUntil(shut?.until, now)
}

function gateIn(gates: readonly QueueGate[], queue: Queue, now: number): number {
  const shut = gates.filter(({ scope, room }) => room <= 0 && isInScope(scope, queue))
  return Math.max(0, ...shut.map(({ until }) => waitUntil(until, now)))
}

/** At least a millisecond: whoever looks at the very instant must not find it still to come, and look for ever. */
function waitUntil(until: number | undefined, now: number): number {
  return until === undefined ? Infinity : Math.max(1, Math.ceil(until - now))
}

function sum(portions: readonly Portion<WaitingQueue>[]): number {
  return portions.reduce((all, { count }) => all + count, 0)
}

function byStanding(left: WaitingQueue, right: WaitingQueue): number {
  const [leftAt, rightAt] = [standingAt(left.queue.rank, left.dueAt), standingAt(right.queue.rank, right.dueAt)]
  return leftAt === rightAt ? left.dueAt - right.dueAt : leftAt - rightAt
}
