import { RefusedError } from '../errors.ts'
import { admit, mayLeaveQueue, type BulkheadCounts } from './decide.ts'
import type { BulkheadPolicy } from './policy.ts'

/** Whoever stands in the queue. */
export interface Waiter {
  /** The slot that became free is yours. */
  give(): void
}

/**
 * The slots of a bulkhead, and the queue before them.
 *
 *  1. A slot that becomes free belongs to the first of the queue from that moment on, though it may take its time to
 *     come: whoever arrives meanwhile finds no slot, and nobody is overtaken.
 *  2. Whoever has a slot gives it back exactly once, used or not.
 *  3. Another policy holds for all from that moment on. Whoever is inside or in the queue stays there, though there may
 *     be more of them than it allows.
 */
export class Slots implements BulkheadCounts {
  readonly name: string
  policy: BulkheadPolicy
  running = 0
  abandoned = 0
  /** A set keeps the order of arrival, and lets whoever is aborted go from the middle. */
  readonly #queue = new Set<Waiter>()

  constructor(name: string, policy: BulkheadPolicy) {
    this.name = name
    this.policy = policy
  }

  get queued(): number {
    return this.#queue.size
  }

  ask(waiter: Waiter): ReturnType<typeof admit> {
    const admission = admit(this.policy, this)
    if (admission === 'start') this.running++
    if (admission === 'queue') this.#queue.add(waiter)
    return admission
  }

  leaveQueue(waiter: Waiter): void {
    this.#queue.delete(waiter)
  }

  release(): void {
    this.running--
    this.#letIn()
  }

  changeTo(policy: BulkheadPolicy): void {
    this.policy = policy
    this.#letIn()
  }

  refusal(why: string): RefusedError {
    const { limit, maxQueued } = this.policy
    const givenUp = this.abandoned === 0 ? '' : ` (${this.abandoned} of them given up, and not ended by their signal)`
    return new RefusedError(
      'throttled',
      `the bulkhead "${this.name}" is full and ${why}: ${this.running} of ${limit} calls are under way${givenUp}, ` +
        `${this.queued} of ${maxQueued} wait. Call less at once, or raise limit if the dependency can bear it`,
    )
  }

  #letIn(): void {
    for (let free = mayLeaveQueue(this.policy, this); free > 0; free--) {
      const [first] = this.#queue
      this.#queue.delete(first!)
      this.running++
      first!.give()
    }
  }
}
