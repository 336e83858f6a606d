import type { Permit } from '../breaker/decide.ts'
import type { RunningAttempt } from './attempt.ts'
import type { RetryState } from './decide.ts'
import type { FailedAttempt } from './history.ts'

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
}
