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

/** Two that happened beside each other. How long each half took is known by share alone: the slower one is told. */
export function sumOf(one: Slot, other: Slot): Slot {
  const latencies = [one, other].flatMap(({ latencyMs }) => latencyMs ?? [])
  const slower = (part: 'p50' | 'p99'): number => Math.max(...latencies.map(latency => latency[part]))
  return {
    first: one.first + other.first,
    retry: one.retry + other.retry,
    succeeded: one.succeeded + other.succeeded,
    failed: one.failed + other.failed,
    held: one.held + other.held,
    ...(latencies.length > 0 && { latencyMs: { p50: slower('p50'), p99: slower('p99') } }),
  }
}
