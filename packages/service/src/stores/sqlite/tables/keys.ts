import type { Connection } from '../file/connection.ts'
import { keyNameIn } from '../rows/key-name.ts'
import { createFiling } from './filing.ts'
import { SortedRuns } from './sorted-runs.ts'

/**
 * The keys that callers chose, and whose they are. Most are random: put into their table as they come, each would be written
 * to another page of it. So the newest stay loose in memory, and thousands at a time are filed in their order.
 *
 *   task          1 2 3 4 5 6 7 8 9 …     every task has its key in its row
 *                 └filed┘ └─ loose ─      by key: the table `idempotency`, and the memory of whoever writes
 */
export interface Keys {
  seqOf(name: string): number | undefined
  /** A key that nobody has, of a task that is newer than all others. */
  add(name: string, seq: number): void
  remove(name: string): void
  /** Files some, as there are now tasks up to this one. */
  flush(newest: number): void
  forget(): void
  /** There are tasks up to this one. */
  recall(newest: number): void
}

/**
 * A page of the table takes about eighty: among a hundred thousand keys so many share one with a dozen others, among a
 * million with one. Half as many again are loose at most: some megabytes, and some ten milliseconds to find them again.
 */
const FILED_TOGETHER = 16_384

/** Of two thousand each: to sort one takes less than a millisecond, to sort a whole lot ten. */
const RUNS = 8

/** All of them at once would be the largest thing in the memory of a process that has just started. */
const READ_TOGETHER = 1_000

export function createKeys(connection: Connection, together: number = FILED_TOGETHER): Keys {
  const read = connection.row<[number]>('select seq from idempotency where key = ?')
  // What was filed before a process ended in the middle is filed again.
  const insert = connection.write('insert or ignore into idempotency (key, seq) values (?, ?)')
  const remove = connection.write('delete from idempotency where key = ?')
  const readFiledUpTo = connection.row<[number]>('select keys_filed_up_to from store')
  const keep = connection.write('update store set keys_filed_up_to = ?')
  const readLoose = connection.rows<[seq: number, key: string, lane: string]>(
    `select seq, idempotency_key, lane.key from task join lane using (lane_id)
     where seq > ? and idempotency_key is not null order by seq limit ${READ_TOGETHER}`,
  )
  const loose = new Map<string, number>()
  const newRuns = (): SortedRuns => new SortedRuns(Math.ceil(together / RUNS))
  /** The names of those that no lot has yet. */
  let names = newRuns()
  let isRead = false
  let filedUpTo = 0
  let upTo = 0
  let lotUpTo = 0

  const add = (name: string, seq: number): void => {
    loose.set(name, seq)
    names.add(name)
  }
  // When somebody asks for one, and not at the start: what goes on without keys, goes on where their tasks are damaged.
  const readAll = (): void => {
    filedUpTo = readFiledUpTo()![0]
    for (let rows = readLoose(filedUpTo); rows.length > 0; rows = readLoose(rows.at(-1)![0]))
      for (const [seq, key, lane] of rows) add(keyNameIn(lane, key), seq)
    isRead = true
  }
  const filing = createFiling<string>({
    // By the number of tasks, with keys or without: however few have one, no more tasks are read to find them again.
    isFull: () => upTo - filedUpTo >= together,
    inOrder() {
      lotUpTo = upTo
      const lot = names
      names = newRuns()
      return lot.inOrder()
    },
    fileOne(name) {
      const seq = loose.get(name)
      // It may have been removed since it came, and then be another's.
      if (seq === undefined || seq > lotUpTo) return
      insert(name, seq)
      loose.delete(name)
    },
    end() {
      filedUpTo = lotUpTo
      keep(filedUpTo)
    },
  })
  return {
    seqOf(name) {
      if (!isRead) readAll()
      return loose.get(name) ?? read(name)?.[0]
    },
    add,
    remove(name) {
      loose.delete(name)
      remove(name)
    },
    flush(newest) {
      const added = newest - upTo
      upTo = newest
      if (isRead) filing.file(added)
    },
    forget() {
      loose.clear()
      names = newRuns()
      isRead = false
      filing.forget()
    },
    recall(newest) {
      upTo = newest
    },
  }
}
