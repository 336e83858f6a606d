import {
  countChange,
  countMoved,
  NO_COUNTS,
  type ReplayCounts,
  type ReplayedChange,
} from '../../../task/replay/counts.ts'
import type { Connection } from '../file/connection.ts'

/** What became of the tasks that each replay brought back; read once, counted in memory, written once per commit. */
export interface Replays {
  countsOf(replayId: string): ReplayCounts
  countMoved(replayId: string | null): void
  /** Null: the task was brought back by no replay of many. */
  countChange(replayId: string | null, change: ReplayedChange): void
  remove(replayId: string): void
  flush(): void
  forget(): void
}

type Row = [number, number, number, number, number, number, number, number, string]

const COLUMNS = 'moved, waiting, under_way, sent, failed, succeeded, exhausted, cancelled, recent'

export function createReplays(connection: Connection): Replays {
  const read = readCounts(connection)
  const write = connection.write(
    `insert or replace into replay (replay_id, ${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const remove = connection.write('delete from replay where replay_id = ?')
  const counted = new Map<string, ReplayCounts>()

  const find = (replayId: string): ReplayCounts | undefined => counted.get(replayId) ?? read(replayId)
  return {
    countsOf: replayId => find(replayId) ?? NO_COUNTS,
    countMoved(replayId) {
      if (replayId !== null) counted.set(replayId, countMoved(this.countsOf(replayId)))
    },
    countChange(replayId, change) {
      const counts = replayId === null ? undefined : find(replayId)
      if (counts !== undefined) counted.set(replayId!, countChange(counts, change))
    },
    remove(replayId) {
      counted.delete(replayId)
      remove(replayId)
    },
    flush() {
      for (const [replayId, counts] of counted) write(replayId, ...valuesOf(counts))
      this.forget()
    },
    forget: () => counted.clear(),
  }
}

/** As they were committed; undefined where nothing was brought back. */
export function readCounts(connection: Connection): (replayId: string) => ReplayCounts | undefined {
  const read = connection.row<Row>(`select ${COLUMNS} from replay where replay_id = ?`)
  return replayId => {
    const row = read(replayId)
    return row && countsOf(row)
  }
}

function countsOf([
  moved,
  waiting,
  underWay,
  sent,
  failed,
  succeeded,
  exhausted,
  cancelled,
  recent,
]: Row): ReplayCounts {
  return { moved, waiting, underWay, sent, failed, succeeded, exhausted, cancelled, recent }
}

function valuesOf(counts: ReplayCounts): Row {
  const { moved, waiting, underWay, sent, failed, succeeded, exhausted, cancelled, recent } = counts
  return [moved, waiting, underWay, sent, failed, succeeded, exhausted, cancelled, recent]
}
