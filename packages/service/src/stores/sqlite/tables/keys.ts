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
  /** A transaction begins, and there are tasks up to this one: what it changes can be taken back. */
  begin(newest: number): void
  /** Files some, as there are now tasks up to this one. */
  flush(newest: number): void
  /** The transaction has failed. */
  forget(): void
}

/**
 * A page of the table takes about eighty: among a hundred thousand keys so many share one with a dozen others, among a
 * million with one. Half as many again are loose at most, and twice as many where starts come faster than lots: some megabytes,
 * and some ten milliseconds to find them again.
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
  /** The names that came with each so many tasks, by the number of the last of these; one that was removed may be among them. */
  const lots = new Map<number, SortedRuns>()
  let isRead = false
  let filedUpTo = 0
  let upTo = 0
  /** Names in the lots that failed transactions had brought. */
  let strays = 0
  const transaction: Transaction = { wasRead: false, changes: [], ended: [] }

  const lotOf = (seq: number): number => filedUpTo + Math.ceil((seq - filedUpTo) / together) * together
  const addToLot = (name: string, seq: number): void => {
    const lot = lotOf(seq)
    let names = lots.get(lot)
    if (names === undefined) lots.set(lot, (names = new SortedRuns(Math.ceil(together / RUNS))))
    names.add(name)
  }
  const keepLoose = (name: string, seq: number): void => {
    loose.set(name, seq)
    addToLot(name, seq)
  }
  /** However many transactions fail, the lots are no larger than twice what is loose. */
  const dropStrays = (): void => {
    strays = 0
    lots.clear()
    for (const [name, seq] of loose) addToLot(name, seq)
  }
  const letGo = (name: string): void => {
    transaction.changes.push([name, loose.get(name)])
    loose.delete(name)
  }
  // When somebody asks for one, and not at the start: what goes on without keys, goes on where their tasks are damaged.
  const readAll = (): void => {
    filedUpTo = readFiledUpTo()![0]
    for (let rows = readLoose(filedUpTo); rows.length > 0; rows = readLoose(rows.at(-1)![0]))
      for (const [seq, key, lane] of rows) keepLoose(keyNameIn(lane, key), seq)
    isRead = true
  }
  const filing = createFiling<string>({
    // By the number of tasks, with keys or without: however few have one, no more tasks are read to find them again.
    isFull: () => upTo - filedUpTo >= together,
    isOverdue: () => upTo - filedUpTo >= 2 * together,
    inOrder: () => lots.get(filedUpTo + together)?.inOrder() ?? NO_NAMES.values(),
    fileOne(name) {
      const seq = loose.get(name)
      // It may have been removed since it came, and then be another's.
      if (seq === undefined || seq > filedUpTo + together) return
      insert(name, seq)
      letGo(name)
    },
    end() {
      filedUpTo += together
      keep(filedUpTo)
      transaction.ended.push([filedUpTo, lots.get(filedUpTo)])
      lots.delete(filedUpTo)
    },
  })
  return {
    seqOf(name) {
      if (!isRead) readAll()
      return loose.get(name) ?? read(name)?.[0]
    },
    add(name, seq) {
      transaction.changes.push([name, loose.get(name)])
      keepLoose(name, seq)
    },
    remove(name) {
      letGo(name)
      remove(name)
    },
    begin(newest) {
      upTo = newest
      transaction.wasRead = isRead
      transaction.changes.length = transaction.ended.length = 0
    },
    flush(newest) {
      const added = newest - upTo
      upTo = newest
      if (isRead) filing.file(added)
    },
    forget() {
      filing.forget()
      // What was read in it may lack what it had removed.
      if (!transaction.wasRead) {
        isRead = false
        loose.clear()
        lots.clear()
        return
      }
      // Not read anew: there are thousands of them, and calls that fail together are tried again in halves.
      for (const [name, seq] of transaction.changes.toReversed())
        if (seq === undefined) loose.delete(name)
        else loose.set(name, seq)
      for (const [lot, names] of transaction.ended.toReversed()) {
        filedUpTo = lot - together
        if (names !== undefined) lots.set(lot, names)
      }
      strays += transaction.changes.length
      if (strays >= together) dropStrays()
    },
  }
}

/** What has changed in memory since it began: of each change the name, and whose it was before. */
interface Transaction {
  wasRead: boolean
  readonly changes: [name: string, seq: number | undefined][]
  readonly ended: [lot: number, names: SortedRuns | undefined][]
}

const NO_NAMES: readonly string[] = []
