import type { TaskStatus } from '../../../task/task.ts'
import type { Connection } from '../file/connection.ts'

/** The row of the log that each walk has come to. */
export interface SweepCursors {
  finished?: number
  dead?: number
}

/** How far sweeps have come, and what lies before them. */
export interface Sweeps {
  cursors(): SweepCursors
  keepCursors(cursors: SweepCursors): void
  /** Rows of the log that were written before an instant, the oldest first. */
  walk(behind: number, ask: { before: number; limit: number }): [logId: number, seq: number, status: TaskStatus][]
}

export function createSweeps(connection: Connection): Sweeps {
  const readCursors = connection.row<[string]>('select swept from store')
  const writeCursors = connection.write('update store set swept = ?')
  const walk = connection.rows<[number, number, TaskStatus, number]>(
    'select log_id, seq, status, at from log where log_id > ? order by log_id limit ?',
  )
  return {
    cursors: () => JSON.parse(readCursors()![0]) as SweepCursors,
    keepCursors: cursors => writeCursors(JSON.stringify(cursors)),
    walk: (behind, { before, limit }) =>
      walk(behind, limit).flatMap(([logId, seq, status, at]) => (at < before ? [[logId, seq, status]] : [])),
  }
}
