import type { RetryEvent } from '../ports/telemetry.ts'
import type { GiveUpReason } from '../retry/decide.ts'
import { COUNTERS, HISTOGRAMS, type CounterName, type HistogramName } from './metrics.ts'

/** What is counted for one pair of client and op. Changed in place: it is written at every call. */
export interface Series {
  readonly labels: { readonly client: string; readonly op: string }
  readonly counters: Record<CounterName, number>
  readonly giveups: Map<GiveUpReason, number>
  readonly histograms: Readonly<Record<HistogramName, Histogram>>
}

export interface Histogram {
  readonly buckets: readonly number[]
  /** One for each bucket, and one for whatever is larger; not yet added up. */
  readonly counts: number[]
  sum: number
}

/** Counters begin at 0 and are shown at once: the first step up from nothing is one that no rate can see. */
export function emptySeries(labels: Series['labels']): Series {
  return {
    labels,
    counters: mapValues(COUNTERS, () => 0),
    giveups: new Map(),
    histograms: mapValues(HISTOGRAMS, ({ buckets }) => ({ buckets, counts: [...buckets, 0].fill(0), sum: 0 })),
  }
}

/** Every operation that ends is counted once: as a success, or under its reason. */
export function count({ counters, giveups, histograms }: Series, event: EventOfOperation): void {
  switch (event.kind) {
    case 'attempt-started':
      counters.retry_attempts_total++
      if (event.attempt > 1) counters.retry_retries_total++
      return
    case 'attempt-ended':
      record(histograms.retry_attempt_duration_seconds, event.durationMs / 1000)
      if (event.outcome.kind === 'failure') return
      counters.retry_successes_total++
      record(histograms.retry_attempt_at_success, event.attempt)
      return record(histograms.retry_operation_duration_seconds, event.elapsedMs / 1000)
    case 'retry-scheduled':
      return record(histograms.retry_delay_seconds, event.delayMs / 1000)
    case 'gave-up':
      giveups.set(event.reason, (giveups.get(event.reason) ?? 0) + 1)
      if (event.reason === 'budget') counters.retry_budget_denied_total++
      if (event.reason === 'breaker-open') counters.retry_breaker_denied_total++
      if (event.reason === 'aborted') counters.retry_cancelled_total++
      return record(histograms.retry_operation_duration_seconds, event.elapsedMs / 1000)
    case 'exhausted-hook-failed':
      // Of an operation that gave up, and was counted then.
      return
  }
}

export type EventOfOperation = Extract<RetryEvent, { readonly operationId: number }>

function record(histogram: Histogram, value: number): void {
  const place = histogram.buckets.findIndex(end => value <= end)
  histogram.counts[place < 0 ? histogram.buckets.length : place]!++
  histogram.sum += value
}

function mapValues<Key extends string, From, To>(
  record: Readonly<Record<Key, From>>,
  map: (value: From) => To,
): Record<Key, To> {
  return Object.fromEntries(Object.entries<From>(record).map(([key, value]) => [key, map(value)])) as Record<Key, To>
}
