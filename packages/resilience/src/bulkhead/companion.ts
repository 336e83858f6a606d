import type { RefusedError } from '../errors.ts'
import type { Accompanied, Companion } from '../retry/companion.ts'
import { waitEndsAt } from './decide.ts'
import type { Slots, Waiter } from './slots.ts'

/**
 * One operation before a bulkhead. For its next attempt it is outside, queued or inside; once that has begun, the slot
 * is the work's and is given back when the work has really ended. So an operation whose work goes on after its
 * time-out has two slots while it tries again.
 */
export class BulkheadCompanion implements Companion, Waiter {
  readonly #slots: Slots
  readonly #operation: Accompanied
  #place: 'outside' | 'queued' | 'inside' = 'outside'
  #waitEndsAt = 0
  /** As it was when the wait began: the policy may have changed since. */
  #maxWaitMs = 0
  /** The result of an attempt under way still counts. */
  #isCalling = false

  constructor(slots: Slots, operation: Accompanied) {
    this.#slots = slots
    this.#operation = operation
  }

  enter(now: number): RefusedError | number | undefined {
    if (this.#place === 'outside') {
      const admission = this.#slots.ask(this)
      if (admission === 'refuse') return this.#slots.refusal('so is its queue')
      this.#place = admission === 'start' ? 'inside' : 'queued'
      // Nearly everybody finds a slot, and need not know how long it would have waited.
      if (admission === 'start') return undefined
      this.#maxWaitMs = this.#slots.policy.maxWaitMs
      this.#waitEndsAt = waitEndsAt(this.#slots.policy, { now, deadlineAt: this.#operation.deadlineAt })
    }
    if (this.#place === 'inside') return undefined
    if (now < this.#waitEndsAt) return this.#waitEndsAt
    return this.#slots.refusal(`stayed so for ${this.#maxWaitMs} ms`)
  }

  give(): void {
    this.#place = 'inside'
    // Not at once: of the work that has just ended other gates may still have to hear.
    void Promise.resolve().then(() => this.#comeIn())
  }

  started(): void {
    this.#place = 'outside'
    this.#isCalling = true
  }

  ended(): void {
    if (this.#isCalling) this.#slots.abandoned++
    this.#isCalling = false
  }

  /** Always after `ended` or `over`, for a moment or for long: until then the work counts as abandoned. */
  workEnded(): void {
    this.#slots.abandoned--
    this.#slots.release()
  }

  over(): void {
    this.ended()
    if (this.#place === 'queued') this.#slots.leaveQueue(this)
    if (this.#place === 'inside') this.#slots.release()
    this.#place = 'outside'
  }

  #comeIn(): void {
    // One that has begun meanwhile may be waiting for its next attempt, and is not to be hurried.
    if (this.#place === 'inside') this.#operation.askAgain()
  }
}
