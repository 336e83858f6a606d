import type { Connection } from '../file/connection.ts'
import { LooseRows } from './loose-rows.ts'

/**
 * Which rows of the log are whose. Tasks end in no order: an index of the log by task would be written at another place for
 * each of them, a page of the file each time. So the newest rows stay loose, and thousands at a time are filed in the order
 * of their tasks, when a page takes many of them.
 *
 *   log     1 2 3 4 5 6 7 8 9 …     every row, as it was written
 *           └filed┘ └─ loose ─      by task: the table `filed`, and the memory of whoever reads
 */
export interface RowsOfTasks {
  /** Undefined: nothing happened to the task yet. */
  newestOf(seq: number): number | undefined
  /** Those that no table has by their task, as a list in JSON. One that was removed meanwhile may be among them. */
  looseOf(seq: number): string
  /** Reads what others have written since, at the beginning of a transaction. */
  catchUp(): void
  readonly loose: LooseRows
}

/** For a statement that wants all rows of the task ?1, whose loose ones are ?2. */
export const ROWS_OF_TASK = 'select log_id from filed where seq = ?1 union all select value from json_each(?2)'

/** All of them at once would be the largest thing in the memory of a process that has just started. */
const READ_TOGETHER = 1_000

export function readRowsOfTasks(connection: Connection): RowsOfTasks {
  const readFiledUpTo = connection.row<[number]>('select filed_up_to from store')
  const readNew = connection.rows<[logId: number, seq: number]>(
    `select log_id, seq from log where log_id > ? order by log_id limit ${READ_TOGETHER}`,
  )
  const readFiled = connection.row<[number]>('select log_id from filed where seq = ? order by log_id desc limit 1')
  const loose = new LooseRows()
  return {
    loose,
    newestOf: seq => loose.newestOf(seq) ?? readFiled(seq)?.[0],
    looseOf: seq => JSON.stringify(loose.of(seq)),
    catchUp() {
      loose.file(readFiledUpTo()![0])
      for (let rows = readNew(loose.upTo); rows.length > 0; rows = readNew(loose.upTo))
        for (const [logId, seq] of rows) loose.add(logId, seq)
    },
  }
}
