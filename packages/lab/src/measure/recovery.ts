import { DEFAULT_SCENARIO, type Scenario } from '../scenario/scenario.ts'
import { callsWithoutRetries } from './calls-without-retries.ts'
import type { CallerMeasures, DependencyMeasures, Recovery } from './result.ts'
import { largest, sum } from './totals.ts'

interface Known {
  readonly clients: { readonly [name: string]: CallerMeasures }
  readonly dependencies: { readonly [name: string]: DependencyMeasures }
}

/** Nineteen in twenty: a world that was never in trouble has chance failures too. */
const RECOVERED_SHARE = 0.95
/** Judged over five steps at a time: a single one is noise. */
const STEPS_TOGETHER = 5

export function recoveryOf(scenario: Scenario, stepMs: number, { clients, dependencies }: Known): Recovery {
  const troubleEndsAtMs = troubleEndOf(scenario)
  if (troubleEndsAtMs === undefined) return { isMetastable: false }
  const groups = Object.values(clients)
  const steps = Math.floor(scenario.durationMs / stepMs)
  const total = (counts: (group: CallerMeasures) => readonly number[], from: number, to: number): number =>
    sum(groups.map(group => sum(counts(group).slice(from, to))))
  const isGood = (from: number, to: number): boolean =>
    total(group => group.perStep.good, from, to) >= RECOVERED_SHARE * total(group => group.perStep.begun, from, to)

  const first = Math.ceil(troubleEndsAtMs / stepMs)
  // For good: the last tenth counts as the end of the story.
  const endsWell = isGood(Math.max(first, Math.floor(steps * 0.9)), steps)
  if (endsWell) {
    let step = first
    while (step < steps && !isGood(step, Math.min(steps, step + STEPS_TOGETHER))) step++
    // Well from the first whole step on: what is left of the one before it is the step's length, and no recovery.
    const recoveredAfterMs = step === first ? 0 : step * stepMs - troubleEndsAtMs
    return { troubleEndsAtMs, recoveredAfterMs, isMetastable: false }
  }
  const isSeen = first < steps * 0.8
  return { troubleEndsAtMs, isMetastable: isSeen && couldBeBorne(scenario, { clients, dependencies }, first, steps) }
}

/** Whether what is asked since the trouble, each call made once, is below capacity everywhere. */
function couldBeBorne(scenario: Scenario, { clients, dependencies }: Known, from: number, until: number): boolean {
  const seconds = ((until - from) * (scenario.durationMs / until)) / 1_000
  const begun = (group: string): number => sum(clients[group]!.perStep.begun.slice(from, until))
  const asked = callsWithoutRetries(scenario, begun)
  return Object.entries(dependencies).every(
    ([name, { capacityPerSecond = Infinity }]) => (asked.get(name) ?? 0) / seconds < capacityPerSecond,
  )
}

/**
 * When the last trouble, or spike of load, is over. Undefined: there is none, or none that ends while there is still a
 * whole step in which a recovery could be seen.
 */
export function troubleEndOf(scenario: Scenario): number | undefined {
  const { clients, dependencies, durationMs, stepMs } = { ...DEFAULT_SCENARIO, ...scenario }
  const ends = [
    ...Object.values(dependencies).flatMap(({ troubles = [] }) => troubles.map(({ untilMs }) => untilMs)),
    ...clients.flatMap(({ arrivals }) => (arrivals.kind === 'spike' ? [arrivals.untilMs] : [])),
  ].filter(end => Math.ceil(end / stepMs) < Math.floor(durationMs / stepMs))
  return ends.length === 0 ? undefined : largest(ends)
}
