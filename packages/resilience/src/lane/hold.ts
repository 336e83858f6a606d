/** Why nothing may start. */
export interface LaneHold {
  readonly reason: LaneHoldReason
  /** When to ask again; absent when something has to end first. */
  readonly until?: number
}

export type LaneHoldReason =
  | 'kill-switch' // operators have stopped it, and perhaps much else
  | 'paused' // operators have stopped it alone; what they ask for by hand passes
  | 'breaker-open' // the destination failed too often
  | 'probing' // one request at a time finds out whether it is back
  | 'retry-after' // it asked to be left alone
  | 'slow-start' // it is back, and is given more step by step
  | 'concurrency' // as many as may be are under way
  | 'rate-limited'
  | 'budget' // retries would be too large a part of the load
