/** Turns due tasks into leases, within the limits of their lanes, if the partition is still the steward's. */
import type { Ask, AskedHead, Claim } from '../store.ts'
import type { QueueEntry } from './lanes.ts'
import { CLAIMED, progressIn, withBodyText, type ClaimedRow, type ClaimedRows } from './rows.ts'
import type { Writer } from './writer.ts'

/** Null: refused. */
export type ClaimReply = { readonly claimed: readonly ClaimedRows[]; readonly heads: readonly AskedHead[] } | null

type DueRow = readonly [seq: number, ...ClaimedRow]

export function claimVerb(writer: Writer): (claims: readonly Claim[]) => ClaimReply[] {
  const { connection, lanes, stewards, replays } = writer
  const tables = 'due join task using (seq) join request using (seq) where due.queue_id = ? and due.due_at <= ?'
  const readFront = connection.rows<DueRow>(
    `select due.seq, ${CLAIMED} from ${tables} order by due.due_at, due.seq limit ?`,
  )
  const readBack = connection.rows<DueRow>(
    `select due.seq, ${CLAIMED} from ${tables} order by due.due_at desc, due.seq desc limit ?`,
  )
  const removeFront = connection.write('delete from due where queue_id = ? and (due_at, seq) <= (?, ?)')
  const removeBack = connection.write('delete from due where queue_id = ? and (due_at, seq) >= (?, ?) and due_at <= ?')
  const lease = connection.write(
    'insert into lease (seq, partition, token, claimed_at, ends_at, queue_id, due_at) values (?, ?, ?, ?, ?, ?, ?)',
  )
  const firstDue = connection.row<[number]>('select due_at from due where queue_id = ? order by due_at limit 1')

  const claimFrom = ({ queueId, lane }: QueueEntry, ask: Ask, token: string): ClaimedRow[] => {
    const { now } = writer
    const count = Math.min(ask.count, ask.limit - lane.tasks.IN_FLIGHT)
    if (count <= 0) return []
    const rows = (ask.end === 'back' ? readBack : readFront)(queueId, now, count)
    const last = rows.at(-1)
    if (last === undefined) return []
    const [lastSeq, , lastDueAt] = last
    if (ask.end === 'back') removeBack(queueId, lastDueAt, lastSeq, now)
    else removeFront(queueId, lastDueAt, lastSeq)
    return rows.map(([seq, ...row]) => {
      const [, dueAt, leaseMs] = row
      lease(seq, lane.partition, token, now, now + leaseMs, queueId, dueAt)
      lanes.move(lane, 'PENDING', 'IN_FLIGHT')
      const progress = progressIn(row)
      replays.count({ status: 'PENDING', progress }, { status: 'IN_FLIGHT', progress, attempt: null })
      return withBodyText(row)
    })
  }

  const claimOne = ({ partition, steward, token, asks }: Claim): ClaimReply => {
    if (!stewards.isSteward(partition, steward)) return null
    const queues = asks.map(({ lane, queue: key }) => {
      const queue = lanes.findQueue(lane, key)
      // A lane of another partition has another steward.
      return queue?.lane.partition === partition ? queue : undefined
    })
    const claimed = asks.map((ask, at) => {
      const queue = queues[at]
      const rows = queue === undefined ? [] : claimFrom(queue, ask, token)
      return { lane: ask.lane, queue: ask.queue, token, rows }
    })
    const heads = asks.map(({ lane, queue: key }, at) => {
      const queue = queues[at]
      return { lane, queue: key, dueAt: queue === undefined ? null : (firstDue(queue.queueId)?.[0] ?? null) }
    })
    return { claimed, heads }
  }

  return claims => claims.map(claimOne)
}
