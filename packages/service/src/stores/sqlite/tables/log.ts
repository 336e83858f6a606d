import type { GiveUpReason } from '@secondwind/resilience'
import type { GateReason } from '../../../task/lane-view.ts'
import type { TaskStatus } from '../../../task/task.ts'
import type { Connection } from '../file/connection.ts'
import { ATTEMPT_COLUMNS, hasAttempt, NO_ATTEMPT, type AttemptValues } from '../rows/attempt-rows.ts'
import { ROWS_OF_TASK, type RowsOfTasks } from '../rows/rows-of-tasks.ts'
import { readStandings, type Standing, type StandingOf } from '../rows/standing.ts'
import { PROGRESS_COLUMNS, type ProgressRow } from '../rows/task-rows.ts'
import { createFiledRows } from './filed-rows.ts'

/** What became of a task by one write. */
export interface LogEntry {
  readonly seq: number
  readonly at: number
  readonly status: TaskStatus
  readonly reason: GiveUpReason | null
  /** The gate that held it until its deadline; `dueAt` is then since when. */
  readonly heldBy: GateReason | null
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
  /** Reads which number was used last, and whose the newest rows are. */
  recall(): void
  /** A transaction begins: what it changes can be taken back. */
  begin(): void
  flush(): void
  forget(): void
}

/** So many rows are put in order together: a page of `filed` takes several of them, even where millions of tasks have ended. */
const FILED_TOGETHER = 32_768

export function createLog(connection: Connection, rows: RowsOfTasks, filedTogether: number = FILED_TOGETHER): Log {
  const insert = connection.write(
    `insert into log (log_id, seq, at, status, reason, held_by, queue_id, due_at, version, token, settled_as,
       attempt_id, ${PROGRESS_COLUMNS}, ${ATTEMPT_COLUMNS})
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const readProgress = connection.row<ProgressRow>(`select ${PROGRESS_COLUMNS} from log where log_id = ?`)
  const readAttemptId = connection.row<[number]>('select attempt_id from log where log_id = ?')
  const removeRow = connection.write('delete from log where log_id = ?')
  const remove = connection.write(`delete from log where log_id in (${ROWS_OF_TASK})`)
  // A number that a sweep has passed is not used again, or its row would never be swept.
  const readLast = connection.row<[number]>(
    `select max(filed_up_to, (select coalesce(max(log_id), 0) from log),
       (select coalesce(max(value), 0) from json_each(store.swept))) from store`,
  )
  const { loose } = rows
  const filed = createFiledRows(connection, loose, filedTogether)
  let last = 0
  let lastBefore = 0
  let added = 0

  const attemptIdOf = (logId: number): number => (logId === 0 ? 0 : readAttemptId(logId)![0])
  /** What an attempt-less row carries on; the attempt-less one below it is no longer needed. */
  const carriedOn = (seq: number, previous: number): number => {
    const attemptId = attemptIdOf(previous)
    if (attemptId !== previous) {
      removeRow(previous)
      filed.removeRow(seq, previous)
    }
    return attemptId
  }
  const append = (entry: LogEntry): number => {
    const logId = ++last
    const { seq, at, status, reason, heldBy, queueId, dueAt, version, token, settledAs, previous, progress } = entry
    const { attempt = NO_ATTEMPT } = entry
    const attemptId = hasAttempt(attempt) ? logId : carriedOn(seq, previous)
    const end = [logId, seq, at, status, reason, heldBy] as const
    insert(...end, queueId, dueAt, version, token, settledAs, attemptId, ...progress, ...attempt)
    loose.add(logId, seq)
    added++
    return logId
  }
  return {
    append,
    supersede: ({ token, settledAs }, entry) => append({ ...entry, token, settledAs }),
    standingOf: readStandings(connection, rows),
    progressOf: logId => readProgress(logId)!,
    attemptIdOf,
    remove(seq) {
      remove(seq, rows.looseOf(seq))
      filed.removeTask(seq)
    },
    get newest() {
      return last
    },
    recall() {
      last = Math.max(last, readLast()![0])
      rows.catchUp()
    },
    flush() {
      filed.file(added)
      added = 0
    },
    begin() {
      lastBefore = last
      loose.begin()
    },
    forget() {
      last = lastBefore
      loose.takeBack()
      filed.forget()
      added = 0
    },
  }
}
