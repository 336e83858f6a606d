/** Worlds in which most policies can be judged, made to measure. */
import type { ChainTier } from '../closed-forms/tiers.ts'
import type { Dependency, PolicyDocument, Scenario } from '../scenario/scenario.ts'

export interface OutageWorld {
  readonly loadPerSecond: number
  readonly capacityPerSecond: number
  readonly outageMs: number
  /** How many share the load, each with a budget and a breaker of its own. */
  readonly processes: number
  readonly policy: PolicyDocument
}

/** Long enough before and after that the usual can be seen, and the way back to it. */
const BEFORE_MS = 10_000
const AFTER_MS = 20_000
/** A call on a usual day; what is longer than this waits for others. */
const SERVICE_MS = 20

/** Independent callers, and a dependency every call of which fails for a while. */
export function outageWorld({ loadPerSecond, capacityPerSecond, outageMs, processes, policy }: OutageWorld): Scenario {
  return {
    name: 'outage',
    about: 'every call fails for a while, and then none does',
    durationMs: BEFORE_MS + outageMs + AFTER_MS,
    clients: [
      {
        name: 'clients',
        calls: 'dependency',
        pipeline: 'policy',
        processes,
        arrivals: { kind: 'poisson', perSecond: loadPerSecond },
      },
    ],
    pipelines: { policy },
    dependencies: {
      dependency: {
        ...servers(capacityPerSecond),
        troubles: [{ fromMs: BEFORE_MS, untilMs: BEFORE_MS + outageMs, errorRate: 1, errorMs: 1 }],
      },
    },
  }
}

export interface HerdWorld {
  readonly clients: number
  readonly capacityPerSecond: number
  readonly policy: PolicyDocument
}

/** Long enough for the last retry of most policies. */
const HERD_MS = 60_000
/** Fine enough to see that a wall is one. */
const HERD_STEP_MS = 250
/** What a server lets wait before it refuses: a second's worth of work. */
const QUEUE_MS = 1_000

/** Clients that all call at one instant, as after a time-out that they shared, and a dependency that refuses most. */
export function herdWorld({ clients, capacityPerSecond, policy }: HerdWorld): Scenario {
  return {
    name: 'herd',
    about: 'all clients call at the same instant, and most are refused',
    durationMs: HERD_MS,
    stepMs: HERD_STEP_MS,
    clients: [
      {
        name: 'clients',
        calls: 'dependency',
        pipeline: 'policy',
        count: clients,
        arrivals: { kind: 'together', atMs: 0 },
      },
    ],
    pipelines: { policy },
    dependencies: {
      dependency: {
        ...servers(capacityPerSecond),
        queue: { maxLength: Math.max(1, Math.round((capacityPerSecond * QUEUE_MS) / 1_000)) },
      },
    },
  }
}

function servers(capacityPerSecond: number): { readonly servers: number; readonly serviceMs: number } {
  const servers = Math.max(1, Math.round((capacityPerSecond * SERVICE_MS) / 1_000))
  return { servers, serviceMs: (1_000 * servers) / capacityPerSecond }
}

/**
 * The same world, in which all clients go by another policy. It takes the place of theirs, so that orders by name still
 * reach it; a tier that shares their document by its name follows it, too, and no other does.
 */
export function withPolicy(scenario: Scenario, policy: PolicyDocument): Scenario {
  const { pipelines = {} } = scenario
  const free = freeName(pipelines)
  const clients = scenario.clients.map(group => ({ ...group, pipeline: group.pipeline ?? free }))
  const changed = Object.fromEntries(clients.map(({ pipeline }) => [pipeline, policy]))
  return { ...scenario, clients, pipelines: { ...pipelines, ...changed } }
}

function freeName(taken: object): string {
  let name = 'policy'
  for (let number = 2; Object.hasOwn(taken, name); number++) name = `policy ${number}`
  return name
}

/** The same world, in which every call is made once: what retries are to be compared with. */
export function withoutRetries(scenario: Scenario): Scenario {
  const pipelines = Object.entries(scenario.pipelines ?? {}).map(([name, policy]) => [name, once(policy)] as const)
  return { ...scenario, pipelines: Object.fromEntries(pipelines) }
}

function once(policy: PolicyDocument): PolicyDocument {
  if (!('retry' in policy)) return { ...policy, maxAttempts: 1 }
  const { hedge: _, ...others } = policy
  return { ...others, retry: { ...others.retry, maxAttempts: 1 } }
}

/** Twenty thousand operations: a mean is then within a few in a thousand of the truth. */
const TIERS_PER_SECOND = 1_000
const TIERS_MS = 20_000
/** No tier is stopped by anything but its attempts. */
const PATIENT = { initialDelayMs: 1, maxDelayMs: 1, totalBudgetMs: 3_600_000, attemptTimeoutMs: 3_600_000 }

/** A chain of callers, each with its attempts and nothing else, and at its end a dependency that fails by chance. */
export function tiersWorld(chain: readonly ChainTier[], failureRate: number): Scenario {
  const names = [...chain.map((_, index) => `tier ${index + 1}`), 'end']
  const tier = (index: number): Dependency => ({
    serviceMs: 1,
    downstream: [{ calls: names[index + 1]!, pipeline: names[index]! }],
  })
  return {
    name: 'tiers',
    durationMs: TIERS_MS,
    stepMs: TIERS_MS,
    clients: [{ name: 'clients', calls: names[0]!, arrivals: { kind: 'constant', perSecond: TIERS_PER_SECOND } }],
    pipelines: Object.fromEntries(
      chain.map(({ maxAttempts }, index) => [
        names[index]!,
        { name: names[index]!, retry: { ...PATIENT, maxAttempts }, budget: false as const },
      ]),
    ),
    dependencies: {
      ...Object.fromEntries(chain.map((_, index) => [names[index]!, tier(index)])),
      end: { serviceMs: 1, errorRate: failureRate },
    },
  }
}
