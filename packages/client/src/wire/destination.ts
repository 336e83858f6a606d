import type { Hold } from './task.ts'

/** What there is to say of a destination. Its gates are known to the instance that serves it. */
export interface Destination {
  readonly destination: string
  readonly breaker?: 'closed' | 'open' | 'half-open' | 'forced-open' | 'forced-closed'
  /** What keeps its tasks from starting now. */
  readonly hold?: Hold
  /** What keeps its retries, while first attempts flow. */
  readonly retryHold?: Hold
  /** Requests that may be under way at once; absent when there is no limit. */
  readonly limit?: number
  /** Retries that may start now. */
  readonly budgetBalance?: number
  readonly inFlight: number
  /** Tasks that wait. */
  readonly backlog: number
  readonly oldestDueAt?: number
  readonly succeeded: number
  readonly exhausted: number
  readonly cancelled: number
  readonly attempts: number
  /** Of all attempts, those that were not the first of their task. */
  readonly retryShare: number
  /** Attempts for each first attempt. */
  readonly amplification?: number
}
