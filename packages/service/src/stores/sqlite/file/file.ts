import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { connect, type Connection } from './connection.ts'
import { errorOf, faultOf, foreignFault, inUseFault, leftLogFault, lockGoneFault } from './faults.ts'
import { LOCK_FILE, readHolder, writeHolder } from './holder.ts'
import { identify, isInPlace, type FileIdentity, type OpenedFiles } from './in-place.ts'
import { diskBytes, mostLogBytes, mostLogPages } from './log-length.ts'
import { APPLICATION_ID, migrate, numberOf } from './migrate.ts'

export const DATA_FILE = 'tasks.db'

/** Before it, a checkpoint at the wrong moment could lose what was committed (SQLite's WAL-reset bug). */
const OLDEST_SQLITE = [3, 51, 3]

export interface FileOptions {
  /** Where the data is; made if it is not there. It belongs to one process at a time. */
  readonly directory: string
  /** The data file grows no further: beyond it new tasks are refused as on a full disk. Unlimited unless told. */
  readonly maxFileBytes?: number
}

export interface OpenedFile {
  readonly connection: Connection
  readonly path: string
  readonly close: () => void
}

/** Opens the directory's data for writing, alone. Throws a `StoreUnavailableError` that says what to do. */
export function openFile({ directory, maxFileBytes }: FileOptions): OpenedFile & { readonly files: OpenedFiles } {
  refuseOldSqlite()
  const path = join(directory, DATA_FILE)
  return sayingWhy(path, () => {
    prepareDirectory(directory, path)
    const { lock, file } = lockDirectory(directory)
    try {
      createFile(path)
      const connection = connectToWrite(path)
      const files = { data: identify(path), lock: file }
      if (maxFileBytes !== undefined) limitFile(connection, maxFileBytes)
      const close = (): void => {
        moveLogIntoFile(connection)
        connection.close()
        lock.close()
      }
      return { connection, path, files, close }
    } catch (error) {
      lock.close()
      throw error
    }
  })
}

/** For long reads beside the writer. */
export function openToRead({ directory }: FileOptions): OpenedFile {
  const path = join(directory, DATA_FILE)
  const connection = sayingWhy(path, () => connect(path, { readOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS }))
  return { connection, path, close: () => connection.close() }
}

/** For moving the log into the file beside the writer. */
export function openToMove({ directory }: FileOptions): OpenedFile {
  const path = join(directory, DATA_FILE)
  const connection = sayingWhy(path, () => connect(path, { busyTimeoutMs: BUSY_TIMEOUT_MS }))
  return { connection, path, close: () => connection.close() }
}

/** Somebody looks into the file with a tool of their own: they are done soon. */
const BUSY_TIMEOUT_MS = 2_000

/** Runs what may fail for the disk's sake, and says so in our words. */
export function sayingWhy<Result>(path: string, act: () => Result): Result {
  try {
    return act()
  } catch (error) {
    const fault = faultOf(error, path)
    throw fault === undefined ? error : errorOf(fault)
  }
}

/** The data file of a directory that must have one, and lets us read it. */
export function existingFile(directory: string): string {
  const path = join(directory, DATA_FILE)
  try {
    accessSync(path, constants.R_OK)
    return path
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR'
    const message = isMissing ? `there is no ${DATA_FILE} in ${directory}` : `${path} cannot be read (${code})`
    throw errorOf({ code: 'store-unreachable', message })
  }
}

function refuseOldSqlite(): void {
  const version = process.versions.sqlite ?? '0'
  const parts = version.split('.').map(Number)
  const differing = OLDEST_SQLITE.findIndex((part, at) => parts[at] !== part)
  if (differing >= 0 && (parts[differing] ?? 0) < OLDEST_SQLITE[differing]!)
    throw errorOf({
      code: 'store-unreachable',
      message: `this Node brings SQLite ${version}, which can damage its files; install one with ${OLDEST_SQLITE.join('.')} or later`,
    })
}

