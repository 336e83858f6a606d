import type { Connection } from '../file/connection.ts'

/** A task that somebody holds, and where it stood. */
export interface LeaseEntry {
  readonly seq: number
  readonly taskId: string
  readonly token: string
  readonly claimedAt: number
  readonly endsAt: number
  readonly queueId: number
  readonly dueAt: number
  readonly state: number
  readonly version: number
  readonly cancelRequested: boolean
  /** Who claimed it; null when that is no longer known. */
  readonly steward: string | null
}

export interface Leases {
  add(lease: LeaseEntry, partition: number): void
  find(taskId: string): LeaseEntry | undefined
  markCancelled(lease: LeaseEntry): void
  remove(lease: LeaseEntry): void
  /** From behind a place on, the earliest end first. */
  walk(partition: number, behind: readonly [endsAt: number, seq: number], limit: number): LeaseEntry[]
  /** At most so many that have ended, the earliest first. */
  ended(partition: number, now: number, limit: number): LeaseEntry[]
  ofToken(partition: number, token: string): string[]
  /** Ends those that are left from an earlier process: nobody is there to settle them. */
  endAll(now: number): void
  forget(): void
}

type Row = [
  seq: number,
  taskId: string,
  token: string,
  claimedAt: number,
  endsAt: number,
  queueId: number,
  dueAt: number,
  state: number,
  version: number,
  cancelRequested: number,
]

/** More than any instance has under way: then all are looked up anew. */
const MOST_REMEMBERED = 50_000

export function createLeases(connection: Connection): Leases {
  const columns =
    'seq, task_id, token, claimed_at, ends_at, lease.queue_id, lease.due_at, state, version, cancel_requested from lease join task using (seq)'
  const insert = connection.write(
    `insert into lease (seq, partition, claimed_at, ends_at, token, queue_id, due_at, state, version, cancel_requested)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`,
  )
  const readById = connection.row<Row>(`select ${columns} where task_id = ?`)
  const mark = connection.write('update lease set cancel_requested = 1, version = ? where seq = ?')
  const remove = connection.write('delete from lease where seq = ?')
  // Through all leases, and put in order when they are read: half a millisecond for ten thousand, at the start and after a loss.
  const walk = connection.rows<Row>(
    `select ${columns} where partition = ? and (ends_at, seq) > (?, ?) order by ends_at, seq limit ?`,
  )
  const readEnded = connection.rows<Row>(
    `select ${columns} where partition = ? and ends_at <= ? order by ends_at, seq limit ?`,
  )
  const readOfToken = connection.rows<[string]>(
    'select task_id from lease join task using (seq) where partition = ? and token = ?',
  )
  const endAll = connection.write('update lease set ends_at = ?1 where ends_at > ?1')

  // A settle follows within seconds: it finds its lease here, and need not search the index of all ids.
  const remembered = new Map<string, LeaseEntry>()

  return {
    add(lease, partition) {
      const { seq, claimedAt, endsAt, token, queueId, dueAt, state, version } = lease
      insert(seq, partition, claimedAt, endsAt, token, queueId, dueAt, state, version)
      if (remembered.size >= MOST_REMEMBERED) remembered.clear()
      remembered.set(lease.taskId, lease)
    },
    find(taskId) {
      const known = remembered.get(taskId)
      if (known !== undefined) return known
      const row = readById(taskId)
      return row && entryOf(row)
    },
    markCancelled(lease) {
      const version = lease.version + 1
      mark(version, lease.seq)
      remembered.set(lease.taskId, { ...lease, version, cancelRequested: true })
    },
    remove({ seq, taskId }) {
      remove(seq)
      remembered.delete(taskId)
    },
    walk: (partition, behind, limit) => walk(partition, ...behind, limit).map(entryOf),
    ended: (partition, now, limit) => readEnded(partition, now, limit).map(entryOf),
    ofToken: (partition, token) => readOfToken(partition, token).map(([taskId]) => taskId),
    endAll: now => endAll(now),
    forget: () => remembered.clear(),
  }
}

function entryOf(row: Row): LeaseEntry {
  const [seq, taskId, token, claimedAt, endsAt, queueId, dueAt, state, version, cancelRequested] = row
  return {
    seq,
    taskId,
    token,
    claimedAt,
    endsAt,
    queueId,
    dueAt,
    state,
    version,
    cancelRequested: cancelRequested === 1,
    steward: null,
  }
}
