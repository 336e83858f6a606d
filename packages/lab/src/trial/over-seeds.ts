import type { Measure, Reading } from './reading.ts'

/** A mean over several seeds, and where the true one lies in nineteen cases of twenty. */
export interface Estimate {
  readonly mean: number
  readonly low: number
  readonly high: number
}

/** A measure over all runs; undefined where a run has none of it. */
export function estimate(readings: readonly Reading[], measure: Measure): Estimate | undefined {
  return estimateOf(readings.map(reading => reading[measure]))
}

/** One value for each run; undefined where a run has none. */
export function estimateOf(runs: readonly (number | undefined)[]): Estimate | undefined {
  const values = runs.filter(value => value !== undefined)
  if (values.length < runs.length || values.length === 0) return undefined
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  if (values.length === 1) return { mean, low: mean, high: mean }
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  const half = studentT(values.length - 1) * Math.sqrt(squares / (values.length - 1) / values.length)
  return { mean, low: mean - half, high: mean + half }
}

/** Why there is no estimate of a measure: what happened in the runs that have none of it. */
export function sayMissing(readings: readonly Reading[], measure: Measure): string {
  const missing = readings.filter(reading => reading[measure] === undefined).length
  const said = WHEN_MISSING[measure] ?? 'it has none'
  return missing === readings.length ? said : `${said} in ${missing} of ${readings.length} runs`
}

const WHEN_MISSING: { readonly [measure in Measure]?: string } = {
  p50Ms: 'nothing was served',
  p99Ms: 'nothing was served',
  meanMs: 'nothing was served',
  deviationMs: 'nothing was served',
  recoveredAfterMs: 'it never recovered',
  overCapacityMs: 'its capacity has no limit',
}

const MEASURES: readonly Measure[] = [
  'amplification',
  'peakPerSecond',
  'peakTimes',
  'overCapacityMs',
  'repeatedCalls',
  'operations',
  'servedShare',
  'unended',
  'goodputPerSecond',
  'p50Ms',
  'p99Ms',
  'meanMs',
  'deviationMs',
  'lastEndMs',
  'longestQueue',
  'wastedShare',
  'recoveredAfterMs',
]

export type Estimates = { readonly [measure in Measure]?: Estimate }

/** Every measure over all runs; what some of them do not have is left out. */
export function estimatesOf(readings: readonly Reading[]): Estimates {
  const found = MEASURES.map(measure => [measure, estimate(readings, measure)] as const)
  return Object.fromEntries(found.filter(([, one]) => one !== undefined))
}

/** All measures in their means; what some runs do not have is left out, and a single one that stays down counts. */
export function meanReading(readings: readonly Reading[]): Reading {
  const means = Object.entries(estimatesOf(readings)).map(([measure, { mean }]) => [measure, mean])
  return {
    ...Object.fromEntries(means),
    hadTrouble: readings.some(({ hadTrouble }) => hadTrouble),
    isMetastable: readings.some(({ isMetastable }) => isMetastable),
  } as Reading
}

/** The run in the middle: what one picture stands for when there are many. */
export function middleOf<Run>(runs: readonly Run[], value: (run: Run) => number): Run {
  const sorted = runs.toSorted((left, right) => value(left) - value(right))
  return sorted[Math.floor((sorted.length - 1) / 2)]!
}

/** Student's t for 95 %, two-sided, by degrees of freedom; beyond the table that of the normal distribution is close. */
const STUDENT_T = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
]
const STUDENT_T_30 = 2.042
const NORMAL = 1.96

function studentT(degrees: number): number {
  return STUDENT_T[degrees - 1] ?? (degrees <= 30 ? STUDENT_T.at(-1)! : degrees <= 60 ? STUDENT_T_30 : NORMAL)
}
