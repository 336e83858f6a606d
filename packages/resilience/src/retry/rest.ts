import type { Permit } from '../breaker/decide.ts'
import type { RunningAttempt } from './attempt.ts'
import type { RetryState } from './decide.ts'
import { KEPT_FAILURES, type FailedAttempt } from './history.ts'

/** What most operations never need: made when something fails, or when somebody looks. */
export class Rest {
  state: RetryState | undefined = undefined
  failures: FailedAttempt[] | undefined = undefined
  last: FailedAttempt | undefined = undefined
  /** An attempt that was told to stop and did not. */
  abandoned: RunningAttempt | undefined = undefined
  permit: Permit | undefined = undefined
  key: string | undefined = undefined
  id = 0

  remember(failed: FailedAttempt): void {
    this.last = failed
    // A list of one is made for one: most operations that fail once do not fail twice.
    if (this.failures === undefined) this.failures = [failed]
    else if (this.failures.push(failed) > KEPT_FAILURES) this.failures.shift()
  }
}
