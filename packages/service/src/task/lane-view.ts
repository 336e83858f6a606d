/** What can be said of a lane at a moment, to whoever asks why a task waits. */
export interface LaneView {
  readonly lane: string
  readonly breaker: 'closed' | 'open' | 'half-open' | 'forced-open' | 'forced-closed'
  /** What keeps its tasks from starting now; absent when nothing does. */
  readonly hold?: Hold
  /** What keeps its retries, while first attempts flow. */
  readonly retryHold?: Hold
  /** Requests that may be under way at once. */
  readonly limit: number
  readonly inFlight: number
  /** Retries that may start now. */
  readonly budgetBalance: number
  /** The earliest instant at which one of its tasks is, or was, due. */
  readonly oldestDueAt?: number
}

/** A closed gate. */
export interface Hold {
  readonly reason: HoldReason
  /** When it opens, as far as anybody knows; absent when it opens as soon as something ends. */
  readonly until?: number
}

export type HoldReason = (typeof HOLD_REASONS)[number]

export const HOLD_REASONS = [
  'breaker-open', // the destination failed too often
  'probing', // one request at a time finds out whether it is back
  'retry-after', // it asked to be left alone
  'slow-start', // it is back, and is given more step by step
  'concurrency', // as many as may be are under way
  'rate-limited',
  'budget', // retries would be too large a part of the load
  'slots', // this instance has its hands full
  'store', // the store cannot be written to
] as const

/** What routes may ask of the dispatcher, and tell it. */
export interface Dispatching {
  /** Undefined for a lane that this instance has never served. */
  view(lane: string): LaneView | undefined
  /** Cuts off the task's request if it is under way here. */
  cut(taskId: string): void
}
