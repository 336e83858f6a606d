import { basename } from 'node:path'
import { StoreUnavailableError } from '../store.ts'

/** Why the store cannot do its work, as plain data: errors lose their class on the way between threads. */
export interface Fault {
  readonly code: StoreUnavailableError['code']
  readonly message: string
  /** The disk may have dropped what it was given, and says so once: nothing more may be written. */
  readonly isUnkept?: true
}

export function errorOf({ code, message }: Fault): StoreUnavailableError {
  return new StoreUnavailableError(code, message)
}

/** SQLite's primary result codes (sqlite.org/rescode.html) that are about the file or the disk. */
const READONLY = 8
const BUSY = 5
const LOCKED = 6
const CORRUPT = 11
const FULL = 13
const CANNOT_OPEN = 14
const NOT_A_DATABASE = 26
/** The disk did not keep what was written: IOERR_FSYNC, IOERR_DIR_FSYNC. */
const UNKEPT = new Set([1_034, 1_290])
/** All others: a statement of ours is wrong, and no sentence about the disk would help. */
const OURS = new Set([1, 2, 12, 17, 18, 19, 20, 21, 25])

/**
 * What SQLite or the file system says, in words that say what to do; undefined for what is neither's. What can happen while
 * the service runs is told to whoever asks it: the file is named, and not where it lies on this machine.
 */
export function faultOf(error: unknown, path: string): Fault | undefined {
  const { code, errcode, errstr } = error as { code?: unknown; errcode?: unknown; errstr?: unknown }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') return readOnlyFault(path)
  if (code === 'ENOSPC' || code === 'EDQUOT') return fullFault(path)
  if (typeof code === 'string' && /^E[A-Z]+$/.test(code)) return unreachableFault(path, code)
  if (typeof errcode !== 'number') return undefined
  if (UNKEPT.has(errcode)) return unkeptFault(path, String(errstr))
  // The lower byte is the primary code; the rest says where it happened.
  const primary = errcode & 0xff
  switch (primary) {
    case FULL:
      return fullFault(path)
    // The directory is there: what keeps a file in it from being opened is nearly always a right.
    case CANNOT_OPEN:
    case READONLY:
      return readOnlyFault(path)
    case CORRUPT:
      return { code: 'store-corrupt', message: `${basename(path)} is damaged (${String(errstr)}); ${RESTORE}` }
    case NOT_A_DATABASE:
      return foreignFault(path)
    case BUSY:
    case LOCKED:
      return inUseFault()
  }
  return OURS.has(primary) ? undefined : unreachableFault(path, String(errstr))
}

const RESTORE = 'stop the service, put the file aside, and restore it from a copy'

function fullFault(path: string): Fault {
  return {
    code: 'store-full',
    message: `the disk of ${basename(path)} is full; nothing of this call was written; make room, and work goes on by itself`,
  }
}

function readOnlyFault(path: string): Fault {
  return {
    code: 'store-read-only',
    message: `${basename(path)} cannot be written; let the user of this process write there, or choose another directory`,
  }
}

export function foreignFault(path: string): Fault {
  return {
    code: 'store-corrupt',
    message: `${path} is no data file of this service, or its beginning is damaged; move it away, or choose another directory`,
  }
}

export function formatFault(path: string, { is, known }: { is: number; known: number }): Fault {
  return {
    code: 'store-unreachable',
    message: `${path} was written by another version (its format is ${is}, this one reads ${known}); start that version, or choose another directory`,
  }
}

export function inUseFault(pid?: number): Fault {
  const who = pid === undefined ? 'another process' : `process ${pid}`
  return { code: 'store-in-use', message: `its data is in use by ${who}; stop that one, or choose another directory` }
}

export function dataGoneFault(path: string): Fault {
  return {
    code: 'store-unreachable',
    message: `${basename(path)} was moved, deleted or replaced while it was open; what was accepted before is worked off as long as this process lives, and is gone with it unless the file was only moved; nothing new is taken; put the file, or a backup, in its place before the service is started again`,
  }
}

export function lockGoneFault(path: string): Fault {
  return {
    code: 'store-unreachable',
    message: `${basename(path)} was moved, deleted or replaced, and with it the lock: another process may work in this directory, so that this one writes nothing more; see that only one runs, and start it again`,
  }
}

function unkeptFault(path: string, why: string): Fault {
  return {
    code: 'store-unreachable',
    message: `the disk of ${basename(path)} could not keep what was written (${why}); whether the last calls are on it is not known, so that nothing more is written; look at the disk, and start the service again`,
    isUnkept: true,
  }
}

export function leftLogFault(path: string, log: string): Fault {
  return {
    code: 'store-unreachable',
    message: `${path} is gone, but ${log}, which holds its newest tasks, is still there; put the file back, or move the log away as well to begin anew`,
  }
}

function unreachableFault(path: string, why: string): Fault {
  return {
    code: 'store-unreachable',
    message: `${basename(path)} cannot be read or written (${why}); look at the disk, and start the service again`,
  }
}
