/** Pictures of a policy itself, asked of the library's own rules with many dice. */
import { delayMs, type RetryPolicy } from '@secondwind/resilience'
import type { TierLoad } from '../closed-forms/tiers.ts'
import type { DelayBand, DelayBands, Tier, TierTree } from './picture.ts'

/** Operations that are played: the ends of the bands are then within a percent of their place. */
const PLAYED = 4_000
/** More than a picture has room for. */
const MOST_BANDS = 30

/** When each attempt of an operation whose calls all fail at once begins. */
export function delayBandsOf(
  policy: RetryPolicy,
  { title, random }: { title: string; random: () => number },
): DelayBands {
  const retries = Math.min(policy.maxAttempts - 1, MOST_BANDS)
  const starts = Array.from({ length: retries }, () => new Float64Array(PLAYED))
  for (let operation = 0; operation < PLAYED; operation++) {
    let [atMs, previousDelayMs] = [0, policy.initialDelayMs]
    for (const [index, begun] of starts.entries()) {
      previousDelayMs = delayMs(policy, { attempt: index + 1, previousDelayMs }, random())
      atMs += previousDelayMs
      begun[operation] = atMs
    }
  }
  const bands = starts.map((begun, index) => bandOf(index + 2, begun.toSorted()))
  return { kind: 'delay-bands', title, bands, deadlineMs: policy.totalBudgetMs }
}

function bandOf(attempt: number, sorted: Float64Array): DelayBand {
  const at = (share: number): number => sorted[Math.floor(share * sorted.length)]!
  return { attempt, p5Ms: at(0.05), p25Ms: at(0.25), p50Ms: at(0.5), p75Ms: at(0.75), p95Ms: at(0.95) }
}

/** A chain of callers, each below the one that calls it, and at the end what the last of them calls. */
export function tierTreeOf(loads: readonly TierLoad[], { title, end }: { title: string; end: string }): TierTree {
  const names = [...loads.map(({ name }) => name), end]
  const calls = loads.reduceRight<Tier[]>(
    (calls, { maxAttempts, callsPerOperation }, index) => [
      { name: names[index + 1]!, callsPerOperation, maxAttempts, calls },
    ],
    [],
  )
  return { kind: 'tier-tree', title, root: { name: names[0]!, callsPerOperation: 1, calls } }
}
