import type { TaskFilter } from '../../task-store.ts'
import type { Connection } from '../file/connection.ts'
import type { RowsOfTasks } from '../rows/rows-of-tasks.ts'
import type { From, Slice } from '../rows/slice.ts'
import { createMatcher } from './matcher.ts'
import { createStretches } from './stretches.ts'
import { createWays } from './ways.ts'

/** Through tasks in the order of their numbers, which is that of their arrival. */
export type Direction = 'newest-first' | 'oldest-first'

/** Some numbers: from the first on, and short of `behind`. */
export interface Stretch {
  readonly from: number
  readonly behind: number
}

export type Walk = (
  ask: From<{ readonly filter: TaskFilter; readonly limit: number }, [seq: number]>,
) => Slice<number, [number]>

/** Tasks that one call looks at: some ten milliseconds; whoever wants more has a cursor. */
const MOST_LOOKS = 2_000
/** Read at a time, for most pages are full long before. */
const STRIDE = 100

/**
 * Walks from task to task, along the shortest way that the filter allows (a key, dead letters, leases, one lane, all), over
 * stretches in which there may be one, and looks at each. A place is the number of the last task that was looked at.
 */
export function createWalk(connection: Connection, rows: RowsOfTasks, direction: Direction): Walk {
  const waysOf = createWays(connection, direction)
  const matches = createMatcher(connection, rows)
  const nextStretch = createStretches(connection, direction)
  const isDownward = direction === 'newest-first'

  return ({ filter, limit, from }) => {
    const way = waysOf(filter)
    const found: number[] = []
    let last = from?.[0] ?? (isDownward ? Number.MAX_SAFE_INTEGER : -1)
    for (let looks = 0; looks < MOST_LOOKS; looks += STRIDE) {
      const stretch = nextStretch(filter, last)
      if (stretch === undefined || way === undefined) return { items: found, next: null }
      const candidates = way(stretch, STRIDE)
      for (const seq of candidates) {
        if (!matches(seq, filter)) continue
        if (found.length === limit) return { items: found, next: [found.at(-1) ?? last] }
        found.push(seq)
      }
      const edge = isDownward ? stretch.from : stretch.behind - 1
      last = candidates.length < STRIDE ? edge : candidates.at(-1)!
    }
    return { items: found, next: [last] }
  }
}
