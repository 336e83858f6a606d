import { statfsSync } from 'node:fs'

/** A page of SQLite's usual size, as the log has it. */
const FRAME_BYTES = 4_120

/** A quarter of the floor of the disk, see `upkeep/disk-floor.ts`: the log is written once more when it is moved into the file. */
const PART_OF_DISK = 1 / 80
const MOST_BYTES = 67_108_864

/** With fewer it would do little else than move them. */
const FEWEST_PAGES = 500

/** So long the log becomes, and to this size is cut what a burst leaves behind of it: 64 MiB on a large disk. */
export function mostLogBytes(allBytes: number): number {
  return Math.max(FEWEST_PAGES * FRAME_BYTES, Math.floor(Math.min(allBytes * PART_OF_DISK, MOST_BYTES)))
}

/**
 * The log is moved into the file by a thread of its own, long before it has so many pages; where that one cannot keep up, or
 * cannot start, the writer does it.
 */
export function mostLogPages(allBytes: number): number {
  return Math.floor(mostLogBytes(allBytes) / FRAME_BYTES)
}

/**
 * The thread moves it when it has so many (32 MiB on a large disk). SQLite's own thousand are full ten times a second under load,
 * and each time the disk is waited for twice; most pages were written again meanwhile anyway.
 */
export function longLogPages(allBytes: number): number {
  return Math.floor(mostLogPages(allBytes) / 2)
}

/** So little the writer moves by itself: about a millisecond (1 MiB on a large disk). */
export function shortLogPages(allBytes: number): number {
  return Math.floor(longLogPages(allBytes) / 32)
}

/** Of the disk under a directory; one that does not say is taken for a large one. */
export function diskBytes(directory: string): number {
  try {
    const { blocks, bsize } = statfsSync(directory)
    return blocks * bsize
  } catch {
    return Infinity
  }
}
