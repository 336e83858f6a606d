import { runScenario } from '../run-scenario.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { immediately, PUBLISHED_BUCKET, PUBLISHED_FAILURE_SHARE, TOLD_BUCKET } from './published-policies.ts'
import { between, mean, near, seedsOf, type Effort, type Finding, type Reproduction } from './reproduction.ts'

type Strategy = 'three' | 'bucket' | 'bucket-by-success' | 'failure-share'

function scenarioOf(strategy: Strategy, errorRate: number): Scenario {
  return {
    name: `${strategy} at ${errorRate}`,
    durationMs: 10_000,
    clients: [
      {
        name: 'clients',
        calls: 'server',
        pipeline: strategy,
        count: 100,
        arrivals: { kind: 'poisson', perSecond: 1_000 },
        network: { delayMs: { kind: 'exponential', meanMs: 10 } },
      },
    ],
    pipelines: { [strategy]: immediately(strategy, strategy.startsWith('bucket') ? 10_000 : 4) },
    dependencies: { server: { serviceMs: 0, errorRate } },
  }
}

const BUDGETS = {
  three: {},
  bucket: { bucket: PUBLISHED_BUCKET },
  'bucket-by-success': { 'bucket-by-success': TOLD_BUCKET },
  'failure-share': { 'failure-share': PUBLISHED_FAILURE_SHARE },
}

export function strategyAt(strategy: Strategy, errorRate: number, effort: Effort): { success: number; load: number } {
  const results = seedsOf(effort === 'quick' ? 5 : 20).map(seed => {
    const { clients } = runScenario(scenarioOf(strategy, errorRate), { seed, budgets: BUDGETS[strategy] })
    return clients['clients']!
  })
  return {
    success: mean(results.map(({ successShare }) => successShare)),
    load: mean(results.map(({ attemptsPerOperation }) => attemptsPerOperation)),
  }
}

const PUBLISHED: readonly (readonly [Strategy, number, success: number, load: number])[] = [
  ['three', 0.1, 0.9999, 1.111],
  ['bucket', 0.1, 0.993, 1.103],
  ['failure-share', 0.1, 0.932, 1.035],
  ['three', 0.3, 0.992, 1.417],
  ['bucket', 0.3, 0.797, 1.139],
  ['failure-share', 0.3, 0.7, 1],
  ['three', 0.5, 0.9375, 1.875],
  ['bucket', 0.5, 0.571, 1.142],
  ['failure-share', 0.5, 0.5, 1],
]

function compare(effort: Effort): Finding[] {
  return PUBLISHED.flatMap(([strategy, errorRate, success, load]) => {
    const ours = strategyAt(strategy, errorRate, effort)
    const within = strategy === 'three' ? 0.01 : 0.015
    const what = `${strategy}, ${errorRate * 100} % failing`
    return [
      near(`${what}: success`, { theirs: success, ours: ours.success, within, of: 'amount', unit: 'share' }),
      near(`${what}: calls per operation`, { theirs: load, ours: ours.load, within, of: 'amount', unit: 'times' }),
      near(`${what}: success is what is not failing of the load`, {
        theirs: (1 - errorRate) * ours.load,
        ours: ours.success,
        within: 0.01,
        of: 'amount',
        unit: 'share',
      }),
    ]
  })
}

function zoom(effort: Effort): Finding[] {
  const { success } = strategyAt('failure-share', 0.05, effort)
  const three = strategyAt('three', 0.05, effort)
  return [
    between('failure-share, 5 % failing: success', {
      from: 0.98,
      to: 0.995,
      ours: success,
      theirs: 0.988,
      unit: 'share',
    }),
    between('three, 5 % failing: success', { from: 0.999, to: 1, ours: three.success, theirs: 1, unit: 'share' }),
  ]
}

const SOURCE = 'Brooker, Fixing retries with token buckets and circuit breakers, 2022 (its program)'
const INPUTS = '100 clients, 10 calls a second each, no wait between tries, hops of Exp(10 ms)'

export const retryStrategies: readonly Reproduction[] = [
  { name: 'retry-strategies', source: SOURCE, inputs: `${INPUTS}; 10, 30 and 50 % failing`, run: compare },
  { name: 'retry-strategies-zoom', source: SOURCE, inputs: `${INPUTS}; 5 % failing, below the threshold`, run: zoom },
]
