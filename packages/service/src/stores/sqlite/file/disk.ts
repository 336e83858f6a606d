import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'

/** Makes what was written survive a loss of power. */
export interface Disk {
  /** Resolves when all that was written before is on the disk. */
  keep(): Promise<void>
  close(): void
}

const sync = promisify(fdatasync)

/**
 * The disk under the log that SQLite writes every commit to. SQLite can wait for it at each commit by itself
 * (`synchronous = full`), but then the thread that commits stands still for as long, and so does all that could begin
 * without the disk. Here a thread of the system waits, and the next commit is made meanwhile.
 */
export function openDisk(dataPath: string): Disk {
  const log = openSync(`${dataPath}-wal`, 'r+')
  return { keep: oneForAll(() => sync(log)), close: () => closeSync(log) }
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
