import type { CallerMeasures } from '../measure/result.ts'
import { runScenario } from '../run-scenario.ts'
import type { Arrivals, PolicyDocument, Scenario } from '../scenario/scenario.ts'
import { immediately, NEVER_MS, UNLIMITED } from './published-policies.ts'
import { between, mean, near, seedsOf, type Effort, type Finding, type Reproduction } from './reproduction.ts'

const RAMP: Arrivals = {
  kind: 'ramp',
  points: [
    { atMs: 0, perSecond: 40 },
    { atMs: 25_000, perSecond: 80 },
    { atMs: 75_000, perSecond: 0 },
  ],
}
const SPIKE: Arrivals = { kind: 'spike', perSecond: 40, peakPerSecond: 80, fromMs: 20_000, untilMs: 25_000 }
const ONE_CALL: Arrivals = { kind: 'together', atMs: 0 }

/** A server that slows down with every call that it has, and clients that are patient for three seconds. */
export function slowingServer(policy: PolicyDocument, arrivals: Arrivals = RAMP): Scenario {
  return {
    name: 'slowing server',
    durationMs: 80_000,
    drainMs: 0,
    clients: [
      {
        name: 'clients',
        calls: 'server',
        pipeline: 'policy',
        arrivals,
        network: { delayMs: { kind: 'exponential', meanMs: 100 } },
      },
    ],
    pipelines: { policy },
    // The published server takes 1 s and counts the arriving call among those that slow it down; ours counts the others.
    dependencies: { server: { serviceMs: 1_010, serviceMsPerCall: 10 } },
  }
}

const AT_ONCE = immediately('at once', 3, 3_000)
const BACKING_OFF: PolicyDocument = {
  name: 'backing off',
  retry: {
    maxAttempts: 3,
    initialDelayMs: 20_000,
    maxDelayMs: 40_000,
    attemptTimeoutMs: 3_000,
    totalBudgetMs: NEVER_MS,
  },
  budget: UNLIMITED,
}

// The published program prints no figures for comparison: `theirs` is what its rules give over 200 runs, 600 of the spike
// without backoff, where three runs in four stay down and the others recover.
function collapse(effort: Effort): Finding[] {
  const seeds = seedsOf(effort === 'quick' ? 10 : 30)
  const { server } = runScenario(slowingServer(AT_ONCE, ONE_CALL), { seed: 1 }).dependencies
  return [
    near('a call that is alone: time at the server', {
      theirs: 1_010,
      ours: server?.workMs ?? NaN,
      within: 0,
      unit: 'ms',
    }),
    ...afterTheRamp('without backoff', { policy: AT_ONCE, seeds, retries: 142.6 }),
    ...afterTheRamp('with backoff and jitter', { policy: BACKING_OFF, seeds, retries: 104.1 }),
    near('a spike of 5 s, without backoff: goodput per second, 30 to 79 s', {
      theirs: 10.9,
      ours: mean(goodputs(slowingServer(AT_ONCE, SPIKE), seedsOf(100))),
      within: 0.35, // two standard errors of a hundred runs
      unit: 'per-second',
    }),
    near('a spike of 5 s, with backoff and jitter: goodput per second, 30 to 79 s', {
      theirs: 43.5,
      ours: mean(goodputs(slowingServer(BACKING_OFF, SPIKE), seeds)),
      within: 0.05,
      unit: 'per-second',
    }),
  ]
}

interface Ramped {
  readonly policy: PolicyDocument
  readonly seeds: readonly number[]
  /** A second, by the published program. */
  readonly retries: number
}

function afterTheRamp(what: string, { policy, seeds, retries }: Ramped): Finding[] {
  const world = slowingServer(policy)
  const planned = seeds.map(seed => mean(clientsOf(world, seed).planned.slice(30, 40)))
  return [
    between(`${what}: goodput per second, 30 to 79 s`, {
      from: 0,
      to: 1,
      ours: mean(goodputs(world, seeds)),
      theirs: 0,
      unit: 'per-second',
    }),
    // The published program counts a retry when it is decided upon, before its wait.
    near(`${what}: retries decided upon per second, 30 to 40 s`, {
      theirs: retries,
      ours: mean(planned),
      within: 0.03,
      unit: 'per-second',
    }),
  ]
}

function goodputs(world: Scenario, seeds: readonly number[]): number[] {
  return seeds.map(seed => mean(clientsOf(world, seed).good.slice(30, 80)))
}

function clientsOf(world: Scenario, seed: number): CallerMeasures['perStep'] {
  const { clients } = runScenario(world, { seed }).clients
  if (clients === undefined) throw new TypeError('the scenario has clients')
  return clients.perStep
}

export const collapses: readonly Reproduction[] = [
  {
    name: 'congestive-collapse',
    source: 'Brooker, What is backoff for? and Jitter: congestive collapse, 2022–2023 (his program)',
    inputs:
      'latency 1 s + 10 ms for each call there, the arriving one included; hops of Exp(0.1 s); time-out 3 s, 3 tries; load up to 80/s and down, or 40/s with 80/s for 5 s',
    run: collapse,
  },
]
