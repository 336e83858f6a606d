/**
 * Bodies as files of one directory.
 *
 *   arriving/5f0c…  ── whole, and on the disk ──►  5f/0c…
 *
 *  1. A file that has its place is whole: it is written elsewhere, synced, and only then moved there.
 *  2. Nobody but the service's own user can read one.
 *  3. What a process has not finished is gone when the next one starts.
 *  4. No part of a path comes from outside: a location is what was made up here, or nothing.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { cursorOf } from '../../stores/cursor.ts'
import type { DiskFloor } from '../../upkeep/disk-floor.ts'
import type { BodyStore, ByteChunks } from '../body-store.ts'
import { measured, type Measured } from '../measured.ts'
import { sayingWhy, sayingWhyUnread } from './faults.ts'

export interface DirectoryBodiesOptions {
  readonly directory: string
  /** Refuses bodies while the disk is nearly full. */
  readonly floor?: Pick<DiskFloor, 'admit'>
}

const ARRIVING = 'arriving'
const FOLDER = /^(?:arriving|[\da-f]{2})$/
const LOCATION = /^(?:arriving|[\da-f]{2})\/[\da-f]{30}$/
const OWNER_ONLY = { directory: 0o700, file: 0o600 }

const CURSOR = cursorOf('bodies', 'string')

export async function openDirectoryBodies(options: DirectoryBodiesOptions): Promise<BodyStore> {
  const { directory, floor } = options
  const settled = new Set<string>()
  const pathOf = (location: string): string => join(directory, location)

  /** The folder of a location, there to stay. */
  const settle = async (folder: string): Promise<void> => {
    if (settled.has(folder)) return
    await mkdir(pathOf(folder), { recursive: true, mode: OWNER_ONLY.directory })
    await syncDirectory(directory)
    settled.add(folder)
  }
  await sayingWhy(async () => {
    await settle(ARRIVING)
    await removeUnfinished(directory)
  })

  return {
    kind: 'directory',
    async put(bytes, mostBytes) {
      const name = randomBytes(16).toString('hex')
      const [folder, file] = [name.slice(0, 2), name.slice(2)]
      const arriving = pathOf(`${ARRIVING}/${file}`)
      const location = `${folder}/${file}`
      try {
        const known = await writeWhole(arriving, { bytes, mostBytes, floor })
        await sayingWhy(async () => {
          await settle(folder)
          await rename(arriving, pathOf(location))
          await syncDirectory(pathOf(folder))
        })
        return { location, ...known }
      } catch (error) {
        await rm(arriving, { force: true })
        throw error
      }
    },
    async read(location) {
      if (!LOCATION.test(location)) return undefined
      const handle = await sayingWhyUnread(() => openUnlessGone(pathOf(location)))
      return handle && bytesOf(handle)
    },
    async remove(location) {
      if (LOCATION.test(location)) await rm(pathOf(location), { force: true })
    },
    async list({ putBefore, cursor, limit }) {
      const [behind] = cursor === undefined ? [''] : CURSOR.read(cursor)
      const items: string[] = []
      for await (const location of locationsBehind(directory, behind)) {
        if (!(await isOlder(pathOf(location), putBefore))) continue
        if (items.length === limit) return { items, nextCursor: CURSOR.write([items.at(-1)!]) }
        items.push(location)
      }
      return { items }
    },
  }
}

interface Arriving {
  readonly bytes: ByteChunks
  readonly mostBytes: number
  readonly floor: DirectoryBodiesOptions['floor'] | undefined
}

/** What goes wrong with the disk is said in the store's words; what goes wrong with whoever sends it stays as it is. */
async function writeWhole(path: string, { bytes, mostBytes, floor }: Arriving): Promise<Measured> {
  await floor?.admit()
  const handle = await sayingWhy(() => open(path, 'wx', OWNER_ONLY.file))
  try {
    const known = await measured(bytes, mostBytes, chunk =>
      sayingWhy(async () => {
        await floor?.admit(chunk.length)
        await handle.writeFile(chunk)
      }),
    )
    await sayingWhy(() => handle.sync())
    return known
  } finally {
    await handle.close()
  }
}

/** One process has the directory: what arrived when the last one died arrives no more. */
async function removeUnfinished(directory: string): Promise<void> {
  for (const file of await readdir(join(directory, ARRIVING))) {
    const location = `${ARRIVING}/${file}`
    if (LOCATION.test(location)) await rm(join(directory, location), { force: true })
  }
}

async function openUnlessGone(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

/** The file is closed at the end, or when whoever reads it stops. */
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

/** In order of their text, a folder at a time: so many names are in memory at once. */
async function* locationsBehind(directory: string, behind: string): AsyncIterable<string> {
  for (const folder of (await readdir(directory)).toSorted()) {
    if (!FOLDER.test(folder) || `${folder}/\u{10FFFF}` < behind) continue
    for (const file of (await readdir(join(directory, folder))).toSorted()) {
      const location = `${folder}/${file}`
      if (location > behind && LOCATION.test(location)) yield location
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
