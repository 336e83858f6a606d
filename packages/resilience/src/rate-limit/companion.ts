import { RefusedError } from '../errors.ts'
import type { Accompanied, Companion } from '../retry/companion.ts'
import type { RateLimit } from './run.ts'

/** One operation before a rate limit: a token for every attempt, and one only, however often it is asked for. */
export class RateLimitCompanion implements Companion {
  readonly #limit: RateLimit
  readonly #operation: Accompanied
  /** When the token for the next attempt comes, on the limit's own clock. */
  #tokenAt: number | undefined = undefined

  constructor(limit: RateLimit, operation: Accompanied) {
    this.#limit = limit
    this.#operation = operation
  }

  enter(now: number): RefusedError | number | undefined {
    if (this.#tokenAt === undefined) {
      const answer = this.#limit.reserve(this.#operation.deadlineAt - now)
      if (answer instanceof RefusedError) return answer
      this.#tokenAt = answer
    }
    const waitMs = this.#tokenAt - this.#limit.now
    return waitMs > 0 ? now + waitMs : undefined
  }

  started(): void {
    this.#tokenAt = undefined
  }

  over(): void {
    if (this.#tokenAt !== undefined) this.#limit.giveBack(this.#tokenAt)
    this.#tokenAt = undefined
  }
}
