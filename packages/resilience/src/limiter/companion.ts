import type { RefusedError } from '../errors.ts'
import type { Companion, EndedAttempt } from '../retry/companion.ts'
import type { Limiter } from './run.ts'

/** One operation before a limiter: a sample for every attempt, so that no wait enters what is measured. */
export class LimiterCompanion implements Companion {
  readonly #limiter: Limiter
  /** It has room for an attempt that has not begun. */
  #hasRoom = false
  /** Calls under way when the attempt began, itself included. */
  #inFlight = 0

  constructor(limiter: Limiter) {
    this.#limiter = limiter
  }

  enter(): RefusedError | undefined {
    const refusal = this.#hasRoom ? undefined : this.#limiter.ask()
    this.#hasRoom = refusal === undefined
    return refusal
  }

  started(): void {
    this.#hasRoom = false
    this.#inFlight = this.#limiter.inFlight
  }

  ended({ outcome, durationMs }: EndedAttempt): void {
    this.#limiter.learn(outcome, { durationMs, inFlight: this.#inFlight })
  }

  workEnded(): void {
    this.#limiter.leave()
  }

  over(): void {
    if (this.#hasRoom) this.#limiter.leave()
    this.#hasRoom = false
  }
}
