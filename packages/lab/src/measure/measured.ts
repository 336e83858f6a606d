/** What others tell and what came out, as numbers for other programs; beside it stands what people read. */
export interface Measured {
  readonly unit: Unit
  /** Absent: they told no number. */
  readonly theirs?: number
  /** Absent: there is none, for what was waited for never came. */
  readonly ours?: number
  /** Ours is as told from here, and up to there; an end that is absent is open. */
  readonly least?: number
  readonly most?: number
}

/** `times` is a multiple of something, `share` a part of it; a `count` may be a mean, with a fraction. */
export type Unit = 'count' | 'times' | 'share' | 'ms' | 'per-second'
