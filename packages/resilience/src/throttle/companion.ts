import type { RefusedError } from '../errors.ts'
import type { Companion, EndedAttempt } from '../retry/companion.ts'
import type { Throttle } from './run.ts'

/** One operation before a throttle: a draw for every attempt, however often it has to ask before it may begin. */
export class ThrottleCompanion implements Companion {
  readonly #throttle: Throttle
  #isAdmitted = false

  constructor(throttle: Throttle) {
    this.#throttle = throttle
  }

  enter(): RefusedError | undefined {
    const refusal = this.#isAdmitted ? undefined : this.#throttle.ask()
    this.#isAdmitted = refusal === undefined
    return refusal
  }

  started(): void {
    this.#isAdmitted = false
  }

  ended({ outcome }: EndedAttempt): void {
    this.#throttle.record(outcome)
  }
}
