import type { Calls } from '../contenders/contender.ts'
import type { Figures, Work } from '../work.ts'

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

type ContenderName = (typeof CONTENDERS)[number]

/** A work of the library: `run` happens in a fresh process per lap and contender, all else in the runner. */
export interface LibraryWork extends Work {
  readonly contenders: readonly ContenderName[]
  readonly run: (calls: Calls) => Promise<Figures>
}
