import type { Calls } from '../contenders/contender.ts'

export const CONTENDERS = [
  'secondwind',
  'loop',
  'loop-abortable',
  'cockatiel',
  'cockatiel-wrap',
  'bare',
  'by-hand',
  'p-retry',
  'async-retry',
  'effect',
] as const

export type ContenderName = (typeof CONTENDERS)[number]

/** One thing to be measured: `run` happens in a fresh process per lap and contender, all else in the runner. */
export interface Work {
  /** `--only D` takes every work whose id begins with D. */
  readonly id: string
  readonly title: string
  readonly contenders: readonly ContenderName[]
  readonly figures: readonly Figure[]
  readonly bars: readonly Bar[]
  readonly run: (calls: Calls) => Promise<Figures>
}

export interface Figure {
  readonly key: string
  readonly label: string
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
  readonly times?: ContenderName
  readonly isGoal?: true
}
