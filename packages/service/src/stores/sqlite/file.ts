/** The data directory: opened by one process at a time, and refused with a sentence that says what to do. */
import { accessSync, closeSync, constants, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { connect, type Connection } from './connection.ts'
import { errorOf, faultOf, foreignFault, formatFault, inUseFault, leftLogFault, lockGoneFault } from './faults.ts'
import { LOCK_FILE, readHolder, writeHolder } from './holder.ts'
import { APPLICATION_ID, createSchema, FORMAT } from './schema.ts'

export const DATA_FILE = 'tasks.db'

/** Before it, a checkpoint at the wrong moment could lose what was committed (SQLite's WAL-reset bug). */
const OLDEST_SQLITE = [3, 51, 3]

/**
 * The writer moves so long a log into the file itself; a thread of its own does long before (`checkpoint-thread.ts`). SQLite's own
 * thousand pages are full ten times a second under load, and each time commits wait for the disk twice.
 */
const MOST_LOG_PAGES = 8_000

export interface FileOptions {
  /** Where the data is; made if it is not there. */
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
  const path = dataPath(directory)
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

/** The whole store in memory: the same tables, and nothing is left when it is closed. */
export function openInMemory(): Connection {
  const connection = connect(':memory:', { busyTimeoutMs: 0 })
  createSchema(connection)
  return connection
}

/** A second connection of the process that has the lock: to read, or to move the log into the file. */
export function openBeside(directory: string, { readOnly }: { readonly readOnly: boolean }): Connection {
  const path = dataPath(directory)
  return sayingWhy(path, () => connect(path, { readOnly, busyTimeoutMs: BUSY_TIMEOUT_MS }))
}

export function dataPath(directory: string): string {
  return join(directory, DATA_FILE)
}

/** Another program that looks into the file is done soon. */
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
  const path = dataPath(directory)
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
  if (differing >= 0 && (parts[differing] ?? 0) < (OLDEST_SQLITE[differing] ?? 0))
    throw errorOf({
      code: 'store-unreachable',
      message: `this Node brings SQLite ${version}, which can damage its files; install one with ${OLDEST_SQLITE.join('.')} or later`,
    })
}

function prepareDirectory(directory: string, path: string): void {
  // Requests carry secrets: no other user of the machine may read them.
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

/** Beside a new file SQLite would delete the log, and with it commits that were never moved into the old file. */
function refuseLeftLog(path: string, log: string): void {
  const bytes = statSync(log, { throwIfNoEntry: false })?.size ?? 0
  if (bytes > 0) throw errorOf(leftLogFault(path, log))
}

/** SQLite gives the files beside it the same mode. */
function createFile(path: string): void {
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
}

/**
 * The process that has this lock is the only one that writes here. It is not on the data itself, so that a second connection
 * of this process can read; the system frees it when the process ends, however it ends.
 */
function lockDirectory(directory: string): { readonly lock: Connection; readonly file: FileIdentity } {
  const path = join(directory, LOCK_FILE)
  return sayingWhy(path, () => {
    // A user who could read it could lock it, too.
    createFile(path)
    const lock = connect(path, { busyTimeoutMs: 0 })
    try {
      const file = identify(path)
      lock.exec('pragma locking_mode = exclusive; begin exclusive')
      // Deleted in between, it would be a lock that no other process meets.
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

/**
 * SQLite does this itself for a file that is in its place; for one that was moved the rest would stay behind in the log. If there
 * is no room, the log is kept, and the next process that opens the file does it.
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
    const isEmpty = numberOf(connection, 'select count(*) from sqlite_schema') === 0
    if (!isEmpty) refuseForeign(connection, path)
    // The log is written ahead, so that readers never wait. A commit is on the disk before it is answered.
    connection.exec(`pragma journal_mode = wal; pragma synchronous = full; pragma trusted_schema = off;
      pragma wal_autocheckpoint = ${MOST_LOG_PAGES}; pragma journal_size_limit = ${2 * MOST_LOG_PAGES * 4_096}`)
    if (isEmpty) createSchema(connection)
    return connection
  } catch (error) {
    if (connection.isTransaction()) connection.exec('rollback')
    connection.close()
    throw error
  }
}

function limitFile(connection: Connection, maxFileBytes: number): void {
  const pageBytes = numberOf(connection, 'pragma page_size')
  connection.exec(`pragma max_page_count = ${Math.max(1, Math.floor(maxFileBytes / pageBytes))}`)
}

/** A file that is not ours, or that another version of the service wrote. */
export function refuseForeign(connection: Connection, path: string): void {
  if (numberOf(connection, 'pragma application_id') !== APPLICATION_ID) throw errorOf(foreignFault(path))
  const format = numberOf(connection, 'pragma user_version')
  if (format !== FORMAT) throw errorOf(formatFault(path, { is: format, known: FORMAT }))
}

export function numberOf(connection: Connection, sql: string): number {
  return connection.row<[number]>(sql)()?.[0] ?? 0
}

// ---------------------------------------------------------------- whether the files are where they were opened

/** A file as the system knows it. While it is open no other can have its number, whatever becomes of its name. */
export interface FileIdentity {
  readonly path: string
  readonly device: bigint
  readonly number: bigint
}

/** The files that a store has open for as long as it is. */
export interface OpenedFiles {
  readonly data: FileIdentity
  readonly lock: FileIdentity
}

function identify(path: string): FileIdentity {
  const { dev, ino } = statSync(path, { bigint: true })
  return { path, device: dev, number: ino }
}

/** Whether the file still stands where it was opened. */
export function isInPlace({ path, device, number }: FileIdentity): boolean {
  try {
    const { dev, ino } = statSync(path, { bigint: true })
    return dev === device && ino === number
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A directory that may not be looked into at the moment says nothing about what is in it.
    return code !== 'ENOENT' && code !== 'ENOTDIR'
  }
}

// ---------------------------------------------------------------- looking without a trace

/**
 * Whether the directory's data can have keys, told without a trace in it. A file that cannot be read may have some: whoever
 * opens it says what is wrong.
 */
export function mayHaveKeys(directory: string): boolean {
  const path = dataPath(directory)
  try {
    if (bytesOf(path) === 0) return false
    const connection = connect(withoutTrace(path), { readOnly: true, busyTimeoutMs: 0 })
    try {
      return numberOf(connection, `select count(*) from record where kind = 'key'`) > 0
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