function prepareDirectory(directory: string, path: string): void {
  // Requests carry secrets: nobody else on the machine may read them.
  makeDirectory(resolve(directory))
  accessSync(directory, constants.R_OK | constants.W_OK | constants.X_OK)
  // SQLite would open a file that may only be read, and fail at the first write.
  if (existsSync(path)) accessSync(path, constants.R_OK | constants.W_OK)
  else refuseLeftLog(path, `${path}-wal`)
}

/** Step by step: where a file system refuses a new directory as if its parent were missing, Node would try for ever. */
function makeDirectory(directory: string): void {
  if (statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return
  if (dirname(directory) !== directory) makeDirectory(dirname(directory))
  mkdirSync(directory, { mode: 0o700 })
}

/** Beside a new file SQLite would delete the log, and with it what was committed and never moved into the old one. */
function refuseLeftLog(path: string, log: string): void {
  const bytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  if (bytes > 0) throw errorOf(leftLogFault(path, log))
}

/** SQLite gives the files beside it the same mode. */
function createFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
}

/**
 * Whoever has this lock is the only process that writes here. It is not on the data itself, so that a second connection
 * of this process can read; the system frees it when the process ends, however it ends.
 */
function lockDirectory(directory: string): { readonly lock: Connection; readonly file: FileIdentity } {
  const path = join(directory, LOCK_FILE)
  return sayingWhy(path, () => {
    // Whoever could read it could lock it, too.
    createFile(path)
    const lock = connect(path, { busyTimeoutMs: 0 })
    try {
      const file = identify(path)
      leaveNote(lock)
      lock.exec('pragma locking_mode = exclusive; begin exclusive')
      // Deleted in between, it would be a lock that nobody else meets.
      if (!isInPlace(file)) throw errorOf(lockGoneFault(path))
      writeHolder(directory, { pid: process.pid })
      return { lock, file }
    } catch (error) {
      lock.close()
      const fault = faultOf(error, path)
      throw fault?.code === 'store-in-use' ? errorOf(inUseFault(readHolder(directory)?.pid)) : error
    }
  })
}

/** For whoever looks into the file before deleting it. */
function leaveNote(lock: Connection): void {
  try {
    lock.exec(`pragma page_size = 512; begin exclusive; create table if not exists lock (${NOTE}); commit`)
  } catch {
    // Somebody has the lock, or the disk is full: the first is found out next, and the second is no reason not to start.
    if (lock.isTransaction()) lock.exec('rollback')
  }
}

const NOTE =
  'note /* Locked while the service runs, free when it has ended. Deleting this file does not unlock the directory. */'

/**
 * SQLite does this itself for a file that is in its place; one that was moved gets here what else would stay behind in the
 * log. If there is no room, the log is kept, and the next who opens the file does it.
 */
function moveLogIntoFile(connection: Connection): void {
  try {
    connection.exec('pragma wal_checkpoint(truncate)')
  } catch (error) {
    if (faultOf(error, '') === undefined) throw error
  }
}

function connectToWrite(path: string): Connection {
  const connection = connect(path, { busyTimeoutMs: BUSY_TIMEOUT_MS })
  try {
    refuseForeign(connection, path)
    // The log is written ahead, so that readers never wait. SQLite waits for the disk before it moves the log into the
    // file; before a commit is answered, `Disk` does.
    connection.exec('pragma journal_mode = wal; pragma synchronous = normal; pragma trusted_schema = off')
    const allBytes = diskBytes(dirname(path))
    connection.exec(`pragma wal_autocheckpoint = ${mostLogPages(allBytes)}`)
    connection.exec(`pragma journal_size_limit = ${mostLogBytes(allBytes)}`)
    migrate(connection, path)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

function limitFile(connection: Connection, maxFileBytes: number): void {
  const pageBytes = numberOf(connection, 'pragma page_size')
  connection.exec(`pragma max_page_count = ${Math.max(1, Math.floor(maxFileBytes / pageBytes))}`)
}

export function refuseForeign(connection: Connection, path: string): void {
  const isEmpty = numberOf(connection, 'select count(*) from sqlite_schema') === 0
  if (!isEmpty && numberOf(connection, 'pragma application_id') !== APPLICATION_ID) throw errorOf(foreignFault(path))
}
