/** A look at a copy of a data directory: nothing is sent, nothing is written, and it may be as old as it likes. */
import { createReadStream, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DamagedBodyError, intact } from './bodies/intact.ts'
import { BODIES_DIRECTORY } from './open-stores.ts'
import { connect, type Connection } from './stores/sqlite/file/connection.ts'
import { DATA_FILE, existingFile, refuseForeign, sayingWhy } from './stores/sqlite/file/file.ts'
import { numberOf } from './stores/sqlite/file/migrate.ts'
import { FORMAT } from './stores/sqlite/file/migrations.ts'
import { StoreUnavailableError } from './stores/task-store.ts'
import { TASK_STATUSES, type StoredBody, type TaskStatus } from './task/task.ts'

export interface BackupReading {
  /** The last instant that was written in it. */
  readonly lastAt: number
  readonly tasks: { readonly [status in TaskStatus]: number }
  /** Of the file, and the newest that this version knows: an older one is brought to it by the first start, a newer one refused. */
  readonly format: number
  readonly knownFormat: number
  readonly dataBytes: number
  /** Bodies that tasks need and that lie beside the file, and how many of those are not there, or are not what was put. */
  readonly bodies: {
    readonly needed: number
    readonly missing: number
    readonly damaged: number
    /** The first of those, by name. */
    readonly unsound: readonly UnsoundBody[]
  }
}

export interface UnsoundBody {
  readonly tenant: string
  readonly bodyRef: string
  readonly is: 'missing' | 'damaged'
}

/** More than that are counted, and mended by a whole directory that is put back. */
const MOST_NAMED = 100

/** Tables of before have no bodies to look for. */
const FIRST_FORMAT_WITH_BODIES = 6

/** Whoever copies over it at this moment is done soon. */
const BUSY_TIMEOUT_MS = 2_000

/** Throws a `StoreUnavailableError` for what is no copy, or a damaged one. */
export async function checkBackup(directory: string): Promise<BackupReading> {
  const path = existingFile(directory)
  const { needed, ...reading } = sayingWhy(path, () => {
    const connection = connect(path, { readOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS })
    try {
      refuseForeign(connection, path)
      refuseDamaged(connection)
      return readingOf(connection, directory)
    } finally {
      connection.close()
    }
  })
  return { ...reading, bodies: await checkBodies(needed, join(directory, BODIES_DIRECTORY)) }
}

function refuseDamaged(connection: Connection): void {
  const [found] = connection.row<[string]>('pragma integrity_check')()!
  if (found !== 'ok') throw new StoreUnavailableError('store-corrupt', `the copy is damaged: ${found}`)
}

interface FileReading extends Omit<BackupReading, 'bodies'> {
  readonly needed: readonly NeededBody[]
}

type NeededBody = StoredBody & { readonly tenant: string; readonly location: string }

function readingOf(connection: Connection, directory: string): FileReading {
  const format = numberOf(connection, 'pragma user_version')
  const columns = TASK_STATUSES.map(status => status.toLowerCase())
  const [lastAt, ...counts] = connection.row<number[]>(`select last_at, ${columns.join(', ')} from store`)()!
  return {
    lastAt: lastAt!,
    tasks: Object.fromEntries(TASK_STATUSES.map((status, at) => [status, counts[at]])) as BackupReading['tasks'],
    format,
    knownFormat: FORMAT,
    dataBytes: statSync(join(directory, DATA_FILE)).size,
    needed: format < FIRST_FORMAT_WITH_BODIES ? [] : neededBodies(connection),
  }
}

function neededBodies(connection: Connection): readonly NeededBody[] {
  return connection
    .rows<[string, string, number, string]>('select tenant, body_ref, size_bytes, location from body where uses > 0')()
    .map(([tenant, bodyRef, sizeBytes, location]) => ({ tenant, bodyRef, sizeBytes, location }))
}

/** One after the other, and piece by piece: a body may be larger than memory. */
async function checkBodies(needed: readonly NeededBody[], directory: string): Promise<BackupReading['bodies']> {
  const found = { missing: 0, damaged: 0 }
  const unsound: UnsoundBody[] = []
  for (const body of needed) {
    const path = join(directory, body.location)
    const is = !existsSync(path) ? 'missing' : (await isIntact(path, body)) ? undefined : 'damaged'
    if (is === undefined) continue
    found[is]++
    if (unsound.length < MOST_NAMED) unsound.push({ tenant: body.tenant, bodyRef: body.bodyRef, is })
  }
  return { needed: needed.length, ...found, unsound }
}

/** Whether it has the bytes that its name promises. */
async function isIntact(path: string, body: StoredBody): Promise<boolean> {
  try {
    for await (const _ of intact(createReadStream(path), body));
    return true
  } catch (error) {
    if (error instanceof DamagedBodyError) return false
    throw error
  }
}
