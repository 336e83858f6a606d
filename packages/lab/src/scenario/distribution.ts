/** How long something takes: a number is always that long. Plain JSON, milliseconds throughout. */
export type Distribution =
  | number
  | { readonly kind: 'exponential'; readonly meanMs: number }
  | { readonly kind: 'uniform'; readonly fromMs: number; readonly toMs: number }
  /** Folded at zero: what would be negative counts as positive. */
  | { readonly kind: 'normal'; readonly meanMs: number; readonly deviationMs: number }
  /** By what people know of a latency: half take less than the median, one in a hundred more than the p99. */
  | { readonly kind: 'log-normal'; readonly medianMs: number; readonly p99Ms: number }
  /** `slowShare` of the draws are slow, the others fast. */
  | {
      readonly kind: 'bimodal'
      readonly fast: Distribution
      readonly slow: Distribution
      readonly slowShare: number
    }
  /** Even within each bucket; a bucket begins where the one before it ends, the first at zero. */
  | { readonly kind: 'histogram'; readonly buckets: readonly HistogramBucket[] }
  /** The share that takes longer, known at some points: straight lines between them where both axes are logarithmic. */
  | { readonly kind: 'survival'; readonly points: readonly SurvivalPoint[] }

export interface HistogramBucket {
  readonly upToMs: number
  /** In any unit: shares are taken of their sum. */
  readonly count: number
}

export interface SurvivalPoint {
  readonly ms: number
  readonly longerShare: number
}
