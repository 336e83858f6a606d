/** What happened in a second, or in a minute. */
export interface Slot {
  /** First attempts that ended. */
  readonly first: number
  /** All others. */
  readonly retry: number
  readonly succeeded: number
  readonly failed: number
  /** Tasks that waited behind a closed gate: the most that were seen at once. */
  readonly held: number
  /** Of the attempts that somebody saw the end of; absent when there was none. */
  readonly latencyMs?: { readonly p50: number; readonly p99: number }
}
