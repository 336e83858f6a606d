/**
 * A copy of a data directory, while the service works in it.
 *
 *  1. The file first, then the bodies: a body is on the disk before its task is, so that all that the copy names is in it.
 *  2. It has its name when it is whole: what was cut off is called `….partial`, and taken for nothing.
 *  3. Nobody else can read it, as nobody can read the directory.
 */
import {
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
} from 'node:fs'
import { copyFile, readdir } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { TENANT_NAME } from './access/caller.ts'
import { nameAt } from './bodies/location.ts'
import { checkBackup, type BackupReading } from './check-backup.ts'
import { BODIES_DIRECTORY } from './open-stores.ts'
import { connect } from './stores/sqlite/connection.ts'
import { DATA_FILE, existingFile, sayingWhy } from './stores/sqlite/file.ts'

export interface BackupAsk {
  /** The directory of the service. */
  readonly data: string
  /** Where the copy is made; there must be nothing. */
  readonly to: string
}

const CUT_OFF = 'a backup is under way, or was cut off: then remove it, or choose another name'

/** Somebody checkpoints the log at this moment: they are done soon. */
const BUSY_TIMEOUT_MS = 10_000

/** What is there already is never written over. */
class BackupExistsError extends Error {
  readonly code = 'file-exists'
}

/** The service takes whatever is in its directory for its own, and so would the next copy. */
class BackupWithinError extends Error {
  readonly code = 'not-writable'
}

/** What is in the copy. Throws a `StoreUnavailableError`, or one of the errors above, that says what to do; then there is no copy. */
export async function backUp({ data, to: named }: BackupAsk): Promise<BackupReading> {
  const source = existingFile(data)
  // `copy/` is `copy`: what is added to a name must not become a name in it.
  const to = join(dirname(named), basename(named))
  if (isWithin(data, to)) throw new BackupWithinError(`${to} would be in ${data} itself; choose a name elsewhere`)
  const partial = `${to}.partial`
  if (existsSync(to)) throw new BackupExistsError(`${to} is there already; choose another name`)
  if (existsSync(partial)) throw new BackupExistsError(`${partial} is there already; ${CUT_OFF}`)
  sayingWhy(partial, () => mkdirSync(partial, { mode: 0o700 }))
  try {
    copyData(source, join(partial, DATA_FILE))
    await copyBodies(join(data, BODIES_DIRECTORY), join(partial, BODIES_DIRECTORY))
    const reading = await checkBackup(partial)
    keep(partial)
    renameSync(partial, to)
    keep(dirname(resolve(to)))
    return reading
  } catch (error) {
    rmSync(partial, { recursive: true, force: true })
    throw error
  }
}

/** However the way there is written, or leads through links. */
function isWithin(directory: string, path: string): boolean {
  const parent = dirname(resolve(path))
  if (!existsSync(parent)) return false
  const way = relative(realpathSync(directory), realpathSync(parent))
  return way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function copyData(source: string, copy: string): void {
  // SQLite takes an empty file that is there, and leaves its mode as it is.
  closeSync(openSync(copy, 'wx', 0o600))
  sayingWhy(source, () => {
    const connection = connect(source, { readOnly: true, busyTimeoutMs: BUSY_TIMEOUT_MS })
    try {
      // One moment of it, however long that takes and whatever is written meanwhile; copying pages would begin anew each time.
      connection.write('vacuum into ?')(copy)
    } finally {
      connection.close()
    }
  })
  keep(copy)
}

/** Those that have arrived; what is swept meanwhile is needed by nobody. */
async function copyBodies(from: string, to: string): Promise<void> {
  if (!existsSync(from)) return
  mkdirSync(to, { mode: 0o700 })
  for (const folder of await readdir(from)) {
    // Uploads on their way lie elsewhere, and are no bodies yet.
    if (!TENANT.test(folder)) continue
    mkdirSync(join(to, folder), { mode: 0o700 })
    for (const file of await readdir(join(from, folder))) {
      if (nameAt(`${folder}/${file}`) === undefined) continue
      const copy = join(to, folder, file)
      if (await copyUnlessGone(join(from, folder, file), copy)) keep(copy)
    }
    keep(join(to, folder))
  }
  keep(to)
}

const TENANT = new RegExp(TENANT_NAME)

async function copyUnlessGone(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL)
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false
    throw error
  }
}

/** On the disk, not only in the memory of the machine: a copy that a loss of power takes is none. */
function keep(path: string): void {
  const handle = openSync(path, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
