import { queueOf } from '../../../task/lane.ts'
import type { AttemptEnd, Task, TaskState } from '../../../task/task.ts'
import type { Connection } from '../file/connection.ts'
import { ATTEMPT_COLUMNS, attemptEndOf, type AttemptValues } from './attempt-rows.ts'
import type { RowsOfTasks } from './rows-of-tasks.ts'
import { readStandings, type Standing } from './standing.ts'
import { acceptedOf, progressOf, TASK_COLUMNS, type TaskRow } from './task-rows.ts'

/** Tasks as whoever asks sees them, put together from all the tables; the same in both threads. */
export interface WholeTasks {
  seqOf(taskId: string): number | undefined
  byId(taskId: string): Task | undefined
  bySeq(seq: number): Task | undefined
  /** How the attempt of a row of the log ended. */
  attemptEnd(attemptId: number): AttemptEnd | undefined
}

export function readWholeTasks(connection: Connection, rows: RowsOfTasks): WholeTasks {
  const readSeq = connection.row<[number]>('select seq from task where task_id = ?')
  const readTask = connection.row<[lane: string, ...TaskRow]>(
    `select lane.key, ${TASK_COLUMNS} from task join lane using (lane_id) where seq = ?`,
  )
  const readLease = connection.row<[token: string, endsAt: number, cancelRequested: number, version: number]>(
    'select token, ends_at, cancel_requested, version from lease where seq = ?',
  )
  const readVersion = connection.row<[number]>('select version from due where queue_id = ? and due_at = ? and seq = ?')
  const readQueue = connection.row<[string]>('select key from queue where queue_id = ?')
  const readAttempt = connection.row<AttemptValues>(`select ${ATTEMPT_COLUMNS} from log where log_id = ?`)
  const standingOf = readStandings(connection, rows)

  const attemptEnd = (attemptId: number): AttemptEnd | undefined => {
    const values = attemptId === 0 ? undefined : readAttempt(attemptId)
    return values && attemptEndOf(values)
  }

  const stateOf = (seq: number, standing: Standing): { state: TaskState; version: number } => {
    const { status, at: endedAt, reason, heldBy, queueId, dueAt, version } = standing
    switch (status) {
      case 'SUCCEEDED':
      case 'CANCELLED':
        return { state: { status, endedAt }, version }
      case 'EXHAUSTED':
        return {
          state: {
            status,
            endedAt,
            reason: reason!,
            ...(heldBy !== null && { held: { by: heldBy, since: dueAt } }),
          },
          version,
        }
      case 'PENDING':
      case 'IN_FLIGHT': {
        const lease = readLease(seq)
        if (lease === undefined) {
          const queue = queueOf(readQueue(queueId)![0])
          return {
            state: { status: 'PENDING', nextAttemptAt: dueAt, queue },
            version: readVersion(queueId, dueAt, seq)![0],
          }
        }
        const [token, endsAt, cancelRequested, leaseVersion] = lease
        const state = { status: 'IN_FLIGHT', lease: { token, endsAt, cancelRequested: cancelRequested === 1 } } as const
        return { state, version: leaseVersion }
      }
    }
  }

  const bySeq = (seq: number): Task | undefined => {
    const found = readTask(seq)
    if (found === undefined) return undefined
    const [lane, ...row] = found
    const standing = standingOf(seq)!
    const lastAttempt = attemptEnd(standing.attemptId)
    return {
      ...acceptedOf(row, lane),
      progress: progressOf(standing.progress),
      ...stateOf(seq, standing),
      ...(lastAttempt !== undefined && { lastAttempt }),
    }
  }

  const seqOf = (taskId: string): number | undefined => readSeq(taskId)?.[0]
  return {
    seqOf,
    bySeq,
    attemptEnd,
    byId: taskId => {
      const seq = seqOf(taskId)
      return seq === undefined ? undefined : bySeq(seq)
    },
  }
}
