import type { Permit } from '../breaker/decide.ts'
import type { RunningAttempt } from './attempt.ts'
import type { RetryState } from './decide.ts'
import type { FailedAttempt } from './history.ts'

/** What most operations never need: made when something fails, or when somebody looks. */
export interface Rest {
  state?: RetryState
  readonly failures: FailedAttempt[]
  last?: FailedAttempt
  /** An attempt that was told to stop and did not. */
  abandoned?: RunningAttempt | undefined
  permit?: Permit | undefined
  key?: string
  id?: number
}
