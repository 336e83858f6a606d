import { partitionOf } from '../../task/lane.ts'
import { TASK_STATUSES } from '../../task/task.ts'
import { cursorOf } from '../cursor.ts'
import type { PageAsk, Sweep } from '../task-store.ts'
import type { BodyBook } from './body-book.ts'
import type { Book, Entry } from './book.ts'
import type { LaneMemories } from './lane-memories.ts'
import type { Line } from './line.ts'
import { pageFrom } from './page.ts'

/**
 * A task is kept as long as its key has its window, whatever its own term is: a repeated request is answered with its
 * task, and without one there would be nothing to answer.
 */
export function sweep(
  book: Book,
  bodies: BodyBook,
  { finishedBefore, deadBefore, keysBefore, limit }: Sweep,
  now: number,
): number {
  const finished = endedBefore(book.finished, Math.min(finishedBefore, keysBefore), limit)
  const dead = endedBefore(book.dead, Math.min(deadBefore, keysBefore), limit - finished.length)
  for (const entry of [...finished, ...dead]) {
    book.forget(entry)
    bodies.detach(entry.task, now)
  }
  return finished.length + dead.length
}

function endedBefore(line: Line<Entry>, instant: number, limit: number): Entry[] {
  const oldest = line.after(undefined, limit)
  return oldest.filter(({ at }) => at < instant).map(({ item }) => item)
}

const LANES = cursorOf('empty lanes', 'string')

export function sweepLanes(
  { lanes }: Pick<Book, 'lanes'>,
  memories: LaneMemories,
  ask: PageAsk,
): { readonly lanes: readonly string[]; readonly nextCursor?: string } {
  const { items, ...rest } = pageFrom([...lanes.keys()].toSorted(), ask, LANES, {
    placeOf: (lane): [string] => [lane],
    isShown: (lane, [last]) => lane <= last,
  })
  const empty = items.filter(lane => TASK_STATUSES.every(status => lanes.get(lane)![status] === 0))
  for (const lane of empty) {
    lanes.delete(lane)
    memories.forget(partitionOf(lane), lane)
  }
  return { lanes: empty, ...rest }
}
