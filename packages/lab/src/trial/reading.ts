import type { DependencyMeasures, RunResult } from '../measure/result.ts'

/** The few numbers by which people compare runs. */
export interface Reading {
  /** Calls at the dependency that suffers most, as a multiple of what they would be if nobody called twice. */
  readonly amplification: number
  readonly peakPerSecond: number
  /** The peak, as a multiple of what it would be if nobody called twice. */
  readonly peakTimes: number
  /** Absent: its capacity has no limit. */
  readonly overCapacityMs?: number
  /** Operations that succeeded in the end, as a share. */
  readonly servedShare: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** When the last operation ended. */
  readonly lastEndMs: number
  readonly wastedShare: number
  /** How long after the trouble goodput was back; absent: there was no trouble, or it never was. */
  readonly recoveredAfterMs?: number
  readonly isMetastable: boolean
}

export type Measure = Exclude<keyof Reading, 'isMetastable'>

export function readingOf(result: RunResult): Reading {
  const groups = Object.values(result.clients)
  const [, dependency] = worstOf(result)
  const { amplification, peakPerSecond, capacityPerSecond, overCapacityMs, wastedShare } = dependency
  const succeeded = sum(groups.map(group => group.succeeded))
  const ended = succeeded + sum(groups.flatMap(({ reasons }) => Object.values(reasons)))
  const calmPeak = peakWithoutRetries(result, dependency)
  const { recoveredAfterMs, isMetastable } = result.recovery
  return {
    amplification,
    peakPerSecond,
    peakTimes: calmPeak === 0 ? 0 : peakPerSecond / calmPeak,
    ...(capacityPerSecond !== undefined && { overCapacityMs }),
    servedShare: ended === 0 ? 0 : succeeded / ended,
    p50Ms: Math.max(...groups.map(({ latency }) => latency.p50Ms)),
    p99Ms: Math.max(...groups.map(({ latency }) => latency.p99Ms)),
    lastEndMs: Math.max(...groups.map(({ lastEndAtMs }) => lastEndAtMs)),
    wastedShare,
    ...(recoveredAfterMs !== undefined && { recoveredAfterMs }),
    isMetastable,
  }
}

/** Of those with a limited capacity, if there are any, the one that is called most beyond what is asked; by its name. */
export function worstOf({ dependencies }: RunResult): readonly [name: string, DependencyMeasures] {
  const all = Object.entries(dependencies)
  const limited = all.filter(([, { capacityPerSecond }]) => capacityPerSecond !== undefined)
  return (limited.length > 0 ? limited : all).reduce((worst, other) =>
    other[1].amplification > worst[1].amplification ? other : worst,
  )
}

/**
 * What begins in the busiest step, and what a dependency would be called for it. Its own first attempts would not do: down
 * a chain they are made by the retries of those above.
 */
function peakWithoutRetries({ clients, stepMs }: RunResult, { calls, amplification }: DependencyMeasures): number {
  const groups = Object.values(clients)
  const operations = sum(groups.map(group => group.operations))
  if (operations === 0 || amplification === 0) return 0
  const steps = Math.max(...groups.map(({ perStep }) => perStep.begun.length))
  const begun = Array.from({ length: steps }, (_, step) => sum(groups.map(({ perStep }) => perStep.begun[step] ?? 0)))
  return (((Math.max(...begun) * calls) / amplification / operations) * 1_000) / stepMs
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
