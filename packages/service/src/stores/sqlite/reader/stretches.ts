import type { TaskFilter } from '../../task-store.ts'
import type { Connection } from '../file/connection.ts'
import { blockOf, BLOCK_TASKS } from '../rows/blocks.ts'
import type { Direction, Stretch } from './walk.ts'

/** The next numbers, behind the last one seen, whose tasks may fit in time; undefined when there are none. */
export type Stretches = (filter: TaskFilter, last: number) => Stretch | undefined

export function createStretches(connection: Connection, direction: Direction): Stretches {
  const isDownward = direction === 'newest-first'
  const [isAhead, order] = isDownward ? ['block <= ?', 'desc'] : ['block >= ?', 'asc']
  const readCreated = connection.row<[number]>(
    `select block from span where ${isAhead} and newest_at >= ? and oldest_at < ? order by block ${order} limit 1`,
  )
  const readDied = connection.row<[number]>(
    `select block from span where ${isAhead} and newest_at >= ? and oldest_at < ?
       and last_death_at >= ? and first_death_at < ? order by block ${order} limit 1`,
  )
  return (filter, last) => {
    const { createdFrom = -Infinity, createdTo = Infinity, endedFrom = -Infinity, endedTo = Infinity } = filter
    const ahead = isDownward ? { from: 1, behind: last } : { from: last + 1, behind: Number.MAX_SAFE_INTEGER }
    if (ahead.from >= ahead.behind) return undefined
    // At most one task: it is found at once, wherever it is.
    if (filter.idempotencyKey !== undefined) return ahead
    const isOfEnds = endedFrom !== -Infinity || endedTo !== Infinity
    if (!isOfEnds && createdFrom === -Infinity && createdTo === Infinity) return ahead
    const block = blockOf(isDownward ? ahead.behind - 1 : ahead.from)
    const row = isOfEnds
      ? readDied(block, createdFrom, createdTo, endedFrom, endedTo)
      : readCreated(block, createdFrom, createdTo)
    if (row === undefined) return undefined
    const from = row[0] * BLOCK_TASKS
    return { from: Math.max(ahead.from, from), behind: Math.min(ahead.behind, from + BLOCK_TASKS) }
  }
}
