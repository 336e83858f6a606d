import type { Connection } from '../file/connection.ts'
import { queueIdsOf } from '../rows/queue-id.ts'

/** A task that waits, as its queue has it. */
export type WaitingRow = readonly [dueAt: number, seq: number, state: number, version: number]

/** A queue in which somebody waits. */
export interface WaitingQueue {
  readonly queueId: number
  /** The instant of the first. */
  readonly dueAt: number
}

/** Who waits where, and since when: the table `due`. */
export interface Waiting {
  add(queueId: number, row: WaitingRow): void
  /** Takes out the first tasks that are due; with `back`, the last of them, the latest first. */
  take(queueId: number, ask: { now: number; count: number; end?: 'back' | undefined }): WaitingRow[]
  find(queueId: number, dueAt: number, seq: number): WaitingRow | undefined
  remove(queueId: number, dueAt: number, seq: number): void
  /** The instant of the first; null when nobody waits. */
  firstAt(queueId: number): number | null
  /** At most so many, from behind a place on. */
  walk(queueId: number, behind: readonly [dueAt: number, seq: number], limit: number): WaitingRow[]
  /** The next queue of a partition, behind this one, in which somebody waits. */
  nextQueue(partition: number, behind: number): WaitingQueue | undefined
}

export function createWaiting(connection: Connection): Waiting {
  const insert = connection.write('insert into due (queue_id, due_at, seq, state, version) values (?, ?, ?, ?, ?)')
  const readDue = connection.rows<WaitingRow>(
    'select due_at, seq, state, version from due where queue_id = ? and due_at <= ? order by due_at, seq limit ?',
  )
  // What was read is one end of what is due: one range, and one statement however many they are.
  const removeUpTo = connection.write('delete from due where queue_id = ? and (due_at, seq) <= (?, ?)')
  const readDueBackwards = connection.rows<WaitingRow>(
    `select due_at, seq, state, version from due where queue_id = ? and due_at <= ?
     order by due_at desc, seq desc limit ?`,
  )
  const removeBackTo = connection.write(
    'delete from due where queue_id = ? and due_at <= ? and (due_at, seq) >= (?, ?)',
  )
  const read = connection.row<WaitingRow>(
    'select due_at, seq, state, version from due where queue_id = ? and due_at = ? and seq = ?',
  )
  const remove = connection.write('delete from due where queue_id = ? and due_at = ? and seq = ?')
  const readFirst = connection.row<[number]>('select due_at from due where queue_id = ? order by due_at limit 1')
  const walk = connection.rows<WaitingRow>(
    `select due_at, seq, state, version from due where queue_id = ? and (due_at, seq) > (?, ?)
     order by due_at, seq limit ?`,
  )
  const readNext = connection.row<[number, number]>(
    'select queue_id, due_at from due where queue_id > ? and queue_id < ? order by queue_id, due_at limit 1',
  )
  return {
    add: (queueId, row) => insert(queueId, ...row),
    take(queueId, { now, count, end }) {
      const rows = (end === 'back' ? readDueBackwards : readDue)(queueId, now, count)
      const last = rows.at(-1)
      if (last === undefined) return rows
      if (end === 'back') removeBackTo(queueId, now, last[0], last[1])
      else removeUpTo(queueId, last[0], last[1])
      return rows
    },
    find: read,
    remove: (queueId, dueAt, seq) => remove(queueId, dueAt, seq),
    firstAt: queueId => readFirst(queueId)?.[0] ?? null,
    walk: (queueId, behind, limit) => walk(queueId, ...behind, limit),
    nextQueue(partition, behind) {
      const [from, to] = queueIdsOf(partition)
      const row = readNext(Math.max(from, behind), to)
      return row && { queueId: row[0], dueAt: row[1] }
    },
  }
}
