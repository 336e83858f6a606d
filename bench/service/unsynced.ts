/**
 * Loaded before a lap of `unsynced`, in every thread: the very same store, but nothing waits for the disk.
 * The service has no setting for this, and must not have one.
 */
import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { DatabaseSync } from 'node:sqlite'

const exec: (this: DatabaseSync, sql: string) => void = Reflect.get(DatabaseSync.prototype, 'exec')
const NORMAL = /pragma synchronous = normal/

DatabaseSync.prototype.exec = function (sql) {
  if (/journal_mode = wal/.test(sql) && !NORMAL.test(sql)) throw new Error('the store syncs in a way not known here')
  return exec.call(this, sql.replace(NORMAL, 'pragma synchronous = off'))
}

Reflect.set(fs, 'fdatasync', (_file: number, done: () => void) => setImmediate(done))
syncBuiltinESMExports()
