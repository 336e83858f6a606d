/** The counts of each replay of many, kept with every write of a task that it brought back. */
import { countChange, countMoved, NO_COUNTS, type ReplayCounts } from '../../task/replay/counts.ts'
import type { TaskStatus } from '../../task/task.ts'
import type { Connection } from './connection.ts'
import type { AttemptValues, ProgressRow } from './rows.ts'

export interface Replays {
  /** A task, as it was, becomes this. */
  count(before: { readonly status: TaskStatus; readonly progress: ProgressRow }, after: ReplayedTask): void
}

interface ReplayedTask {
  readonly status: TaskStatus
  readonly progress: ProgressRow
  readonly attempt: AttemptValues | null
}

export function createReplays(connection: Connection): Replays {
  const read = readCounts(connection)
  const write = connection.write('insert or replace into replay_count (replay_id, counts) values (?, ?)')
  return {
    count(before, { status, progress, attempt }) {
      const [generation, attemptNumber, , , , , replayId] = progress
      if (replayId === null) return
      const counts = read(replayId)
      if (generation > before.progress[0]) return write(replayId, JSON.stringify(countMoved(counts ?? NO_COUNTS)))
      // Removed with its replay.
      if (counts === undefined) return
      const firstOutcome = attemptNumber === 1 && before.progress[1] === 0 ? attempt?.[4] : undefined
      const change = { from: before.status, status, attemptNumber, firstOutcome }
      write(replayId, JSON.stringify(countChange(counts, change)))
    },
  }
}

export function readCounts(connection: Connection): (replayId: string) => ReplayCounts | undefined {
  const read = connection.row<[string]>('select counts from replay_count where replay_id = ?')
  return replayId => {
    const row = read(replayId)
    return row && (JSON.parse(row[0]) as ReplayCounts)
  }
}
