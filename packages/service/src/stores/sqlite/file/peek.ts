import { statSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { connect } from './connection.ts'
import { DATA_FILE } from './file.ts'
import { numberOf } from './migrate.ts'

/**
 * Whether the directory's data can have keys, told without a trace in it. A file that cannot be read may have some: whoever
 * opens it says what is wrong.
 */
export function mayHaveKeys(directory: string): boolean {
  const path = join(directory, DATA_FILE)
  try {
    if (bytesOf(path) === 0) return false
    const connection = connect(withoutTrace(path), { readOnly: true, busyTimeoutMs: 0 })
    try {
      // Files of the first format had no records at all.
      const hasRecords = numberOf(connection, `select count(*) from sqlite_schema where name = 'record'`) > 0
      return hasRecords && numberOf(connection, `select count(*) from record where kind = 'key'`) > 0
    } finally {
      connection.close()
    }
  } catch {
    return true
  }
}

/** Without a log the file is all there is; SQLite would make an empty one, and leave it, unless it is told so. */
function withoutTrace(path: string): string {
  return bytesOf(`${path}-wal`) > 0 ? path : `${pathToFileURL(path).href}?immutable=1`
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
