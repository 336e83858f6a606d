import type { GiveUpReason } from '@secondwind/resilience'
import type { TaskStatus } from '../../../task/task.ts'
import type { Connection } from '../file/connection.ts'
import { PROGRESS_COLUMNS, type ProgressRow } from './task-rows.ts'

/** What the newest row of a task's log says it is; `PENDING` stands for under way, too, for a lease is not logged. */
export interface Standing {
  /** 0: nothing happened to it yet. */
  readonly logId: number
  readonly at: number
  readonly status: TaskStatus
  readonly reason: GiveUpReason | null
  /** Where it waits, if it is unfinished. */
  readonly queueId: number
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
  queueId: number,
  dueAt: number,
  version: number,
  token: string | null,
  settledAs: TaskStatus | null,
  attemptId: number,
  ...progress: ProgressRow,
]

export type StandingOf = (seq: number) => Standing | undefined

export function readStandings(connection: Connection): StandingOf {
  const newest = connection.row<Row>(
    `select log_id, at, status, reason, queue_id, due_at, version, token, settled_as, attempt_id, ${PROGRESS_COLUMNS}
     from log where seq = ? order by log_id desc limit 1`,
  )
  const accepted = connection.row<Row>(
    `select 0, created_at, 'PENDING', null, queue_id, due_at, 1, null, null, 0, ${PROGRESS_COLUMNS}
     from task where seq = ?`,
  )
  return seq => {
    const row = newest(seq) ?? accepted(seq)
    if (row === undefined) return undefined
    const [logId, at, status, reason, queueId, dueAt, version, token, settledAs, attemptId, ...progress] = row
    return { logId, at, status, reason, queueId, dueAt, version, token, settledAs, attemptId, progress }
  }
}
