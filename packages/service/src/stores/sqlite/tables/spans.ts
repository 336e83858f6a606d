import type { Connection } from '../file/connection.ts'
import { blockOf, BLOCK_TASKS } from '../rows/blocks.ts'

/**
 * Between which instants the tasks of each block were created, and between which they died. In whole seconds, so that a span
 * holds for a while: to the millisecond, every commit would write its page again.
 */
export interface Spans {
  widen(seq: number, createdAt: number): void
  noteDeath(seq: number, at: number): void
  /** Drops the block if no task of it is left. */
  dropIfEmpty(block: number): void
  flush(): void
  forget(): void
}

type Span = readonly [firstAt: number, lastAt: number]

export function createSpans(connection: Connection): Spans {
  const widen = connection.write(
    `insert into span (block, oldest_at, newest_at) values (?, ?, ?) on conflict do update
     set oldest_at = min(oldest_at, excluded.oldest_at), newest_at = max(newest_at, excluded.newest_at)
     where excluded.oldest_at < oldest_at or excluded.newest_at > newest_at`,
  )
  const widenDeaths = connection.write(
    `update span set first_death_at = coalesce(first_death_at, ?2), last_death_at = ?3
     where block = ?1 and (last_death_at is null or last_death_at < ?3)`,
  )
  const drop = connection.write(
    'delete from span where block = ? and not exists (select 1 from task where seq between ? and ?)',
  )
  const widened = new Map<number, Span>()
  const deaths = new Map<number, Span>()
  return {
    widen(seq, createdAt) {
      const block = blockOf(seq)
      const [oldestAt, newestAt] = widened.get(block) ?? [createdAt, createdAt]
      widened.set(block, [Math.min(oldestAt, createdAt), Math.max(newestAt, createdAt)])
    },
    noteDeath(seq, at) {
      const block = blockOf(seq)
      deaths.set(block, [deaths.get(block)?.[0] ?? at, at])
    },
    dropIfEmpty: block => drop(block, block * BLOCK_TASKS, (block + 1) * BLOCK_TASKS - 1),
    flush() {
      for (const [block, span] of widened) widen(block, ...inSeconds(span))
      for (const [block, span] of deaths) widenDeaths(block, ...inSeconds(span))
      this.forget()
    },
    forget() {
      widened.clear()
      deaths.clear()
    },
  }
}

/** At least as wide. */
function inSeconds([firstAt, lastAt]: Span): Span {
  return [Math.floor(firstAt / SECOND_MS) * SECOND_MS, Math.ceil(lastAt / SECOND_MS) * SECOND_MS]
}

const SECOND_MS = 1_000
