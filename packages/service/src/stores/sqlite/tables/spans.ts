import type { Connection } from '../file/connection.ts'
import { blockOf, BLOCK_TASKS } from '../rows/blocks.ts'

/** Between which instants the tasks of each block were created. */
export interface Spans {
  widen(seq: number, createdAt: number): void
  /** Drops the block if no task of it is left. */
  dropIfEmpty(block: number): void
  flush(): void
  forget(): void
}

export function createSpans(connection: Connection): Spans {
  const widen = connection.write(
    `insert into span values (?, ?, ?) on conflict do update
     set oldest_at = min(oldest_at, excluded.oldest_at), newest_at = max(newest_at, excluded.newest_at)`,
  )
  const drop = connection.write(
    'delete from span where block = ? and not exists (select 1 from task where seq between ? and ?)',
  )
  const widened = new Map<number, readonly [oldestAt: number, newestAt: number]>()
  return {
    widen(seq, createdAt) {
      const block = blockOf(seq)
      const [oldestAt, newestAt] = widened.get(block) ?? [createdAt, createdAt]
      widened.set(block, [Math.min(oldestAt, createdAt), Math.max(newestAt, createdAt)])
    },
    dropIfEmpty: block => void drop(block, block * BLOCK_TASKS, (block + 1) * BLOCK_TASKS - 1),
    flush() {
      for (const [block, span] of widened) widen(block, ...span)
      widened.clear()
    },
    forget: () => widened.clear(),
  }
}
