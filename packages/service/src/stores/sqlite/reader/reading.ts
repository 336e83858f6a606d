import type { Connection } from '../file/connection.ts'
import { createDeadLetterList, type DeadLetters } from './dead-letters.ts'
import { createList, type List } from './list.ts'
import { createOperatorPages, type OperatorPages } from './operator-pages.ts'
import { createPages, type Pages } from './pages.ts'
import { readRowsOfTasks } from '../rows/rows-of-tasks.ts'

/** What the reader can be asked for. */
export interface ReaderVerbs extends Pages, OperatorPages {
  list: List
  deadLetters: DeadLetters
}

export type ReaderVerb = keyof ReaderVerbs
export type ReaderAnswer<V extends ReaderVerb> = ReturnType<ReaderVerbs[V]>
export type ReaderAsk<V extends ReaderVerb = ReaderVerb> = readonly [verb: V, ask: Parameters<ReaderVerbs[V]>[0]]

/** Each ask sees the store at one moment, however many statements it needs. */
export function createReading(connection: Connection): (ask: ReaderAsk) => unknown {
  const rows = readRowsOfTasks(connection)
  const verbs: ReaderVerbs = {
    ...createPages(connection, rows),
    ...createOperatorPages(connection),
    list: createList(connection, rows),
    deadLetters: createDeadLetterList(connection, rows),
  }
  return ([verb, ask]) => {
    connection.exec('begin')
    try {
      rows.catchUp()
      return (verbs[verb] as (ask: unknown) => unknown)(ask)
    } finally {
      connection.exec('commit')
    }
  }
}
