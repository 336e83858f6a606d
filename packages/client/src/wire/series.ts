/** What was sent, slot by slot. */
export interface Series {
  readonly resolution: Resolution
  /** Absent for all together; `other` for one that has no series of its own. */
  readonly destination?: string
  /** Every slot that is over, the oldest first. */
  readonly slots: readonly ({ readonly at: number } & SeriesSlot)[]
}

/** Seconds go back 15 minutes, minutes 24 hours. */
export type Resolution = 'second' | 'minute'

export interface SeriesSlot {
  /** First attempts that ended. */
  readonly first: number
  /** All others. */
  readonly retry: number
  readonly succeeded: number
  readonly failed: number
  /** Tasks that waited behind a closed gate: the most that were seen at once. */
  readonly held: number
  /** Within a sixteenth; absent without an attempt. */
  readonly latencyMs?: { readonly p50: number; readonly p99: number }
}

export interface SeriesAsk {
  /** All together, unless one is named: by its origin, in any spelling, or by its name. */
  readonly destination?: string
  /** `second`, unless told. */
  readonly resolution?: Resolution
  /** Slots that begin then or later. */
  readonly from?: number
  /** Slots that begin before. */
  readonly to?: number
}
