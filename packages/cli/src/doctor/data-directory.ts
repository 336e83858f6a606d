/** The directory of the embedded store, where it is on this machine: who may read it, how much room, how fast. */
import { systemClock } from '@secondwind/resilience'
import { sayMs } from '@secondwind/lab'
import type { Room } from '@secondwind/service'
import {
  accessSync,
  closeSync,
  constants,
  fdatasyncSync,
  mkdtempSync,
  openSync,
  rmdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { typed } from '../input/typed.ts'
import { closedToUs, type Closed } from '../service/closed-to-us.ts'
import { bad, ok, warn, type Finding } from './finding.ts'

const MEBIBYTE = 1_048_576

export async function checkDataDirectory(given: string): Promise<readonly Finding[]> {
  const directory = resolve(given)
  const closed = closedToUs(directory, constants.R_OK | constants.W_OK | constants.X_OK)
  if (closed !== undefined) return [checkClosed(closed, directory)]
  const there = statSync(directory, { throwIfNoEntry: false })
  if (there === undefined) return [checkMissing(directory)]
  if (!there.isDirectory()) return [bad('data', `${directory} is no directory.`, 'secondwind serve --data <directory>')]
  if (!mayWrite(directory))
    return [bad('data', `${directory} cannot be written to.`, 'secondwind serve --data <directory>')]
  // Not before it is needed: the store is large.
  const { roomAt } = await import('@secondwind/service')
  return [
    checkMode(directory, there.mode),
    checkFileSystem(statfsSync(directory).type),
    checkRoom(await roomAt(directory)),
    checkDisk(() => syncMs(directory)),
  ]
}

/** A service may be at work there, and would lose its directory to whoever takes it over: only its owner looks into it. */
function checkClosed({ place, owner, asOwner }: Closed, directory: string): Finding {
  const say = `${place} belongs to ${owner}, and is closed to you: what is in it was not looked at.`
  return bad('data', say, asOwner(typed(['doctor', '--data', directory])))
}

/** It is made at the first start, if its place can be written to. */
function checkMissing(directory: string): Finding {
  let place = dirname(directory)
  while (statSync(place, { throwIfNoEntry: false }) === undefined && place !== dirname(place)) place = dirname(place)
  return statSync(place).isDirectory() && canMakeIn(place)
    ? ok('data', `${directory} is made at the first start.`)
    : bad('data', `${directory} cannot be made in ${place}.`, 'secondwind serve --data <directory>')
}

/** Tried, and taken away again: there are places, such as /proc, that permit it and cannot do it. */
function canMakeIn(place: string): boolean {
  try {
    rmdirSync(mkdtempSync(join(place, '.doctor-')))
    return true
  } catch {
    return false
  }
}

function mayWrite(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Bodies and headers of tasks, keys among them, are in these files. */
function checkMode(directory: string, mode: number): Finding {
  return (mode & 0o077) === 0
    ? ok('permissions', `Only you can read ${directory}.`)
    : warn('permissions', `Others on this machine can look into ${directory}.`, `chmod 700 ${directory}`)
}

/** By the numbers that Linux has for them. */
const ON_NETWORK: { readonly [type: number]: string } = { 0x6969: 'NFS', 0xff534d42: 'CIFS', 0xfe534d42: 'SMB' }
const IN_MEMORY: { readonly [type: number]: string } = { 0x01021994: 'tmpfs', 0x858458f6: 'ramfs' }

export function checkFileSystem(type: number): Finding {
  const elsewhere = 'secondwind serve --data <directory on a local disk>'
  if (ON_NETWORK[type] !== undefined)
    return bad('file system', `It is on ${ON_NETWORK[type]}, whose locks SQLite cannot rely on.`, elsewhere)
  if (IN_MEMORY[type] !== undefined)
    return warn('file system', `It is on ${IN_MEMORY[type]}: everything is lost when the machine stops.`, elsewhere)
  return ok('file system', 'It is on a local disk.')
}

/** A day of tasks of a busy service. */
const LITTLE_ROOM_BYTES = 1_024 * MEBIBYTE

/** By the rule of the service itself, which takes nothing in while the disk is nearly full. */
export function checkRoom({ freeBytes, allBytes, isBelowFloor }: Room): Finding {
  const mebibytes = (bytes: number): string => Math.floor(bytes / MEBIBYTE).toLocaleString('en')
  const say = `${mebibytes(freeBytes)} MiB of ${mebibytes(allBytes)} MiB are free.`
  const next = 'make room: with a full disk no task is taken'
  if (isBelowFloor) return bad('room', `${say} With so little the service takes no tasks and no uploads.`, next)
  return freeBytes < LITTLE_ROOM_BYTES ? warn('room', say, next) : ok('room', say)
}

/** A disk that takes no write is a finding, and keeps nobody from the others. */
export function checkDisk(measureMs: () => number): Finding {
  try {
    return checkSync(measureMs())
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    return bad(
      'disk',
      `It takes no write: ${message}.`,
      'make room, or choose another disk: no task is taken like this',
    )
  }
}

const SYNCS = 20
const SLOW_SYNC_MS = 20
const VERY_SLOW_SYNC_MS = 200

/** Every answer to a task waits for one of these. */
export function checkSync(ms: number): Finding {
  const say = `The disk takes ${sayMs(Number(ms.toPrecision(2)))} to make a write durable.`
  const next = 'choose a faster disk: no task is accepted sooner than that'
  if (ms >= VERY_SLOW_SYNC_MS) return bad('disk', say, next)
  return ms >= SLOW_SYNC_MS ? warn('disk', say, next) : ok('disk', say)
}

/** The middle of some, in a file of its own that is taken away again. */
function syncMs(directory: string): number {
  const path = join(directory, `.doctor-${process.pid}`)
  const file = openSync(path, 'wx', 0o600)
  const page = Buffer.alloc(4_096)
  try {
    const times = Array.from({ length: SYNCS }, () => {
      const startedAt = systemClock.monotonic()
      writeSync(file, page)
      fdatasyncSync(file)
      return systemClock.monotonic() - startedAt
    })
    return times.toSorted((one, other) => one - other)[SYNCS / 2]!
  } finally {
    closeSync(file)
    rmSync(path)
  }
}
