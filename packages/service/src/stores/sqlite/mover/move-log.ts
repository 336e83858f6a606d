import type { Connection } from '../file/connection.ts'

/**
 * The log is moved into the file when it has so many pages (32 MiB). SQLite's own thousand are full ten times a second
 * under load, and each time the disk is waited for twice; most pages were written again meanwhile anyway.
 */
export const LONG_LOG_PAGES = 8_000

/**
 * The first half of moving, beside the writer: all that is in the log by now, if that is much. The writer goes on behind
 * it, so that the log has no end yet. Answers whether there is a rest to be moved.
 */
export function moveLongLog(connection: Connection): boolean {
  const [, pages, moved] = connection.row<Progress>('pragma wal_checkpoint(noop)')()!
  if (pages - moved < LONG_LOG_PAGES) return false
  moveLog(connection)
  return true
}

/**
 * The second half, by the writer itself between two commits: what it has written meanwhile, which is little. Then nothing
 * is left, and the log begins anew with the next commit.
 */
export function moveLog(connection: Connection): void {
  connection.exec('pragma wal_checkpoint(passive)')
}

/** Counted in pages since the log began. */
type Progress = [isBusy: number, pages: number, moved: number]
