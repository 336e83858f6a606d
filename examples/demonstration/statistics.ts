import type { CallResult } from './load.ts'

/** How one contender fared. */
export interface Summary {
  readonly name: string
  readonly succeeded: number
  readonly failed: number
  readonly arrived: number
  /** The most that arrived within one second, whenever it began. */
  readonly peakPerSecond: number
  /** Calls that arrived for each one that was wanted. */
  readonly amplification: number
  /** Of the calls that succeeded. */
  readonly p50Ms: number
  readonly p95Ms: number
}

export function summarize(name: string, results: readonly CallResult[], arrivals: readonly number[]): Summary {
  const tookMs = results.filter(({ succeeded }) => succeeded).map(result => result.tookMs)
  return {
    name,
    succeeded: tookMs.length,
    failed: results.length - tookMs.length,
    arrived: arrivals.length,
    peakPerSecond: busiestSecond(arrivals),
    amplification: arrivals.length / results.length,
    p50Ms: percentile(tookMs, 50),
    p95Ms: percentile(tookMs, 95),
  }
}

/** The smallest value that so many in a hundred do not exceed; NaN of nothing. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((left, right) => left - right)
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? NaN
}

/** Instants are in the order in which they came. */
export function busiestSecond(instants: readonly number[]): number {
  let [most, oldest] = [0, 0]
  for (const [newest, at] of instants.entries()) {
    while (instants[oldest]! <= at - 1_000) oldest++
    most = Math.max(most, newest - oldest + 1)
  }
  return most
}

/** How many instants fall into each part of the time from 0 on; what is later is left out. */
export function countParts(
  instants: readonly number[],
  parts: { readonly count: number; readonly ms: number },
): number[] {
  const counts = Array.from({ length: parts.count }, () => 0)
  for (const at of instants) {
    const part = Math.floor(at / parts.ms)
    if (part >= 0 && part < parts.count) counts[part]!++
  }
  return counts
}
