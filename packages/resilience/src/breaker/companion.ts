import { RefusedError } from '../errors.ts'
import type { Accompanied, Companion, EndedAttempt } from '../retry/companion.ts'
import type { Permit } from './decide.ts'
import type { Breaker } from './run.ts'

/** One operation before a breaker: asked for every attempt, one event for the whole unless the policy says otherwise. */
export class BreakerCompanion implements Companion {
  readonly #breaker: Breaker
  readonly #operation: Accompanied
  /** Readings of the operation's clock can be handed on only to a breaker that goes by the same one. */
  readonly #sharesClock: boolean
  #permit: Permit | undefined = undefined
  #last: EndedAttempt | undefined = undefined

  constructor(breaker: Breaker, operation: Accompanied) {
    this.#breaker = breaker
    this.#operation = operation
    this.#sharesClock = breaker.clock === operation.setup.clock
  }

  enter(now: number): RefusedError | undefined {
    const answer = this.#breaker.ask(this.#permit, this.#sharesClock ? now : undefined)
    if (answer instanceof RefusedError) return answer
    this.#permit = answer
    return undefined
  }

  ended(ended: EndedAttempt): void {
    this.#last = ended
    if (this.#breaker.policy.record !== 'operation') this.over()
  }

  over(): void {
    const { outcome, durationMs, elapsedMs = 0 } = this.#last ?? {}
    const now = this.#sharesClock && this.#last !== undefined ? this.#operation.startedAt + elapsedMs : undefined
    if (this.#permit !== undefined) this.#breaker.end(this.#permit, outcome, durationMs, now)
    this.#permit = this.#last = undefined
  }
}
