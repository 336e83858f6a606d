import type { lane as lanes } from '@secondwind/resilience/rules'
import { standingAt } from '../task/lane.ts'
import type { Queue } from '../task/task.ts'

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

export function prospectOf(
  queues: Iterable<WaitingQueue>,
  allowed: lanes.Allowance,
  { now, storeNow }: Instants,
): Prospect {
  const due = { first: 0, retry: 0 }
  let lookInMs = Infinity
  for (const { queue, dueAt, likely } of queues) {
    const dueInMs = dueAt - storeNow
    const opensInMs = allowed[queue.kind] > 0 ? 0 : opensIn(allowed, queue, now)
    if (Math.max(dueInMs, opensInMs) <= 0) due[queue.kind] += likely
    else lookInMs = Math.min(lookInMs, Math.max(dueInMs, opensInMs))
  }
  const most = Math.min(allowed.total, Math.min(allowed.first, due.first) + Math.min(allowed.retry, due.retry))
  return { most, lookInMs }
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
  allowed: lanes.Allowance,
  slots: number,
  storeNow: number,
): Portion<Waiting>[] {
  const left = { first: allowed.first, retry: allowed.retry }
  const portions: Portion<Waiting>[] = []
  for (const waiting of [...queues].filter(({ dueAt }) => dueAt <= storeNow).toSorted(byStanding)) {
    const { kind } = waiting.queue
    const count = Math.min(slots, left[kind], waiting.likely)
    if (count <= 0) continue
    slots -= count
    left[kind] -= count
    portions.push({ of: waiting, count })
  }
  return portions
}

/** At least a millisecond: whoever looks at the very instant must not find it still to come, and look for ever. */
function opensIn(allowed: lanes.Allowance, { kind }: Queue, now: number): number {
  const hold = allowed.hold ?? (kind === 'retry' ? allowed.retryHold : undefined)
  return hold?.until === undefined ? Infinity : Math.max(1, Math.ceil(hold.until - now))
}

function byStanding(left: WaitingQueue, right: WaitingQueue): number {
  const [leftAt, rightAt] = [standingAt(left.queue.rank, left.dueAt), standingAt(right.queue.rank, right.dueAt)]
  return leftAt === rightAt ? left.dueAt - right.dueAt : leftAt - rightAt
}
