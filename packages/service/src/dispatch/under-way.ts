import type { Attempt } from './attempt.ts'

/**
 * The attempts whose requests are under way, or wait for their bodies, each at its place in a list.
 *
 * Not in a map by task: a map that takes in and lets go all the time is packed anew every few hundred times, V8 leaves the
 * old table pointing at the new one, and so each old table keeps all that came after it until the whole heap is cleaned.
 * It made every attempt, with its request and its answer, outlive the collection of short-lived objects.
 */
export class UnderWay {
  readonly #attempts: Attempt[] = []

  get size(): number {
    return this.#attempts.length
  }

  add(attempt: Attempt): void {
    attempt.place = this.#attempts.push(attempt) - 1
  }

  remove({ place }: Attempt): void {
    const last = this.#attempts.pop()!
    if (last.place === place) return
    this.#attempts[place] = last
    last.place = place
  }

  /** Whoever cancels a task can wait for a look at each of them: there are no more than slots. */
  of(taskId: string): Attempt | undefined {
    return this.#attempts.find(attempt => attempt.taskId === taskId)
  }

  /** As of now: those that end meanwhile are still among them. */
  all(): readonly Attempt[] {
    return [...this.#attempts]
  }

  /** A machine that slept hears its alarms too late; the store's clock went on. */
  ringOverdue(storeNow: number): void {
    for (const attempt of this.all()) if (attempt.isOverdue(storeNow)) attempt.ring()
  }
}
