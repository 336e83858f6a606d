/**
 * What can be drawn, as plain data: one document for the terminal, for SVG and for the report, so that the three never
 * disagree. Times are milliseconds from the beginning of a run, or of an operation.
 */

export type Picture =
  | ArrivalsPicture
  | DeliveriesPicture
  | DistributionPicture
  | DelayBands
  | BackoffRuler
  | AttemptHeatmap
  | TierTree

/** Calls that arrive at a dependency, counted in equal pieces of time: is it a storm? */
export interface ArrivalsPicture {
  readonly kind: 'arrivals'
  readonly title: string
  readonly bucketMs: number
  /** One for each policy. One alone is drawn with its retries on top, two as one picture. */
  readonly series: readonly ArrivalSeries[]
  readonly capacityPerSecond?: number
  /** Whose first attempts they are; absent: those of clients, before whom nobody has retried. */
  readonly firstAttemptsOf?: string
  /** What happened meanwhile: an outage, a kill switch. */
  readonly spans?: readonly NamedSpan[]
}

export interface ArrivalSeries {
  readonly name: string
  /** Calls in each bucket. */
  readonly first: readonly number[]
  readonly retries: readonly number[]
  readonly hedges?: readonly number[]
}

/** Tasks that wait in the service and, below, its requests by what came of them, counted in equal pieces of time. */
export interface DeliveriesPicture {
  readonly kind: 'deliveries'
  readonly title: string
  readonly bucketMs: number
  /** Tasks that have not ended at the end of each bucket. */
  readonly waiting: readonly number[]
  /** Requests that were made in each bucket. */
  readonly answered: readonly number[]
  readonly failed: readonly number[]
  /** What the destination serves. */
  readonly capacityPerSecond?: number
  readonly spans?: readonly NamedSpan[]
}

export interface NamedSpan {
  readonly name: string
  readonly fromMs: number
  readonly untilMs: number
}

/** The share that is served by a time; what is missing to 1 at the end is served never. */
export interface DistributionPicture {
  readonly kind: 'cdf'
  readonly title: string
  readonly series: readonly DistributionSeries[]
  /** A long tail needs `log`. */
  readonly scale?: 'linear' | 'log'
}

export interface DistributionSeries {
  readonly name: string
  /** Growing in both; a step at each. */
  readonly points: readonly { readonly atMs: number; readonly share: number }[]
}

/** When attempt n happens, counted from the first: the middle, the middle half, and nine of ten. */
export interface DelayBands {
  readonly kind: 'delay-bands'
  readonly title: string
  readonly bands: readonly DelayBand[]
  /** What was seen, beside what was planned. */
  readonly seen?: readonly { readonly attempt: number; readonly atMs: number }[]
  readonly deadlineMs?: number
}

export interface DelayBand {
  readonly attempt: number
  readonly p5Ms: number
  readonly p25Ms: number
  readonly p50Ms: number
  readonly p75Ms: number
  readonly p95Ms: number
}

/** What happened to one operation: its plan, its attempts, what held it, now and the deadline, on one ruler. */
export interface BackoffRuler {
  readonly kind: 'backoff-ruler'
  readonly title: string
  readonly plan: readonly { readonly attempt: number; readonly earliestMs: number; readonly latestMs: number }[]
  readonly attempts: readonly RulerAttempt[]
  readonly holds?: readonly NamedSpan[]
  readonly nowMs?: number
  readonly deadlineMs?: number
}

export interface RulerAttempt {
  readonly attempt: number
  readonly atMs: number
  readonly result: 'failed' | 'succeeded' | 'running'
}

/** Calls by time and by attempt: a rising diagonal is one wave, a full column a storm. */
export interface AttemptHeatmap {
  readonly kind: 'attempt-heatmap'
  readonly title: string
  readonly bucketMs: number
  /** The first row counts first attempts, the second second attempts, … */
  readonly rows: readonly (readonly number[])[]
}

/** Where a factor comes from: who calls whom, and how often for one operation. */
export interface TierTree {
  readonly kind: 'tier-tree'
  readonly title: string
  readonly root: Tier
}

export interface Tier {
  readonly name: string
  /** Calls that arrive here for one operation. */
  readonly callsPerOperation: number
  /** Attempts that the caller makes at the most; absent at the root. */
  readonly maxAttempts?: number
  readonly calls?: readonly Tier[]
}

/** How deep a tree is drawn; a chain of so many tiers is another problem. */
export const MAX_DEPTH = 40
