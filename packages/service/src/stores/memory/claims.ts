import { heldAtDeadline } from '../../task/held.ts'
import type { ClaimedTask, Task } from '../../task/task.ts'
import { cursorOf } from '../cursor.ts'
import type { Ask, AskedHead, Claim, Expire, LeaseHead, Page, PartitionPage, QueueHead } from '../task-store.ts'
import type { Book, Entry, WaitingQueue } from './book.ts'
import type { Standing } from './line.ts'
import { pageOf, placeIn } from './page.ts'

export function claim(
  book: Book,
  { partition, steward, token, asks }: Claim,
  now: number,
): { readonly tasks: readonly ClaimedTask[]; readonly heads: readonly AskedHead[] } {
  const queues = asks.map(ask => queueIn(book, partition, ask))
  const tasks = asks.flatMap((ask, index) => {
    const room = ask.limit - (book.lanes.get(ask.lane)?.IN_FLIGHT ?? 0)
    const due = dueIn(queues[index], { ...ask, count: Math.min(ask.count, room) }, now)
    return due.map(({ item }) => lease(book, item, { token, steward, now }))
  })
  const heads = asks.map(({ lane, queue }, index) => ({ lane, queue, dueAt: queues[index]?.line.first?.at ?? null }))
  return { tasks, heads }
}

function dueIn(
  queue: WaitingQueue | undefined,
  { count, end }: Pick<Ask, 'count' | 'end'>,
  now: number,
): readonly Standing<Entry>[] {
  if (queue === undefined) return []
  if (end === 'back') return queue.line.before({ at: now, number: Infinity }, count)
  return queue.line.after(undefined, count).filter(({ at }) => at <= now)
}

/** A steward of one partition has no say in another. */
function queueIn(
  book: Book,
  partition: number,
  { lane, queue }: Pick<Ask, 'lane' | 'queue'>,
): WaitingQueue | undefined {
  const waiting = book.queue(lane, queue)
  return waiting?.line.first?.item.partition === partition ? waiting : undefined
}

function lease(
  book: Book,
  entry: Entry,
  { token, steward, now }: { readonly token: string; readonly steward: string; readonly now: number },
): ClaimedTask {
  const { state, leaseMs } = entry.task
  if (state.status !== 'PENDING') throw new Error(`a waiting task is ${state.status}`)
  entry.claimed = { at: now, dueAt: state.nextAttemptAt, queue: state.queue, steward }
  book.write(entry, { state: { status: 'IN_FLIGHT', lease: { token, endsAt: now + leaseMs, cancelRequested: false } } })
  return claimedTask(entry)
}

function claimedTask({ task, claimed }: Entry): ClaimedTask {
  const { state, version: _, lastAttempt: __, ...accepted } = task
  if (state.status !== 'IN_FLIGHT' || claimed === undefined) throw new Error(`a claimed task is ${state.status}`)
  const { at: claimedAt, dueAt, queue } = claimed
  return { ...accepted, lease: state.lease, claimedAt, dueAt, queue }
}

export function endedLeases(book: Book, partition: number, limit: number, now: number): ClaimedTask[] {
  const earliest = book.leasesOf(partition).after(undefined, limit)
  return earliest.filter(({ at }) => at <= now).map(({ item }) => claimedTask(item))
}

export function leasesOf(book: Book, partition: number, token: string): string[] {
  const leases = book.leasesOf(partition).after(undefined, Infinity)
  return leases.filter(({ item }) => tokenOf(item.task) === token).map(({ item }) => item.task.taskId)
}

function tokenOf({ state }: Task): string | undefined {
  return state.status === 'IN_FLIGHT' ? state.lease.token : undefined
}

const LEASES = cursorOf('leases', 'number', 'number')

export function leases(book: Book, { partition, ...page }: PartitionPage): Page<LeaseHead> {
  return pageOf(book.leasesOf(partition), page, LEASES, ({ at, item: { lane, task } }) => ({
    taskId: task.taskId,
    lane,
    token: tokenOf(task)!,
    endsAt: at,
  }))
}

const QUEUES = cursorOf('queues', 'number', 'number')

export function queues(book: Book, { partition, ...page }: PartitionPage): Page<QueueHead> {
  return pageOf(book.queuesOf(partition), page, QUEUES, ({ item: { lane, queue, line } }) => ({
    lane,
    queue,
    dueAt: line.first!.at,
  }))
}

const EXPIRE = cursorOf('expire', 'number', 'number')

export function expire(
  book: Book,
  { partition, lane, queue, limit, cursor, shut = [] }: Expire,
  now: number,
): { readonly expired: readonly string[]; readonly nextCursor?: string } {
  const line = queueIn(book, partition, { lane, queue })?.line
  const from = cursor === undefined ? undefined : placeIn(EXPIRE.read(cursor))
  const looked = line?.after(from, limit) ?? []
  const last = looked.at(-1)
  const isMore = last !== undefined && line!.after(last, 1).length > 0
  const expired = looked.filter(({ item }) => item.task.progress.expiresAt <= now)
  for (const { item, at: dueAt } of expired) {
    const held = heldAtDeadline(shut, { dueAt, expiresAt: item.task.progress.expiresAt })
    const ended = { status: 'EXHAUSTED', endedAt: now, reason: 'deadline' } as const
    book.write(item, { state: { ...ended, ...(held !== undefined && { held }) } })
  }
  return {
    expired: expired.map(({ item }) => item.task.taskId),
    ...(isMore && { nextCursor: EXPIRE.write([last.at, last.number]) }),
  }
}
