import type { Sweep } from '../task-store.ts'
import type { BodyBook } from './body-book.ts'
import type { Book, Entry } from './book.ts'
import type { Line } from './line.ts'

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
