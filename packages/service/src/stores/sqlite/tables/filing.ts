import type { Connection } from '../file/connection.ts'
import type { LooseRows } from '../rows/loose-rows.ts'

/** Files loose rows of the log by their tasks, a few with every commit: nobody waits for thousands. */
export interface Filing {
  /** Told once in a transaction: how many rows it has added. */
  file(added: number): void
  /** A row, or all of a task, that the log no longer has. */
  removeRow(seq: number, logId: number): void
  removeTask(seq: number): void
  forget(): void
}

/** Faster than they come, so that it comes to an end. */
const FILED_FOR_EACH_ADDED = 2

export function createFiling(connection: Connection, loose: LooseRows, together: number): Filing {
  // What was filed before a process ended in the middle is filed again.
  const insert = connection.write('insert or ignore into filed (seq, log_id) values (?, ?)')
  const removeRow = connection.write('delete from filed where seq = ? and log_id = ?')
  const removeTask = connection.write('delete from filed where seq = ?')
  const keep = connection.write('update store set filed_up_to = ?')
  let order: Float64Array | undefined
  let next = 0

  /** The oldest, in the order of their tasks: whose, and which of them, in one number, for those are sorted ten times faster. */
  const inOrder = (): Float64Array => {
    const order = new Float64Array(together)
    for (let at = 0; at < together; at++) order[at] = loose.taskOf(loose.filedUpTo + 1 + at) * together + at
    return order.toSorted()
  }
  const fileOne = (place: number): void => {
    const seq = Math.floor(place / together)
    const logId = loose.filedUpTo + 1 + (place % together)
    // It may have been removed since they were put in order.
    if (seq !== 0 && loose.taskOf(logId) === seq) insert(seq, logId)
  }
  return {
    file(added) {
      // So many stay, that whoever has several rows within a short time is filed at one place.
      if (order === undefined && loose.upTo - loose.filedUpTo >= 2 * together) {
        order = inOrder()
        next = 0
      }
      if (order === undefined) return
      const end = Math.min(next + FILED_FOR_EACH_ADDED * added, together)
      while (next < end) fileOne(order[next++]!)
      if (next < together) return
      loose.file(loose.filedUpTo + together)
      keep(loose.filedUpTo)
      order = undefined
    },
    removeRow(seq, logId) {
      loose.remove(logId)
      removeRow(seq, logId)
    },
    removeTask(seq) {
      for (const logId of loose.of(seq)) loose.remove(logId)
      removeTask(seq)
    },
    forget() {
      order = undefined
    },
  }
}
