/**
 * Bodies as files of one directory.
 *
 *   _arriving/5f0c…  ── whole, and on the disk ──►  acme/sha256-9f86….5f0c…
 *
 *  1. A file in the folder of a tenant is whole: it is written elsewhere, synced, and only then moved there.
 *  2. No other user than the service's own can read one.
 *  3. What a process has not finished is removed when the next one starts.
 *  4. Every path is a location by `location.ts`. No tenant is called `_arriving`, for its name begins with a letter or a digit.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, open, opendir, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { TENANT_NAME } from '../../access/caller.ts'
import type { StoredBody } from '../../task/task.ts'
import type { DiskFloor } from '../../upkeep/disk-floor.ts'
import type { BodyStore, ComingBody } from '../body-store.ts'
import { measured } from '../intact.ts'
import { locationOf, nameAt, RANDOM } from '../location.ts'
import { sayingWhy, sayingWhyUnread } from './faults.ts'

export interface DirectoryBodiesOptions {
  readonly directory: string
  /** Refuses bodies while the disk is nearly full. */
  readonly floor?: Pick<DiskFloor, 'admit'>
}

const ARRIVING = '_arriving'
const UNFINISHED = new RegExp(`^${RANDOM}$`)
const TENANT = new RegExp(TENANT_NAME)
const OWNER_ONLY = { directory: 0o700, file: 0o600 }

export async function openDirectoryBodies(options: DirectoryBodiesOptions): Promise<BodyStore> {
  const { directory, floor } = options
  const settled = new Set<string>()
  const pathOf = (location: string): string => join(directory, location)

  /** A folder that is on the disk, too. */
  const settle = async (folder: string): Promise<void> => {
    if (settled.has(folder)) return
    await mkdir(pathOf(folder), { recursive: true, mode: OWNER_ONLY.directory })
    await syncDirectory(directory)
    settled.add(folder)
  }
  await sayingWhy(async () => {
    await settle(ARRIVING)
    await removeUnfinished(pathOf(ARRIVING))
  })

  return {
    kind: 'directory',
    async put({ tenant, ...coming }) {
      const random = randomBytes(16).toString('hex')
      const arriving = pathOf(`${ARRIVING}/${random}`)
      try {
        const stored = await writeWhole(arriving, coming, floor)
        const location = locationOf({ tenant, ...stored }, random)
        await sayingWhy(async () => {
          await settle(tenant)
          await rename(arriving, pathOf(location))
          await syncDirectory(pathOf(tenant))
        })
        return { tenant, location, ...stored }
      } catch (error) {
        await rm(arriving, { force: true })
        throw error
      }
    },
    async read(location) {
      if (nameAt(location) === undefined) return undefined
      const handle = await sayingWhyUnread(() => openUnlessGone(pathOf(location)))
      return handle && bytesOf(handle)
    },
    async remove(location) {
      if (nameAt(location) !== undefined) await rm(pathOf(location), { force: true })
    },
    async *putBefore(instant) {
      for await (const location of locationsIn(directory)) if (await isOlder(pathOf(location), instant)) yield location
    },
  }
}

/** Trouble with the disk is said in the store's words. Trouble with the sender of the bytes stays as it is. */
async function writeWhole(
  path: string,
  { bytes, mostBytes }: Omit<ComingBody, 'tenant'>,
  floor: DirectoryBodiesOptions['floor'],
): Promise<StoredBody> {
  await floor?.admit()
  const handle = await sayingWhy(() => open(path, 'wx', OWNER_ONLY.file))
  try {
    const stored = await measured(bytes, mostBytes, chunk =>
      sayingWhy(async () => {
        await floor?.admit(chunk.length)
        await handle.writeFile(chunk)
      }),
    )
    await sayingWhy(() => handle.sync())
    return stored
  } finally {
    await handle.close()
  }
}

/** One process has the directory: no other one is still writing these. */
async function removeUnfinished(folder: string): Promise<void> {
  for (const file of await readdir(folder)) if (UNFINISHED.test(file)) await rm(join(folder, file), { force: true })
}

async function openUnlessGone(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** The file is closed at the end, or when its reader stops. */
async function* bytesOf(handle: FileHandle): AsyncIterable<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = handle.createReadStream()[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await sayingWhyUnread(() => chunks.next())
      if (next.done === true) return
      yield next.value
    }
  } finally {
    await chunks.return?.()
  }
}

/** A name is on the disk when its directory is. */
async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A tenant may have a hundred thousand files: their names are read a few at a time, in no order. */
async function* locationsIn(directory: string): AsyncIterable<string> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const tenant = entry.name
    if (!entry.isDirectory() || !TENANT.test(tenant)) continue
    for await (const { name } of await opendir(join(directory, tenant))) {
      const location = `${tenant}/${name}`
      if (nameAt(location) !== undefined) yield location
    }
  }
}

async function isOlder(path: string, instant: number): Promise<boolean> {
  try {
    return (await stat(path)).mtimeMs < instant
  } catch (error) {
    if (isGone(error)) return false
    throw error
  }
}

function isGone(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT'
}
