/**
 * Loaded before a lap of `unsynced`, in every thread: the very same store, but a commit does not wait for the disk.
 * The service has no setting for this, and must not have one.
 */
import { DatabaseSync } from 'node:sqlite'

const exec: (this: DatabaseSync, sql: string) => void = Reflect.get(DatabaseSync.prototype, 'exec')
const FULL = /pragma synchronous = full/

DatabaseSync.prototype.exec = function (sql) {
  if (/journal_mode = wal/.test(sql) && !FULL.test(sql)) throw new Error('the store syncs in a way not known here')
  return exec.call(this, sql.replace(FULL, 'pragma synchronous = off'))
}
