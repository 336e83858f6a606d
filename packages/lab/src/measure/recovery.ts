import type { Scenario } from '../scenario/scenario.ts'
import { callsWithoutRetries } from './calls-without-retries.ts'
import type { CallerMeasures, DependencyMeasures, Recovery } from './result.ts'

interface Known {
  readonly clients: { readonly [name: string]: CallerMeasures }
  readonly dependencies: { readonly [name: string]: DependencyMeasures }
}

/** Nineteen in twenty: a world that was never in trouble has chance failures too. */
const RECOVERED_SHARE = 0.95
/** Judged over five steps at a time: a single one is noise. */
const STEPS_TOGETHER = 5

export function recoveryOf(scenario: Scenario, stepMs: number, { clients, dependencies }: Known): Recovery {
  const troubleEndsAtMs = lastTroubleEnd(scenario)
  if (troubleEndsAtMs === undefined) return { isMetastable: false }
  const groups = Object.values(clients)
  const steps = Math.floor(scenario.durationMs / stepMs)
  const total = (counts: (group: CallerMeasures) => readonly number[], from: number, to: number): number =>
    groups.reduce(
      (all, group) =>
        all +
        counts(group)
          .slice(from, to)
          .reduce((sum, count) => sum + count, 0),
      0,
    )
  const isGood = (from: number, to: number): boolean =>
    total(group => group.perStep.good, from, to) >= RECOVERED_SHARE * total(group => group.perStep.begun, from, to)

  const first = Math.ceil(troubleEndsAtMs / stepMs)
  // For good: the last tenth counts as the end of the story.
  const endsWell = first < steps && isGood(Math.max(first, Math.floor(steps * 0.9)), steps)
  if (endsWell) {
    let step = first
    while (step < steps && !isGood(step, Math.min(steps, step + STEPS_TOGETHER))) step++
    return { troubleEndsAtMs, recoveredAfterMs: Math.max(0, step * stepMs - troubleEndsAtMs), isMetastable: false }
  }
  const isSeen = first < steps * 0.8
  return { troubleEndsAtMs, isMetastable: isSeen && couldBeBorne(scenario, { clients, dependencies }, first, steps) }
}

/** Whether what is asked since the trouble, each call made once, is below capacity everywhere. */
function couldBeBorne(scenario: Scenario, { clients, dependencies }: Known, from: number, until: number): boolean {
  const seconds = ((until - from) * (scenario.durationMs / until)) / 1_000
  const begun = (group: string): number =>
    clients[group]!.perStep.begun.slice(from, until).reduce((sum, count) => sum + count, 0)
  const asked = callsWithoutRetries(scenario, begun)
  return Object.entries(dependencies).every(
    ([name, { capacityPerSecond = Infinity }]) => (asked.get(name) ?? 0) / seconds < capacityPerSecond,
  )
}

/** Of troubles that end while calls still begin, and of spikes. */
function lastTroubleEnd({ clients, dependencies, durationMs }: Scenario): number | undefined {
  const ends = [
    ...Object.values(dependencies).flatMap(({ troubles = [] }) => troubles.map(({ untilMs }) => untilMs)),
    ...clients.flatMap(({ arrivals }) => (arrivals.kind === 'spike' ? [arrivals.untilMs] : [])),
  ].filter(end => end < durationMs)
  return ends.length === 0 ? undefined : Math.max(...ends)
}
