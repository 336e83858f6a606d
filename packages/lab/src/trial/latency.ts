import type { CallerMeasures } from '../measure/result.ts'
import { sum } from '../measure/totals.ts'

/** Operations of which it is known what came of them: those that ended, and those that never did. */
export function knownOperations(groups: readonly CallerMeasures[]): number {
  return sum(groups.map(({ succeeded, reasons, unended }) => succeeded + sum(Object.values(reasons)) + unended))
}

/** So many operations took so long: the shortest first. */
export type Served = readonly { readonly ms: number; readonly count: number }[]

/** What several groups were served, as if they were one. */
export function servedTogether(groups: readonly CallerMeasures[]): Served {
  const counts = new Map<number, number>()
  for (const { latency } of groups) {
    let before = 0
    for (const { ms, share } of latency.distribution) {
      counts.set(ms, (counts.get(ms) ?? 0) + Math.round((share - before) * latency.count))
      before = share
    }
  }
  return Array.from(counts, ([ms, count]) => ({ ms, count })).toSorted((one, other) => one.ms - other.ms)
}

/** Mean and deviation of several groups, as if they were one: what differs within each of them, and between them. */
export function spreadTogether(groups: readonly CallerMeasures[]): {
  readonly meanMs: number
  readonly deviationMs: number
} {
  const all = groups.map(({ latency }) => latency)
  const count = sum(all.map(latency => latency.count))
  const meanMs = sum(all.map(latency => latency.count * latency.meanMs)) / count
  const squares = sum(
    all.map(latency => {
      const within = Math.max(0, latency.count - 1) * latency.varianceMs2
      return within + latency.count * (latency.meanMs - meanMs) ** 2
    }),
  )
  return { meanMs, deviationMs: count < 2 ? 0 : Math.sqrt(squares / (count - 1)) }
}

/** So many in a hundred did not take longer; 0 when there are none. */
export function percentileMs(served: Served, percentile: number): number {
  const rank = Math.max(1, Math.ceil((percentile / 100) * sum(served.map(({ count }) => count))))
  let seen = 0
  return served.find(({ count }) => (seen += count) >= rank)?.ms ?? 0
}
