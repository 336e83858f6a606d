import { RefusedError } from '../errors.ts'
import type { Companion, EndedAttempt } from '../retry/companion.ts'
import type { Permit } from './decide.ts'
import type { Breaker } from './run.ts'

/** One operation before a breaker: asked for every attempt, one event for the whole unless the policy says otherwise. */
export class BreakerCompanion implements Companion {
  readonly #breaker: Breaker
  #permit: Permit | undefined = undefined
  #last: EndedAttempt | undefined = undefined

  constructor(breaker: Breaker) {
    this.#breaker = breaker
  }

  enter(): RefusedError | undefined {
    const answer = this.#breaker.ask(this.#permit)
    if (answer instanceof RefusedError) return answer
    this.#permit = answer
    return undefined
  }

  ended(ended: EndedAttempt): void {
    this.#last = ended
    if (this.#breaker.policy.record !== 'operation') this.over()
  }

  over(): void {
    if (this.#permit !== undefined) this.#breaker.end(this.#permit, this.#last?.outcome, this.#last?.durationMs)
    this.#permit = this.#last = undefined
  }
}
