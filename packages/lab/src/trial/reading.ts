import type { CallerMeasures, DependencyMeasures, RunResult } from '../measure/result.ts'
import { largest, sum } from '../measure/totals.ts'
import { knownOperations, percentileMs, servedTogether, spreadTogether } from './latency.ts'

/** The few numbers by which people compare runs, as they are seen at one dependency. */
export interface Reading {
  /** Calls at the dependency, as a multiple of what they would be if nobody called twice. */
  readonly amplification: number
  readonly peakPerSecond: number
  /** The peak, as a multiple of what it would be if nobody called twice. */
  readonly peakTimes: number
  /** Absent: its capacity has no limit. */
  readonly overCapacityMs?: number
  /** Calls that waited there. */
  readonly longestQueue: number
  /** The share of its work that nobody waited for any more. */
  readonly wastedShare: number
  /** Retries and hedges, wherever they went. */
  readonly repeatedCalls: number
  readonly operations: number
  /** Operations that succeeded in the end, as a share. */
  readonly servedShare: number
  /** Operations that were still under way when nobody waited any longer. */
  readonly unended: number
  /** Operations that succeeded, for each second of the run. */
  readonly goodputPerSecond: number
  /** Of what was served; absent: nothing was. */
  readonly p50Ms?: number
  readonly p99Ms?: number
  readonly meanMs?: number
  /** The standard deviation: the root of the variance. */
  readonly deviationMs?: number
  /** When the last operation ended. */
  readonly lastEndMs: number
  /** Whether there was a trouble to get over. */
  readonly hadTrouble: boolean
  /** How long after the trouble goodput was back; absent: there was no trouble, or it never was. */
  readonly recoveredAfterMs?: number
  readonly isMetastable: boolean
}

export type Measure = Exclude<keyof Reading, 'isMetastable' | 'hadTrouble'>

/** What each dependency saw of a run. */
export interface Readings {
  readonly [dependency: string]: Reading
}

/** One reading for each dependency: small enough to be kept of every run, until it is known which of them counts. */
export function readingsOf(result: RunResult): Readings {
  const ofClients = clientsReading(result)
  const busiest = busiestStep(result)
  return Object.fromEntries(
    Object.entries(result.dependencies).map(([name, dependency]) => [
      name,
      { ...dependencyReading(dependency, busiest), ...ofClients },
    ]),
  )
}

/** A run, seen at a dependency; without one at that which suffers most in this run. */
export function readingOf(result: RunResult, dependency?: string): Reading {
  const readings = readingsOf(result)
  return readings[dependency ?? worstOf([readings])]!
}

/**
 * The dependency at which all of these runs are to be compared: of those with a limited capacity, if there are any, the
 * one that any of them calls most beyond what is asked.
 */
export function worstOf(runs: readonly Readings[]): string {
  const all = runs.flatMap(readings => Object.entries(readings))
  const limited = all.filter(([, { overCapacityMs }]) => overCapacityMs !== undefined)
  const [worst] = (limited.length > 0 ? limited : all).reduce((worst, other) =>
    other[1].amplification > worst[1].amplification ? other : worst,
  )
  return worst
}

type OfDependency = 'amplification' | 'peakPerSecond' | 'peakTimes' | 'overCapacityMs' | 'longestQueue' | 'wastedShare'

function dependencyReading(dependency: DependencyMeasures, busiest: Busiest): Pick<Reading, OfDependency> {
  const { calls, amplification, peakPerSecond, capacityPerSecond, overCapacityMs } = dependency
  // Its own first attempts would not do: down a chain they are made by the retries of those above.
  const calmCalls = amplification === 0 ? 0 : calls / amplification
  const calmPeak = calmCalls * busiest.shareOfAll * busiest.perSecond
  return {
    amplification,
    peakPerSecond,
    peakTimes: calmPeak === 0 ? 0 : peakPerSecond / calmPeak,
    ...(capacityPerSecond !== undefined && { overCapacityMs }),
    longestQueue: dependency.longestQueue,
    wastedShare: dependency.wastedShare,
  }
}

function clientsReading({ clients, dependencies, recovery, ...time }: RunResult): Omit<Reading, OfDependency> {
  const groups = Object.values(clients)
  const total = (count: (group: CallerMeasures) => number): number => sum(groups.map(count))
  const succeeded = total(group => group.succeeded)
  const known = knownOperations(groups)
  const served = servedTogether(groups)
  const steps = Math.ceil(time.durationMs / time.stepMs)
  const { recoveredAfterMs, troubleEndsAtMs, isMetastable } = recovery
  return {
    repeatedCalls: sum(Object.values(dependencies).map(({ retries, hedges }) => retries + hedges)),
    operations: total(group => group.operations),
    servedShare: known === 0 ? 0 : succeeded / known,
    unended: total(group => group.unended),
    goodputPerSecond: (total(({ perStep }) => sum(perStep.good.slice(0, steps))) * 1_000) / time.durationMs,
    ...(succeeded > 0 && {
      p50Ms: percentileMs(served, 50),
      p99Ms: percentileMs(served, 99),
      ...spreadTogether(groups),
    }),
    lastEndMs: largest(groups.map(({ lastEndAtMs }) => lastEndAtMs)),
    hadTrouble: troubleEndsAtMs !== undefined,
    ...(recoveredAfterMs !== undefined && { recoveredAfterMs }),
    isMetastable,
  }
}

/** The step in which most begins: by its part of all operations. */
interface Busiest {
  readonly shareOfAll: number
  /** How many of a step are a second. */
  readonly perSecond: number
}

function busiestStep({ clients, stepMs }: RunResult): Busiest {
  const groups = Object.values(clients)
  const operations = sum(groups.map(group => group.operations))
  const steps = largest(groups.map(({ perStep }) => perStep.begun.length))
  const begun = Array.from({ length: steps }, (_, step) => sum(groups.map(({ perStep }) => perStep.begun[step] ?? 0)))
  return { shareOfAll: operations === 0 ? 0 : largest(begun) / operations, perSecond: 1_000 / stepMs }
}
