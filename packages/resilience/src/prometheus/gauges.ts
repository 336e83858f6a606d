import type { BreakerPhaseName } from '../breaker/decide.ts'
import { OTHER } from './label-sets.ts'
import { GAUGES, type GaugeName } from './metrics.ts'
import type { Family, Sample } from './text.ts'

export interface Watched {
  /** The label `client`; else the collector's own. */
  readonly client?: string
  readonly budget?: { readonly balance: number } | undefined
  readonly breaker?: { readonly phase: BreakerPhaseName } | undefined
  readonly limiter?: { readonly limit: number } | undefined
}

type NamedWatched = Watched & { readonly client: string }

/** What is watched, as it is now. Several of one client are added up, and so are clients beyond `maxClients`. */
export function watchedFamilies(watched: readonly NamedWatched[], maxClients: number): Family[] {
  const shown = new Set([...new Set(watched.map(({ client }) => client))].slice(0, maxClients))
  const readings = watched.flatMap(one => read({ ...one, client: shown.has(one.client) ? one.client : OTHER }))
  return Object.entries(GAUGES).map(([name, help]) => {
    const samples = addedUp(readings.filter(reading => reading.name === name))
    return { name, type: 'gauge', help, samples }
  })
}

interface Reading extends Sample {
  readonly name: GaugeName
}

const PHASES: readonly BreakerPhaseName[] = ['closed', 'open', 'half-open', 'forced-open', 'forced-closed']

function read({ client, budget, breaker, limiter }: NamedWatched): Reading[] {
  const readings: Reading[] = []
  // Looked at once: while time passes it must not be seen in two states.
  const phase = breaker?.phase
  if (phase !== undefined)
    for (const state of PHASES)
      readings.push({ name: 'retry_breaker_state', labels: { client, state }, value: Number(state === phase) })
  if (budget !== undefined) readings.push({ name: 'retry_budget_balance', labels: { client }, value: budget.balance })
  if (limiter !== undefined)
    readings.push({ name: 'retry_concurrency_limit', labels: { client }, value: limiter.limit })
  return readings
}

function addedUp(readings: readonly Reading[]): Sample[] {
  const sums = new Map<string, Sample>()
  for (const { labels, value } of readings) {
    const key = JSON.stringify(labels)
    sums.set(key, { labels, value: (sums.get(key)?.value ?? 0) + value })
  }
  return [...sums.values()]
}
