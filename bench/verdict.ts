/** Holds bars against what was measured. */
import { compare, type Summary, summarize } from './statistics.ts'
import type { Bar, Figures, Work } from './work.ts'

/** One contender's turn in one work: in every round of a run each has one. Runs and rounds count from 1. */
export interface Lap {
  readonly run: number
  readonly round: number
  readonly workId: string
  readonly contender: string
  readonly figures: Figures
}

/** A bar and what it came to in each run; empty where ours or the other side was not measured. */
export interface Verdict {
  readonly work: Work
  readonly bar: Bar
  readonly runs: readonly RunResult[]
  readonly result: 'held' | 'missed' | 'not measured'
}

export interface RunResult {
  readonly measured: Summary
  readonly isHeld: boolean
}

export function judge(work: Work, laps: readonly Lap[], runCount: number): Verdict[] {
  return work.bars.map(bar => {
    const runs: RunResult[] = []
    for (let run = 1; run <= runCount; run++) {
      const measured = measure(bar, lapsOfRun(laps, work, run))
      if (measured !== undefined) runs.push({ measured, isHeld: IS_HELD[bar.sign](measured.median, bar.limit) })
    }
    return { work, bar, runs, result: resultOf(runs) }
  })
}

/** One bad run of three proves nothing on a shared machine; two do. */
function resultOf(runs: readonly RunResult[]): Verdict['result'] {
  if (runs.length === 0) return 'not measured'
  const missedCount = runs.filter(({ isHeld }) => !isHeld).length
  return missedCount * 2 > runs.length ? 'missed' : 'held'
}

function measure(bar: Bar, laps: readonly Lap[]): Summary | undefined {
  const ours = valuesOf(laps, 'secondwind', bar.figure)
  if (ours.length === 0) return undefined
  if (bar.times === undefined) return summarize(ours)
  const theirs = valuesOf(laps, bar.times, bar.figure)
  return theirs.length === 0 ? undefined : compare(ours, theirs)
}

const IS_HELD: Readonly<Record<Bar['sign'], (value: number, limit: number) => boolean>> = {
  '<': (value, limit) => value < limit,
  '≤': (value, limit) => value <= limit,
  '≥': (value, limit) => value >= limit,
}

export function lapsOfRun(laps: readonly Lap[], work: Work, run: number): Lap[] {
  return laps.filter(lap => lap.run === run && lap.workId === work.id)
}

/** One value per round, in their order; none for a figure that this contender does not have. */
export function valuesOf(laps: readonly Lap[], contender: string, figure: string): number[] {
  return laps
    .filter(lap => lap.contender === contender)
    .toSorted((a, b) => a.round - b.round)
    .flatMap(lap => lap.figures[figure] ?? [])
}
