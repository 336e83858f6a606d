import type { RunResult } from '../measure/result.ts'
import type { ArrivalsPicture, DistributionPicture, NamedSpan } from '../plots/picture.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { worstOf } from './reading.ts'

export interface NamedRun {
  readonly name: string
  readonly result: RunResult
}

/** Calls at the dependency that suffers most, for each run, with what happened to it meanwhile. */
export function arrivalsOf(runs: readonly NamedRun[], scenario: Scenario): ArrivalsPicture {
  const { result } = runs[0]!
  const [dependency, { capacityPerSecond }] = worstOf(result)
  const steps = Math.ceil(result.durationMs / result.stepMs)
  return {
    kind: 'arrivals',
    title: `calls at ${dependency}`,
    bucketMs: result.stepMs,
    series: runs.map(({ name, result }) => {
      const { first, retries, hedges } = result.dependencies[dependency]!.perStep
      return { name, first: first.slice(0, steps), retries: retries.slice(0, steps), hedges: hedges.slice(0, steps) }
    }),
    ...(capacityPerSecond !== undefined && { capacityPerSecond }),
    spans: troublesOf(scenario, dependency),
  }
}

function troublesOf({ dependencies, durationMs }: Scenario, name: string): NamedSpan[] {
  const { troubles = [] } = dependencies[name]!
  return troubles.map(({ fromMs, untilMs }) => ({ name: 'trouble', fromMs, untilMs: Math.min(untilMs, durationMs) }))
}

/** How long operations took, for each run; what was never served is missing to the whole. */
export function latenciesOf(runs: readonly NamedRun[]): DistributionPicture {
  return {
    kind: 'cdf',
    title: 'operations served within a time',
    scale: 'log',
    series: runs.map(({ name, result }) => {
      const [group] = Object.values(result.clients)
      const points = group!.latency.distribution.map(({ ms, share }) => ({
        atMs: ms,
        share: share * group!.successShare,
      }))
      return { name, points }
    }),
  }
}
