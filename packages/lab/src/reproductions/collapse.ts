import { runScenario } from '../run-scenario.ts'
import type { PolicyDocument, Scenario } from '../scenario/scenario.ts'
import { immediately, NEVER_MS, UNLIMITED } from './published-policies.ts'
import { between, mean, near, seedsOf, type Effort, type Finding, type Reproduction } from './reproduction.ts'

/** A server that slows down with every call that it has, and clients that are patient for three seconds. */
export function slowingServer(policy: PolicyDocument): Scenario {
  return {
    name: 'slowing server',
    durationMs: 80_000,
    drainMs: 0,
    clients: [
      {
        name: 'clients',
        calls: 'server',
        pipeline: 'policy',
        arrivals: {
          kind: 'ramp',
          points: [
            { atMs: 0, perSecond: 40 },
            { atMs: 25_000, perSecond: 80 },
            { atMs: 75_000, perSecond: 0 },
          ],
        },
        network: { delayMs: { kind: 'exponential', meanMs: 100 } },
      },
    ],
    pipelines: { policy },
    dependencies: { server: { serviceMs: 1_000, serviceMsPerCall: 10 } },
  }
}

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

function collapse(effort: Effort): Finding[] {
  const seeds = seedsOf(effort === 'quick' ? 10 : 30)
  return [
    { what: 'without backoff', policy: immediately('at once', 3, 3_000), retries: 141 },
    { what: 'with backoff and jitter', policy: BACKING_OFF, retries: 108 },
  ].flatMap(({ what, policy, retries }) => {
    const runs = seeds.map(seed => runScenario(slowingServer(policy), { seed }))
    const perSecond = (series: readonly number[], from: number, to: number): number => mean(series.slice(from, to))
    const goodput = mean(runs.map(run => perSecond(run.clients['clients']!.perStep.good, 30, 80)))
    // The published program counts a retry when it is decided upon, before its wait.
    const ours = mean(runs.map(run => perSecond(run.clients['clients']!.perStep.planned, 30, 40)))
    return [
      between(`${what}: goodput per second, 30 to 79 s`, {
        from: 0,
        to: 1,
        ours: goodput,
        theirs: 0,
        unit: 'per-second',
      }),
      near(`${what}: retries decided upon per second, 30 to 40 s`, {
        theirs: retries,
        ours,
        within: 0.1,
        unit: 'per-second',
      }),
    ]
  })
}

export const collapses: readonly Reproduction[] = [
  {
    name: 'congestive-collapse',
    source: 'Brooker, What is backoff for? and Jitter: congestive collapse, 2022–2023 (his program)',
    inputs:
      'latency 1 s + 10 ms for each call there; hops of Exp(0.1 s); time-out 3 s, 3 tries; load up to 80/s and down',
    run: collapse,
  },
]
