/** A look at a copy of a data directory: nothing is sent, nothing is written, and it may be as old as it likes. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { BODIES_DIRECTORY } from './open-stores.ts'
import { connect, type Connection } from './stores/sqlite/file/connection.ts'
import { DATA_FILE, refuseForeign, sayingWhy } from './stores/sqlite/file/file.ts'
import { numberOf } from './stores/sqlite/file/migrate.ts'
import { FORMAT } from './stores/sqlite/file/migrations.ts'
import { StoreUnavailableError } from './stores/task-store.ts'
import { TASK_STATUSES, type TaskStatus } from './task/task.ts'

export interface BackupReading {
  /** The last instant that was written in it. */
  readonly lastAt: number
  readonly tasks: { readonly [status in TaskStatus]: number }
  /** Of the file, and the newest that this version knows: an older one is brought to it by the first start, a newer one refused. */
  readonly format: number
  readonly knownFormat: number
  readonly dataBytes: number
  /** Bodies that tasks need and that lie beside the file, and how many of those are not there. */
  readonly bodies: { readonly needed: number; readonly missing: number }
}

/** Tables of before have no bodies to look for. */
const FIRST_FORMAT_WITH_BODIES = 6

/** Whoever copies over it at this moment is done soon. */
const BUSY_TIMEOUT_MS = 2_000

/** Throws a `StoreUnavailableError` for what is no copy, or a damaged one. */
export function checkBackup(directory: string): BackupReading {
  const path = join(directory, DATA_FILE)
  if (!existsSync(path))
    throw new StoreUnavailableError('store-unreachable', `there is no ${DATA_FILE} in ${directory}`)
  return sayingWhy(path, () => {
    const connection = connect(path, { readOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS })
    try {
      refuseForeign(connection, path)
      refuseDamaged(connection)
      return readingOf(connection, directory)
    } finally {
      connection.close()
    }
  })
}

function refuseDamaged(connection: Connection): void {
  const [found] = connection.row<[string]>('pragma integrity_check')()!
  if (found !== 'ok') throw new StoreUnavailableError('store-corrupt', `the copy is damaged: ${found}`)
}

function readingOf(connection: Connection, directory: string): BackupReading {
  const format = numberOf(connection, 'pragma user_version')
  const columns = TASK_STATUSES.map(status => status.toLowerCase())
  const [lastAt, ...counts] = connection.row<number[]>(`select last_at, ${columns.join(', ')} from store`)()!
  const needed = format < FIRST_FORMAT_WITH_BODIES ? [] : neededBodies(connection)
  return {
    lastAt: lastAt!,
    tasks: Object.fromEntries(TASK_STATUSES.map((status, at) => [status, counts[at]])) as BackupReading['tasks'],
    format,
    knownFormat: FORMAT,
    dataBytes: statSync(join(directory, DATA_FILE)).size,
    bodies: {
      needed: needed.length,
      missing: needed.filter(location => !existsSync(join(directory, BODIES_DIRECTORY, location))).length,
    },
  }
}

function neededBodies(connection: Connection): readonly string[] {
  return connection
    .rows<[string]>('select location from body where uses > 0')()
    .map(([location]) => location)
}
