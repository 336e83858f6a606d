import type { Hint } from '../task-store.ts'
import type { Entry } from './book.ts'
import { queueKey } from '../../task/lane.ts'

/** Due instants that a call has written, gathered until it is done: one hint for each queue, the earliest. */
export class HintBoard {
  readonly #listeners = new Set<(hint: Hint) => void>()
  readonly #hints = new Map<string, Hint>()

  listen(listener: (hint: Hint) => void): () => void {
    // Wrapped, so that whoever listens twice is heard twice and can leave once.
    const own = (hint: Hint): void => listener(hint)
    this.#listeners.add(own)
    return () => void this.#listeners.delete(own)
  }

  note({ lane, partition, task: { state } }: Entry): void {
    if (state.status !== 'PENDING') return
    const queue = queueKey(state.queue)
    const name = `${lane}\n${queue}`
    const dueAt = Math.min(state.nextAttemptAt, this.#hints.get(name)?.dueAt ?? Infinity)
    this.#hints.set(name, { partition, lane, queue, dueAt })
  }

  send(): void {
    const hints = [...this.#hints.values()]
    this.#hints.clear()
    for (const hint of hints) for (const listener of this.#listeners) listener(hint)
  }
}
