import { connect, type Connection } from './connection.ts'
import { errorOf, faultOf, newerFault, unfitFault } from './faults.ts'
import { MIGRATIONS, type Migration } from './migrations.ts'

/** Marks a file as ours: "2ndW" in the header that SQLite leaves to applications. */
export const APPLICATION_ID = 0x326e6457

/** Applies what the file lacks, all of it or nothing: a file that cannot be brought to this format stays in its own. */
export function migrate(connection: Connection, path: string, migrations: readonly Migration[] = MIGRATIONS): void {
  const is = numberOf(connection, 'pragma user_version')
  const known = migrations.length
  if (is > known) throw errorOf(newerFault(path, { is, known }))
  connection.exec('begin immediate')
  try {
    apply(connection, migrations.slice(is))
    // A file that is as it should be is not written: it opens on a full disk, too.
    if (is < known) connection.exec(`pragma application_id = ${APPLICATION_ID}; pragma user_version = ${known}`)
    const lacks = lackingOf(connection, migrations)
    if (lacks.length > 0) throw errorOf(unfitFault(path, { is, why: `it lacks ${lacks.join(', ')}` }))
    connection.exec('commit')
  } catch (error) {
    // Some errors have ended the transaction already.
    if (connection.isTransaction()) connection.exec('rollback')
    // A step that went well with every file of its format before: this one is not as it should be.
    if (isOfSqlite(error) && faultOf(error, path) === undefined)
      throw errorOf(unfitFault(path, { is, why: (error as Error).message }))
    throw error
  }
}

export function numberOf(connection: Connection, sql: string): number {
  return connection.row<[number]>(sql)()![0]
}

function apply(connection: Connection, migrations: readonly Migration[]): void {
  for (const migration of migrations)
    if (typeof migration === 'string') connection.exec(migration)
    else migration(connection)
}

/** What a new file has and this one has not: no statement should be the first to find out. */
function lackingOf(connection: Connection, migrations: readonly Migration[]): readonly string[] {
  const model = connect(':memory:', { busyTimeoutMs: 0 })
  try {
    apply(model, migrations)
    const columns = new Set(columnsOf(connection))
    return columnsOf(model).filter(column => !columns.has(column))
  } finally {
    model.close()
  }
}

function columnsOf(connection: Connection): readonly string[] {
  const read = connection.rows<[string]>(
    `select tables.name || '.' || columns.name from sqlite_schema tables, pragma_table_info(tables.name) columns
     where tables.type = 'table' order by 1`,
  )
  return read().map(([column]) => column)
}

function isOfSqlite(error: unknown): boolean {
  return (error as { code?: unknown }).code === 'ERR_SQLITE_ERROR'
}
