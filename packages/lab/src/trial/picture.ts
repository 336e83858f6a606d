import type { CallerMeasures, RunResult } from '../measure/result.ts'
import type { ArrivalsPicture, DistributionPicture, DistributionSeries, NamedSpan } from '../plots/picture.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { knownOperations, servedTogether } from './latency.ts'
import { readingsOf, worstOf } from './reading.ts'

export interface NamedRun {
  readonly name: string
  readonly result: RunResult
}

/** Calls at one dependency for each run, with what happened to it meanwhile; without a name at the one that suffers most. */
export function arrivalsOf(
  runs: readonly NamedRun[],
  scenario: Scenario,
  dependency: string = worstOf(runs.map(({ result }) => readingsOf(result))),
): ArrivalsPicture {
  const { result } = runs[0]!
  const { capacityPerSecond } = result.dependencies[dependency]!
  const callers = callersOf(scenario, dependency)
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
    ...(callers !== undefined && { firstAttemptsOf: callers }),
    spans: troublesOf(scenario, dependency),
  }
}

/** Who calls it, if a tier is among them: its first attempts are made by the retries of those above it, too. */
function callersOf({ clients, dependencies }: Scenario, name: string): string | undefined {
  const tiers = Object.entries(dependencies).flatMap(([tier, { downstream = [] }]) =>
    downstream.some(({ calls }) => calls === name) ? [tier] : [],
  )
  const groups = clients.flatMap(group => (group.calls === name ? [group.name] : []))
  return tiers.length === 0 ? undefined : [...groups, ...tiers].join(', ')
}

function troublesOf({ dependencies, durationMs }: Scenario, name: string): NamedSpan[] {
  const { troubles = [] } = dependencies[name]!
  return troubles.map(({ fromMs, untilMs }) => ({ name: 'trouble', fromMs, untilMs: Math.min(untilMs, durationMs) }))
}

/**
 * How long operations took, for each run, or for each group of clients where there is one run only; what was never served is
 * missing to the whole.
 */
export function latenciesOf(runs: readonly NamedRun[]): DistributionPicture {
  const [only] = runs
  const groups = Object.entries(only!.result.clients)
  const isByGroup = runs.length === 1 && groups.length > 1
  return {
    kind: 'cdf',
    title: 'operations served within a time',
    scale: 'log',
    series: isByGroup
      ? groups.map(([name, group]) => ({ name, points: pointsOf([group]) }))
      : runs.map(({ name, result }) => ({ name, points: pointsOf(Object.values(result.clients)) })),
  }
}

function pointsOf(groups: readonly CallerMeasures[]): DistributionSeries['points'] {
  const known = knownOperations(groups)
  let seen = 0
  return servedTogether(groups).map(({ ms, count }) => ({ atMs: ms, share: (seen += count) / known }))
}
