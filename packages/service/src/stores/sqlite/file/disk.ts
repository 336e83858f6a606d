import { systemClock } from '@secondwind/resilience'
import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

/** Makes what was written survive a loss of power. */
export interface Disk extends Keeping {
  /** Resolves when all that was moved out of the log into the file is on the disk. */
  keepMoved(): Promise<void>
  /** Once no connection is open: to close a file gives up all locks that this process has on it. */
  close(): void
}

/** Each resolves when all that was written before is on the disk. */
export interface Keeping {
  /** At once: somebody waits for it. */
  keep(): Promise<void>
  /** Soon, or with whoever comes before that and waits: then one wait serves several commits. */
  keepSoon(): Promise<void>
  /** Somebody waits for what others keep soon, if anything. */
  hurry(): void
}

const sync = promisify(fdatasync)

/** About ten waits for a disk, and a few commits under load. Whoever settles has no more to do with it meanwhile. */
const SOON_MS = 3

/**
 * The disk under the log that SQLite writes every commit to. SQLite can wait for it at each commit by itself
 * (`synchronous = full`), but then the thread that commits stands still for as long, and so does all that could begin
 * without the disk. Here a thread of the system waits, and the next commit is made meanwhile.
 */
export function openDisk(dataPath: string): Disk {
  const log = openSync(`${dataPath}-wal`, 'r+')
  const data = openSync(dataPath, 'r+')
  const keep = oneForAll(() => sync(log))
  return {
    ...soonOrNow(keep, () => systemClock.sleep(SOON_MS)),
    keepMoved: () => sync(data),
    close() {
      closeSync(log)
      closeSync(data)
    },
  }
}

/** What is kept soon goes along with what is kept now, for it was written before. */
export function soonOrNow(keep: () => Promise<void>, soon: () => Promise<void>): Keeping {
  let waiting: Soon | undefined
  const keepNow = (): Promise<void> => {
    const kept = keep()
    waiting?.resolve(kept)
    waiting = undefined
    return kept
  }
  const hurry = (): void => {
    if (waiting !== undefined) void keepNow()
  }
  const waitFor = (): Soon => {
    let resolve!: Soon['resolve']
    const own: Soon = { kept: new Promise(settle => (resolve = settle)), resolve }
    void soon().then(() => void (waiting === own && hurry()))
    return own
  }
  return { keep: keepNow, keepSoon: () => (waiting ??= waitFor()).kept, hurry }
}

interface Soon {
  readonly kept: Promise<void>
  resolve(kept: Promise<void>): void
}

/**
 * One wait at a time, for all who came before it began; who comes later is in the next one. After one that failed nothing is
 * known of what was written before, and a later success would not prove it: all that follow fail alike.
 */
export function oneForAll(wait: () => Promise<void>): () => Promise<void> {
  let underWay: Promise<void> | undefined
  let next: Promise<void> | undefined
  const begin = async (): Promise<void> => {
    await wait()
    underWay = undefined
  }
  return () => {
    if (underWay === undefined) return (underWay = begin())
    next ??= underWay.then(() => {
      next = undefined
      return (underWay = begin())
    })
    return next
  }
}
