/** One thing to be measured, as far as options, tables and verdicts have to know it. */
export interface Work {
  /** `--only D` takes every work whose id begins with D. */
  readonly id: string
  readonly title: string
  /** Ours is always `secondwind`. */
  readonly contenders: readonly string[]
  readonly figures: readonly Figure[]
  readonly bars: readonly Bar[]
  /** Where the usual number of rounds would decide nothing; a quick run has fewer all the same. */
  readonly leastRounds?: number
}

export interface Figure {
  readonly key: string
  readonly label: string
  /** A rate; of a cost less is better. */
  readonly moreIsBetter?: true
}

/** What one lap measured, by the keys of the work's figures. */
export type Figures = Readonly<Record<string, number>>

/**
 * What we promise of a figure of ours: `{ figure: 'nsPerCall', sign: '≤', limit: 1.1, times: 'loop' }`.
 * Without `times` the limit is in the figure's own unit. A goal is shown like a bar and never counts as missed.
 */
export interface Bar {
  readonly figure: string
  readonly sign: '<' | '≤' | '≥'
  readonly limit: number
  readonly times?: string
  readonly isGoal?: true
}
