/** All that a verb may touch, at the one instant of its transaction; and the transaction itself. */
import type { Hint, RecordKind } from '../store.ts'
import { isReadAtBeats } from '../store.ts'
import { createChanges, type Changes } from './changes.ts'
import type { Connection } from './connection.ts'
import { createStewards, type Stewards } from './fleet.ts'
import { createLanes, type Lanes, type QueueEntry } from './lanes.ts'
import { createReplays, type Replays } from './replays.ts'

export interface Writer {
  /** The store's clock. */
  now: number
  /** The numbers given last. */
  lastTask: number
  lastAttempt: number
  /** Another number whenever a record was written that beats tell of. */
  recordsVersion: number
  /** Whether a transaction has changed the file since this was set to false. */
  hasWritten: boolean
  readonly connection: Connection
  readonly stewards: Stewards
  readonly lanes: Lanes
  readonly replays: Replays
  readonly changes: Changes
  /** Says, once it is committed, that a queue has something due at this instant. */
  hint(queue: QueueEntry, dueAt: number): void
  noteRecord(kind: RecordKind): void
  /** The hints since the last call: of each queue the earliest. */
  takeHints(): Hint[]
  /** Runs all of it in one transaction, or nothing. */
  transact<Result>(act: () => Result): Result
}

export function createWriter(connection: Connection): Writer {
  const readLast = connection.row<[number | null, number | null]>(
    'select (select max(seq) from task), (select max(attempt_id) from attempt)',
  )
  const writeInstant = connection.write('update store set last_at = ?1 where last_at < ?1')
  const countChanges = connection.row<[number]>('select total_changes()')
  const lanes = createLanes(connection)
  const hints = new Map<number, Hint>()

  const writer: Omit<Writer, 'changes'> = {
    now: 0,
    lastTask: 0,
    lastAttempt: 0,
    recordsVersion: 0,
    hasWritten: false,
    connection,
    stewards: createStewards(),
    lanes,
    replays: createReplays(connection),
    hint({ queueId, key: queue, lane }, dueAt) {
      const earliest = Math.min(dueAt, hints.get(queueId)?.dueAt ?? Infinity)
      hints.set(queueId, { partition: lane.partition, lane: lane.key, queue, dueAt: earliest })
    },
    noteRecord(kind) {
      // Also where the transaction fails: a reader that looks in vain does no harm.
      if (isReadAtBeats(kind)) writer.recordsVersion++
    },
    takeHints() {
      const taken = [...hints.values()]
      hints.clear()
      return taken
    },
    transact(act) {
      const [lastTask, lastAttempt] = [writer.lastTask, writer.lastAttempt]
      // A lock that is asked for later may be refused half-way.
      connection.exec('begin immediate')
      try {
        const changesBefore = countChanges()?.[0]
        const result = act()
        lanes.flush()
        const isChanged = countChanges()?.[0] !== changesBefore
        if (isChanged) writeInstant(writer.now)
        connection.exec('commit')
        writer.hasWritten ||= isChanged
        return result
      } catch (error) {
        lanes.undo()
        hints.clear()
        Object.assign(writer, { lastTask, lastAttempt })
        // A full disk may have ended the transaction already.
        if (connection.isTransaction()) connection.exec('rollback')
        throw error
      }
    },
  }
  const [lastTask, lastAttempt] = readLast() ?? []
  Object.assign(writer, { lastTask: lastTask ?? 0, lastAttempt: lastAttempt ?? 0 })
  return Object.assign(writer, { changes: createChanges(writer) })
}
