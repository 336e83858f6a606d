/** Why an attempt may not start. */
export interface LaneHold {
  readonly reason: LaneHoldReason
  /** When to ask again; absent when something has to end first. */
  readonly until?: number
  /** Of a purse that is empty: since when nothing has come back, and the interval at which a probe is sent. */
  readonly since?: number
  readonly everyMs?: number
}

export type LaneHoldReason =
  | 'kill-switch' // operators have stopped it, and perhaps much else
  | 'paused' // operators have stopped it alone; attempts that are asked for by hand pass
  | 'breaker-open' // nothing comes back from the destination, or operators have forced the breaker open
  | 'probing' // in a pause one request at a time is sent by hand
  | 'retry-after' // it asked to be left alone
  | 'slow-start' // it is back, and is given more step by step
  | 'concurrency' // the limit of requests under way is reached
  | 'rate-limited'
  | 'credit' // it answers, and its answers have not yet paid for this kind of attempt
  | 'budget' // retries would be too large a part of the load
