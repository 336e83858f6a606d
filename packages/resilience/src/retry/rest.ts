import type { Failure } from '../classify/outcome.ts'
import type { Context } from '../ports/context.ts'
import type { RunningAttempt } from './attempt.ts'
import type { RetryState } from './decide.ts'
import { KEPT_FAILURES, type FailedAttempt } from './history.ts'

/** What most operations never need: made when something fails, or when somebody looks. */
export class Rest {
  state: RetryState | undefined
  /** All of them once there are two: most operations that fail once do not fail twice. */
  #failures: FailedAttempt[] | undefined
  last: FailedAttempt | undefined
  /** An attempt that was told to stop and did not. */
  abandoned: RunningAttempt | undefined
  key: string | undefined
  context: Context | undefined

  remember(attempt: RunningAttempt, outcome: Failure, durationMs: number, error: unknown, returned: boolean): void {
    const { fault, retryAfterMs, unknown = false } = outcome
    const failed = { attempt: attempt.attempt, durationMs, fault, error, returned, retryAfterMs, unknown }
    if (this.last !== undefined) {
      this.#failures ??= [this.last]
      if (this.#failures.push(failed) > KEPT_FAILURES) this.#failures.shift()
    }
    this.last = failed
  }

  get failures(): readonly FailedAttempt[] {
    return this.#failures ?? (this.last ? [this.last] : [])
  }
}
