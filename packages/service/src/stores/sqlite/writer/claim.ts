import type { Ask, AskedHead, Claim, PartitionLimit } from '../../task-store.ts'
import { bytesToText } from '../rows/bytes.ts'
import type { Extent } from '../rows/extent.ts'
import { AT, type HeldRow, type HeldRows } from '../rows/task-rows.ts'
import type { QueueEntry } from '../tables/lanes.ts'
import type { LeaseEntry } from '../tables/leases.ts'
import type { Writer } from './writer.ts'

export type ClaimReply = Claimed | { readonly kind: 'refused' }

interface Claimed {
  readonly kind: 'claimed'
  readonly held: readonly HeldRows[]
  readonly heads: readonly AskedHead[]
  /** The newest of what was taken: the number of a task, and of what became of one. */
  readonly taken: Extent
}

/** Leases what is due in the asked queues, within the lanes' limits, if the partition is still the steward's. */
export function claim(writer: Writer, { partition, steward, token, asks }: Claim): ClaimReply {
  if (!writer.stewards.isSteward(partition, steward)) return { kind: 'refused' }
  const { lanes, waiting } = writer
  const asked = asks.map(ask => {
    const queue = lanes.findQueue(ask.lane, ask.queue)
    // A lane of another partition has another steward.
    return { ask, queue: queue?.lane.partition === partition ? queue : undefined }
  })
  const taken = { newestTask: 0, newestEntry: 0 }
  const held = asked.map(({ ask, queue }) => ({
    lane: ask.lane,
    queue: ask.queue,
    token,
    rows: queue === undefined ? [] : claimFrom(writer, queue, ask, { token, steward, taken }),
  }))
  const heads = asked.map(({ ask: { lane, queue: key }, queue }) => ({
    lane,
    queue: key,
    dueAt: queue === undefined ? null : waiting.firstAt(queue.queueId),
  }))
  return { kind: 'claimed', held, heads, taken }
}

interface Claimer extends Pick<Claim, 'token' | 'steward'> {
  readonly taken: { -readonly [field in keyof Extent]: Extent[field] }
}

function claimFrom(writer: Writer, queue: QueueEntry, ask: Ask, { taken, token, steward }: Claimer): HeldRow[] {
  const { now, lanes, waiting, leases, replays, tasks } = writer
  const { queueId, lane } = queue
  const count = Math.min(ask.count, ask.limit - lane.tasks.IN_FLIGHT)
  if (count <= 0) return []
  return waiting.take(queueId, { now, count, end: ask.end }).map(([dueAt, seq, state, version]) => {
    const row = tasks.row(seq)
    const taskId = row[AT.taskId]
    taken.newestTask = Math.max(taken.newestTask, seq)
    taken.newestEntry = Math.max(taken.newestEntry, state)
    const lease: LeaseEntry = {
      seq,
      taskId,
      token,
      claimedAt: now,
      endsAt: now + row[AT.leaseMs],
      queueId,
      dueAt,
      state,
      version: version + 1,
      cancelRequested: false,
      steward,
    }
    leases.add(lease, lane.partition)
    lanes.move(lane, 'PENDING', 'IN_FLIGHT')
    const held = heldRow(writer, row, lease)
    const attemptNumber = held[AT.attemptNumber]
    replays.countChange(held[AT.replayId], { from: 'PENDING', status: 'IN_FLIGHT', attemptNumber })
    return held
  })
}

/** Leases that ended without a word from their holder. */
export function endedLeases(writer: Writer, { partition, limit }: PartitionLimit): HeldRows[] {
  const { now, leases, lanes, tasks } = writer
  return leases.ended(partition, now, limit).map(lease => {
    const { key: queue, lane } = lanes.queueBy(lease.queueId)
    return { lane: lane.key, queue, token: lease.token, rows: [heldRow(writer, tasks.row(lease.seq), lease)] }
  })
}

/** Adds to the task's own row how far it has come, and the lease. */
function heldRow({ log }: Writer, row: unknown[], lease: LeaseEntry): HeldRow {
  const { state, dueAt, endsAt, cancelRequested, claimedAt } = lease
  row[AT.body] = bytesToText(row[AT.body] as Uint8Array | null)
  if (state !== 0) row.splice(AT.progress, Infinity, ...log.progressOf(state))
  row.push(dueAt, endsAt, cancelRequested ? 1 : 0, claimedAt)
  return row as unknown as HeldRow
}
