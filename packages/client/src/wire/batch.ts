import type { ProblemDetails } from './problem.ts'

/** What became of a batch. */
export interface BatchResult {
  readonly created: number
  /** The same request with the same key had come before. */
  readonly existing: number
  readonly refused: number
  /** In the order in which they came. */
  readonly items: readonly BatchItem[]
}

export interface BatchItem {
  /** The first is 0. */
  readonly index: number
  readonly result: 'created' | 'existing' | 'refused'
  readonly taskId?: string
  readonly problem?: ProblemDetails
}
