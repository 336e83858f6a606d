import type { GiveUpReason } from '@secondwind/resilience'
import type { TaskStatus } from '../../../task/task.ts'
import type { Connection } from '../file/connection.ts'
import { ATTEMPT_COLUMNS, hasAttempt, NO_ATTEMPT, type AttemptValues } from '../rows/attempt-rows.ts'
import { readStandings, type Standing, type StandingOf } from '../rows/standing.ts'
import { PROGRESS_COLUMNS, type ProgressRow } from '../rows/task-rows.ts'

/** What became of a task by one write. */
export interface LogEntry {
  readonly seq: number
  readonly at: number
  readonly status: TaskStatus
  readonly reason: GiveUpReason | null
  readonly queueId: number | null
  readonly dueAt: number | null
  readonly version: number
  readonly token: string | null
  readonly settledAs: TaskStatus | null
  /** The newest row so far; 0: the task's own. */
  readonly previous: number
  readonly progress: ProgressRow
  readonly attempt?: AttemptValues
}

export interface Log {
  /**
   * Writes the next row, and answers with its number. A row without an attempt replaces another one on top: who asks for
   * an attempt a million times leaves one row.
   */
  append(entry: LogEntry): number
  /** Appends what an operator or a deadline did: an attempt, and what the latest settle said, stay as they were. */
  supersede(standing: Standing, entry: Omit<LogEntry, 'token' | 'settledAs' | 'attempt'>): number
  readonly standingOf: StandingOf
  progressOf(logId: number): ProgressRow
  /** The row of the newest attempt, seen from this row on; 0: there was none. */
  attemptIdOf(logId: number): number
  remove(seq: number): void
  /** The number that was used last. */
  readonly newest: number
  /** Reads which number was used last. */
  recall(): void
}

export function createLog(connection: Connection): Log {
  const insert = connection.write(
    `insert into log (log_id, seq, at, status, reason, queue_id, due_at, version, token, settled_as, attempt_id,
       ${PROGRESS_COLUMNS}, ${ATTEMPT_COLUMNS})
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const readProgress = connection.row<ProgressRow>(`select ${PROGRESS_COLUMNS} from log where log_id = ?`)
  const readAttemptId = connection.row<[number]>('select attempt_id from log where log_id = ?')
  const removeRow = connection.write('delete from log where log_id = ?')
  const remove = connection.write('delete from log where seq = ?')
  // A number that a sweep has passed is not used again, or its row would never be swept.
  const readLast = connection.row<[number]>(
    `select max((select coalesce(max(log_id), 0) from log),
       (select coalesce(max(value), 0) from store, json_each(store.swept)))`,
  )
  let last = 0

  const attemptIdOf = (logId: number): number => (logId === 0 ? 0 : readAttemptId(logId)![0])
  /** What an attempt-less row carries on; the attempt-less one below it is no longer needed. */
  const carriedOn = (previous: number): number => {
    const attemptId = attemptIdOf(previous)
    if (attemptId !== previous) removeRow(previous)
    return attemptId
  }
  const append = ({ progress, attempt = NO_ATTEMPT, ...entry }: LogEntry): number => {
    const logId = ++last
    const { seq, at, status, reason, queueId, dueAt, version, token, settledAs, previous } = entry
    const attemptId = hasAttempt(attempt) ? logId : carriedOn(previous)
    const head = [logId, seq, at, status, reason, queueId, dueAt, version, token, settledAs, attemptId] as const
    insert(...head, ...progress, ...attempt)
    return logId
  }
  return {
    append,
    supersede: ({ token, settledAs }, entry) => append({ ...entry, token, settledAs }),
    standingOf: readStandings(connection),
    progressOf: logId => readProgress(logId)!,
    attemptIdOf,
    remove: seq => void remove(seq),
    get newest() {
      return last
    },
    recall() {
      last = readLast()![0]
    },
  }
}
