/** A look at a copy of a data directory: nothing is sent, nothing is written, and it may be as old as it likes. */
import { strict as assert } from 'node:assert'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DamagedBodyError, intact } from './bodies/intact.ts'
import { nameAt } from './bodies/location.ts'
import { BODIES_DIRECTORY } from './open-stores.ts'
import { connect, named, type Connection } from './stores/sqlite/connection.ts'
import { DATA_FILE, existingFile, numberOf, refuseForeign, sayingWhy } from './stores/sqlite/file.ts'
import { StoreUnavailableError } from './stores/store.ts'
import { TASK_STATUSES, type StoredBody, type TaskStatus } from './task/task.ts'

export interface BackupReading {
  /** The last instant that was written in it. */
  readonly lastAt: number
  readonly tasks: { readonly [status in TaskStatus]: number }
  /** Of the file: a file of another format is refused. */
  readonly format: number
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

/** Another program that copies over it at this moment is done soon. */
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
  const [found] = connection.row<[string]>('pragma integrity_check')() ?? []
  if (found !== 'ok') throw new StoreUnavailableError('store-corrupt', `the copy is damaged: ${found}`)
}

interface FileReading extends Omit<BackupReading, 'bodies'> {
  readonly needed: readonly NeededBody[]
}

type NeededBody = StoredBody & { readonly tenant: string; readonly location: string }

function readingOf(connection: Connection, directory: string): FileReading {
  const sums = TASK_STATUSES.map(status => `coalesce(sum(${status.toLowerCase()}), 0) as ${status}`)
  const [tasks] = connection.objects<BackupReading['tasks']>(`select ${sums.join(', ')} from lane`)()
  assert(tasks !== undefined, 'a sum is one row')
  const lastAt = numberOf(connection, 'select last_at from store')
  return {
    lastAt,
    tasks,
    format: numberOf(connection, 'pragma user_version'),
    dataBytes: statSync(join(directory, DATA_FILE)).size,
    needed: neededBodies(connection, lastAt),
  }
}

/** Other bodies may be swept at any time. */
function neededBodies(connection: Connection, at: number): readonly NeededBody[] {
  const columns = named('tenant, body_ref, size_bytes, location')
  return connection.objects<NeededBody>(`select ${columns} from body where needed_until > ?`)(at)
}

/** One after the other, and piece by piece: a body may be larger than memory. */
async function checkBodies(needed: readonly NeededBody[], directory: string): Promise<BackupReading['bodies']> {
  const found = { missing: 0, damaged: 0 }
  const unsound: UnsoundBody[] = []
  for (const body of needed) {
    // A location that is not of this body could lead anywhere: the copy was changed.
    const name = nameAt(body.location)
    const isOwn = name?.tenant === body.tenant && name.bodyRef === body.bodyRef
    const path = join(directory, body.location)
    const is = !isOwn || !existsSync(path) ? 'missing' : (await isIntact(path, body)) ? undefined : 'damaged'
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
