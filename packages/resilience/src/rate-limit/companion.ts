import { waitEndsAt } from '../bulkhead/decide.ts'
import { RefusedError } from '../errors.ts'
import type { Accompanied, Companion } from '../retry/companion.ts'
import type { RateLimit } from './run.ts'

/** One operation before a rate limit: a token for every attempt, and one only, however often it is asked for. */
export class RateLimitCompanion implements Companion {
  readonly #limit: RateLimit
  readonly #operation: Accompanied
  /** When the token for the next attempt comes, on the limit's own clock; or why there is none. */
  #token: number | RefusedError | undefined = undefined
  /** On the same clock. A token that comes too late to be used is no reason to wait longer for the next. */
  #waitEndsAt = 0

  constructor(limit: RateLimit, operation: Accompanied) {
    this.#limit = limit
    this.#operation = operation
  }

  enter(now: number): RefusedError | number | undefined {
    // Read once: between two readings a clock moves on, and what is due now would never be.
    const limitNow = this.#limit.now
    if (this.#token === undefined) {
      const deadlineAt = limitNow + this.#operation.deadlineAt - now
      this.#waitEndsAt = waitEndsAt(this.#limit.policy, { now: limitNow, deadlineAt })
      this.#token = this.#limit.reserve(this, { now: limitNow, deadlineAt: this.#waitEndsAt })
    } else if (typeof this.#token === 'number' && this.#token <= limitNow)
      this.#token = this.#limit.redeem({ now: limitNow, deadlineAt: this.#waitEndsAt })
    if (this.#token instanceof RefusedError) return this.#token
    const at = now + (this.#token - limitNow)
    // A wait that is too short for the operation's clock to see would never end.
    return at > now ? at : undefined
  }

  /** The rate has changed, and with it the instant. */
  reserveAgain(): void {
    this.#token = this.#limit.reserveAgain(this.#waitEndsAt)
    // Not at once: whoever changes the rate has not finished.
    void Promise.resolve().then(() => this.#askAgain())
  }

  started(): void {
    this.#token = undefined
    this.#limit.started(this)
  }

  over(): void {
    this.#limit.giveBack(this, typeof this.#token === 'number' ? this.#token : undefined)
    this.#token = undefined
  }

  #askAgain(): void {
    // One that has begun meanwhile may be waiting for its next attempt, and is not to be hurried.
    if (this.#token !== undefined) this.#operation.askAgain()
  }
}
