import { heldAtDeadline } from '../../../task/held.ts'
import type { Expire, PartitionPage, QueueHead, LeaseHead, Remember } from '../../task-store.ts'
import { cut, type From, type Slice } from '../rows/slice.ts'
import type { WaitingQueue } from '../tables/waiting.ts'
import { end } from './end.ts'
import type { Writer } from './writer.ts'

/** The queues in which somebody waits: one step from each to the next, however many wait there. */
export function queues(writer: Writer, ask: From<PartitionPage, [queueId: number]>): Slice<QueueHead, [number]> {
  const { waiting, lanes } = writer
  const found: WaitingQueue[] = []
  let next = waiting.nextQueue(ask.partition, ask.from?.[0] ?? -1)
  while (next !== undefined && found.length <= ask.limit) {
    found.push(next)
    next = waiting.nextQueue(ask.partition, next.queueId)
  }
  const { items, next: place } = cut(found, ask.limit, ({ queueId }): [number] => [queueId])
  return {
    items: items.map(({ queueId, dueAt }) => {
      const { key: queue, lane } = lanes.queueBy(queueId)
      return { lane: lane.key, queue, dueAt }
    }),
    next: place,
  }
}

export function leases(
  writer: Writer,
  { partition, from = [-Infinity, 0], limit }: From<PartitionPage, [endsAt: number, seq: number]>,
): Slice<LeaseHead, [number, number]> {
  const found = writer.leases.walk(partition, from, limit + 1)
  const { items, next } = cut(found, limit, ({ endsAt, seq }): [number, number] => [endsAt, seq])
  return {
    items: items.map(({ taskId, queueId, token, endsAt }) => ({
      taskId,
      lane: writer.lanes.queueBy(queueId).lane.key,
      token,
      endsAt,
    })),
    next,
  }
}

export function leasesOf(writer: Writer, { partition, token }: { partition: number; token: string }): string[] {
  return writer.leases.ofToken(partition, token)
}

export interface Expired {
  readonly expired: readonly string[]
  /** Where to go on; null at the end of the queue. */
  readonly next: [dueAt: number, seq: number] | null
}

/** Ends what is past its deadline, gate or no gate. */
export function expire(writer: Writer, ask: From<Expire, [dueAt: number, seq: number]>): Expired {
  const { partition, steward, lane, queue: key, limit, from = [-Infinity, 0], shut = [] } = ask
  const { now, stewards, lanes, waiting, log, tasks } = writer
  const queue = lanes.findQueue(lane, key)
  if (!stewards.isSteward(partition, steward) || queue?.lane.partition !== partition) return { expired: [], next: null }
  const { items, next } = cut(waiting.walk(queue.queueId, from, limit + 1), limit, ([dueAt, seq]): [number, number] => [
    dueAt,
    seq,
  ])
  const expired: string[] = []
  for (const [dueAt, seq, , version] of items) {
    const standing = log.standingOf(seq)!
    const [, , , , , expiresAt] = standing.progress
    if (expiresAt > now) continue
    waiting.remove(queue.queueId, dueAt, seq)
    const ended = { version: version + 1, from: 'PENDING', status: 'EXHAUSTED', reason: 'deadline' } as const
    const held = heldAtDeadline(shut, { dueAt, expiresAt })
    end(writer, { seq, lane: queue.lane, standing, ...ended, held })
    expired.push(tasks.identityOf(seq).taskId)
  }
  return { expired, next }
}

export function remember(writer: Writer, { partition, steward, lane, memory }: Remember): boolean {
  const { stewards, memories } = writer
  if (!stewards.isSteward(partition, steward)) return false
  memories.write(partition, lane, JSON.stringify(memory))
  return true
}
