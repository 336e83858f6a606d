import type { lane as lanes } from '@secondwind/resilience/rules'
import { isInScope } from '../task/control.ts'
import { standingAt } from '../task/lane.ts'
import type { QueueGate } from '../task/orders.ts'
import type { Queue, Rank } from '../task/task.ts'

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
  /** Whether what has this rank passes a pause. */
  readonly passes: (rank: Rank) => boolean
}

export function prospectOf(queues: Iterable<WaitingQueue>, openings: Openings, { now, storeNow }: Instants): Prospect {
  const { allowed, gates } = openings
  const due = { first: 0, retry: 0, byHand: 0 }
  const open: WaitingQueue[] = []
  let lookInMs = Infinity
  for (const waiting of queues) {
    const { queue, dueAt, likely } = waiting
    const pass = passOf(openings, queue)
    const opensInMs = Math.max(countOf(allowed, pass) > 0 ? 0 : opensIn(allowed, pass, now), gateIn(gates, queue, now))
    const lookMs = Math.max(dueAt - storeNow, opensInMs)
    if (lookMs > 0) lookInMs = Math.min(lookInMs, lookMs)
    else {
      due[pass] += likely
      if (gates.length > 0) open.push(waiting)
    }
  }
  // Queues behind one gate share its room: only by dividing it is seen how many there are in all.
  if (gates.length > 0) return { most: sum(portionsOf(open, openings, allowed.total, storeNow)), lookInMs }
  const most = PASSES.reduce((all, pass) => all + Math.min(countOf(allowed, pass), due[pass]), 0)
  return { most: Math.min(allowed.total, most), lookInMs }
}

export interface Portion<Waiting extends WaitingQueue> {
  readonly of: Waiting
  readonly count: number
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
  const { allowed, gates } = openings
  const left = { first: allowed.first, retry: allowed.retry, byHand: countOf(allowed, 'byHand') }
  const rooms = new Map(gates.map(gate => [gate, gate.room]))
  const portions: Portion<Waiting>[] = []
  for (const waiting of [...queues].filter(({ dueAt }) => dueAt <= storeNow).toSorted(byStanding)) {
    const pass = passOf(openings, waiting.queue)
    const before = gates.filter(({ scope }) => isInScope(scope, waiting.queue))
    const count = Math.min(slots, left[pass], waiting.likely, ...before.map(gate => rooms.get(gate)!))
    if (count <= 0) continue
    slots -= count
    left[pass] -= count
    for (const gate of before) rooms.set(gate, rooms.get(gate)! - count)
    portions.push({ of: waiting, count })
  }
  return portions
}

const PASSES = ['first', 'retry', 'byHand'] as const

type Pass = (typeof PASSES)[number]

/** As what a queue's tasks may start: in a pause, those that were asked for by hand alone. */
function passOf({ allowed, passes }: Openings, { rank, kind }: Queue): Pass {
  return allowed.byHand !== undefined && passes(rank) ? 'byHand' : kind === 'first' ? 'first' : 'retry'
}

function countOf(allowed: lanes.Allowance, pass: Pass): number {
  return pass === 'byHand' ? (allowed.byHand?.total ?? 0) : allowed[pass]
}

function opensIn({ hold, retryHold, byHand }: lanes.Allowance, pass: Pass, now: number): number {
  if (pass === 'byHand') return waitUntil(byHand?.hold?.until, now)
  return waitUntil((hold ?? (pass === 'retry' ? retryHold : undefined))?.until, now)
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
