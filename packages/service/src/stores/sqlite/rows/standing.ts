import type { GiveUpReason } from '@secondwind/resilience'
import type { GateReason } from '../../../task/lane-view.ts'
import type { TaskStatus } from '../../../task/task.ts'
import type { Connection } from '../file/connection.ts'
import type { RowsOfTasks } from './rows-of-tasks.ts'
import { PROGRESS_COLUMNS, type ProgressRow } from './task-rows.ts'

/** What the newest row of a task's log says it is; `PENDING` stands for under way, too, for a lease is not logged. */
export interface Standing {
  /** 0: nothing happened to it yet. */
  readonly logId: number
  readonly at: number
  readonly status: TaskStatus
  readonly reason: GiveUpReason | null
  /** The gate that held a dead letter until its deadline. */
  readonly heldBy: GateReason | null
  /** Where it waits, if it is unfinished. */
  readonly queueId: number
  /** Of a dead letter that a gate held: since when. */
  readonly dueAt: number
  /** That of the row; waiting and under way tasks have a newer one where they stand. */
  readonly version: number
  /** Of the latest settle, and what that made of the task. */
  readonly token: string | null
  readonly settledAs: TaskStatus | null
  /** The row of the newest attempt; 0: there was none. */
  readonly attemptId: number
  readonly progress: ProgressRow
}

type Row = [
  logId: number,
  at: number,
  status: TaskStatus,
  reason: GiveUpReason | null,
  heldBy: GateReason | null,
  queueId: number,
  dueAt: number,
  version: number,
  token: string | null,
  settledAs: TaskStatus | null,
  attemptId: number,
  ...progress: ProgressRow,
]

export type StandingOf = (seq: number) => Standing | undefined

export function readStandings(connection: Connection, rows: RowsOfTasks): StandingOf {
  const read = connection.row<Row>(
    `select log_id, at, status, reason, held_by, queue_id, due_at, version, token, settled_as, attempt_id,
       ${PROGRESS_COLUMNS}
     from log where log_id = ?`,
  )
  const accepted = connection.row<Row>(
    `select 0, created_at, 'PENDING', null, null, queue_id, due_at, 1, null, null, 0, ${PROGRESS_COLUMNS}
     from task where seq = ?`,
  )
  return seq => {
    const newest = rows.newestOf(seq)
    const row = newest === undefined ? accepted(seq) : read(newest)
    if (row === undefined) return undefined
    const [logId, at, status, reason, heldBy, queueId, dueAt, version, token, settledAs, attemptId, ...progress] = row
    return { logId, at, status, reason, heldBy, queueId, dueAt, version, token, settledAs, attemptId, progress }
  }
}
