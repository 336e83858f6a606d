import type { Connection } from '../file/connection.ts'
import type { LooseRows } from '../rows/loose-rows.ts'
import { createFiling, type Filing } from './filing.ts'

/** Rows of the log by their tasks: the table `filed`, but for those that are loose. */
export interface FiledRows extends Filing {
  /** A row, or all of a task, that the log no longer has. */
  removeRow(seq: number, logId: number): void
  removeTask(seq: number): void
}

export function createFiledRows(connection: Connection, loose: LooseRows, together: number): FiledRows {
  // What was filed before a process ended in the middle is filed again.
  const insert = connection.write('insert or ignore into filed (seq, log_id) values (?, ?)')
  const removeRow = connection.write('delete from filed where seq = ? and log_id = ?')
  const removeTask = connection.write('delete from filed where seq = ?')
  const keep = connection.write('update store set filed_up_to = ?')
  const filing = createFiling<number>({
    // So many stay, that whoever has several rows within a short time is filed at one place.
    isFull: () => loose.upTo - loose.filedUpTo >= 2 * together,
    isOverdue: () => loose.upTo - loose.filedUpTo >= 3 * together,
    // By task: whose, and which of them, in one number, for those are sorted ten times faster.
    inOrder() {
      const order = new Float64Array(together)
      for (let at = 0; at < together; at++) order[at] = loose.taskOf(loose.filedUpTo + 1 + at) * together + at
      return order.toSorted().values()
    },
    fileOne(place) {
      const seq = Math.floor(place / together)
      const logId = loose.filedUpTo + 1 + (place % together)
      // It may have been removed since they were put in order.
      if (seq !== 0 && loose.taskOf(logId) === seq) insert(seq, logId)
    },
    end() {
      loose.file(loose.filedUpTo + together)
      keep(loose.filedUpTo)
    },
  })
  return {
    ...filing,
    removeRow(seq, logId) {
      loose.remove(logId)
      removeRow(seq, logId)
    },
    removeTask(seq) {
      for (const logId of loose.of(seq)) loose.remove(logId)
      removeTask(seq)
    },
  }
}
