import { DatabaseSync, type StatementSync } from 'node:sqlite'

export type Value = string | number | null | Uint8Array

/** A connection whose statements are prepared once and answer with rows as lists, in the order of their columns. */
export interface Connection {
  /** A statement that answers with any number of rows. */
  rows<Row>(sql: string): (...values: Value[]) => Row[]
  /** The same, as objects with the names of the columns; a column that is null is left out. */
  objects<Row>(sql: string): (...values: Value[]) => Row[]
  /** One row at most, as an object; a column that is null is null. */
  object<Row>(sql: string): (...values: Value[]) => Row | undefined
  /** A statement that answers with one row at most. */
  row<Row>(sql: string): (...values: Value[]) => Row | undefined
  /** A statement that writes. */
  write(sql: string): (...values: Value[]) => void
  /** The same, and answers with the number of rows that it changed, which costs more. */
  change(sql: string): (...values: Value[]) => number
  exec(sql: string): void
  isTransaction(): boolean
  close(): void
}

export interface ConnectionOptions {
  readonly readOnly?: boolean
  /** How long to wait for a lock that somebody else has. */
  readonly busyTimeoutMs: number
}

export function connect(path: string, { readOnly = false, busyTimeoutMs }: ConnectionOptions): Connection {
  const database = new DatabaseSync(path, { readOnly, timeout: busyTimeoutMs })
  const prepare = (sql: string): StatementSync => {
    const statement = database.prepare(sql)
    statement.setReturnArrays(true)
    return statement
  }
  return {
    rows: <Row>(sql: string) => {
      const statement = prepare(sql)
      return (...values) => statement.all(...values) as Row[]
    },
    objects: <Row>(sql: string) => {
      const statement = database.prepare(sql)
      return (...values) => statement.all(...values).map(row => withoutNulls(row) as Row)
    },
    object: <Row>(sql: string) => {
      const statement = database.prepare(sql)
      return (...values) => statement.get(...values) as Row | undefined
    },
    row: <Row>(sql: string) => {
      const statement = prepare(sql)
      return (...values) => statement.get(...values) as Row | undefined
    },
    write: sql => {
      const statement = prepare(sql)
      // There is no row to get; `run` would make an object to say what it changed.
      return (...values) => void statement.get(...values)
    },
    change: sql => {
      const statement = prepare(sql)
      return (...values) => Number(statement.run(...values).changes)
    },
    exec: sql => database.exec(sql),
    isTransaction: () => database.isTransaction,
    close: () => database.close(),
  }
}

function withoutNulls(row: object): object {
  return Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null))
}

/** Columns under the names that our objects have: `task_id as "taskId"`. */
export function named(columns: string): string {
  const nameOf = (column: string): string =>
    column.replace(/^.*\./, '').replace(/_(.)/g, (_, letter: string) => letter.toUpperCase())
  return columns
    .split(', ')
    .map(column => `${column} as "${nameOf(column)}"`)
    .join(', ')
}

/** Conditions for the fields that are given, and their values: a field that is not given asks nothing. */
export function whereAll(fields: { readonly [column: string]: Value | undefined }): {
  readonly sql: string
  readonly values: Value[]
} {
  const given = Object.entries(fields).flatMap(([column, value]) =>
    value === undefined ? [] : [[column, value] as const],
  )
  return {
    sql: ['true', ...given.map(([column]) => `${column} = ?`)].join(' and '),
    values: given.map(([, value]) => value),
  }
}
