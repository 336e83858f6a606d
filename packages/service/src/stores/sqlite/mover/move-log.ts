import type { Connection } from '../file/connection.ts'

/**
 * The first half of moving, beside the writer: all that is in the log by now, if that is at least so much. The writer goes
 * on behind it, so that the log has no end yet. Answers whether anything was moved.
 */
export function moveLongLog(connection: Connection, leastPages: number): boolean {
  const [, pages, moved] = connection.row<Progress>('pragma wal_checkpoint(noop)')()!
  if (pages - moved < leastPages) return false
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
