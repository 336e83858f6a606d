import { runScenario } from '../run-scenario.ts'
import type { Dependency, Scenario } from '../scenario/scenario.ts'
import { immediately } from './published-policies.ts'
import { near, type Finding, type Reproduction } from './reproduction.ts'

function independent(errorRate: number): Finding[] {
  const { clients } = runScenario({
    name: 'independent failures',
    durationMs: 100_000,
    clients: [{ name: 'clients', calls: 'server', pipeline: 'four', arrivals: { kind: 'poisson', perSecond: 1_000 } }],
    pipelines: { four: immediately('four', 4) },
    dependencies: { server: { serviceMs: 1, errorRate } },
  })
  const { attemptsPerOperation, successShare } = clients['clients']!
  const theirs = (1 - errorRate ** 4) / (1 - errorRate)
  return [
    near(`${errorRate * 100} % failing: calls per operation`, {
      theirs,
      ours: attemptsPerOperation,
      within: 0.01,
      unit: 'times',
    }),
    near(`${errorRate * 100} % failing: success`, {
      theirs: 1 - errorRate ** 4,
      ours: successShare,
      within: 0.01,
      unit: 'share',
    }),
  ]
}

/** Tiers that all try so often, of which only the deepest fails. */
export function tiersOf(depth: number, maxAttempts: number, errorRate: number, operations: number): Scenario {
  const names = Array.from({ length: depth }, (_, tier) => `tier ${tier + 1}`)
  const dependencies = names.map((name, tier): readonly [string, Dependency] => [
    name,
    tier === depth - 1
      ? { serviceMs: 1, errorRate }
      : { serviceMs: 0, downstream: [{ calls: names[tier + 1]!, pipeline: 'tries' }] },
  ])
  return {
    name: `${depth} tiers of ${maxAttempts} tries`,
    durationMs: operations,
    clients: [
      { name: 'clients', calls: names[0]!, pipeline: 'tries', arrivals: { kind: 'constant', perSecond: 1_000 } },
    ],
    pipelines: { tries: immediately('tries', maxAttempts) },
    dependencies: Object.fromEntries(dependencies),
  }
}

function tiers(): Finding[] {
  const amplificationOf = (depth: number, maxAttempts: number, errorRate: number, operations: number): number =>
    runScenario(tiersOf(depth, maxAttempts, errorRate, operations)).dependencies[`tier ${depth}`]!.amplification
  return [
    near('3 tiers, 4 tries, all failing', {
      theirs: 64,
      ours: amplificationOf(3, 4, 1, 200),
      within: 0,
      unit: 'times',
    }),
    near('5 tiers, 3 tries, all failing', {
      theirs: 243,
      ours: amplificationOf(5, 3, 1, 100),
      within: 0,
      unit: 'times',
    }),
    near('3 tiers, 3 tries, half failing', {
      theirs: 2,
      ours: amplificationOf(3, 3, 0.5, 100_000),
      within: 0.01,
      unit: 'times',
    }),
  ]
}

function throttling(): Finding[] {
  // As many servers as make its capacity a sharp edge, each busy for a second.
  const capacity = 200
  const { dependencies } = runScenario({
    name: 'throttling',
    durationMs: 900_000,
    warmUpMs: 300_000,
    clients: [
      {
        name: 'clients',
        calls: 'backend',
        pipeline: 'throttled',
        count: 4,
        arrivals: { kind: 'poisson', perSecond: 3 * capacity },
      },
    ],
    pipelines: { throttled: { name: 'throttled', retry: { maxAttempts: 1 }, throttle: { acceptMultiplier: 2 } } },
    dependencies: { backend: { servers: capacity, serviceMs: 1_000, queue: { maxLength: 0 } } },
  })
  const { calls, refused } = dependencies['backend']!
  const seconds = 600
  return [
    near('calls that are sent, of capacity', {
      theirs: 2,
      ours: calls / seconds / capacity,
      within: 0.02,
      unit: 'times',
    }),
    near('calls that are accepted, of capacity', {
      theirs: 1,
      ours: (calls - refused) / seconds / capacity,
      within: 0.02,
      unit: 'times',
    }),
  ]
}

export const loads: readonly Reproduction[] = [
  {
    name: 'amplification',
    source: 'the geometric sum (1 − f⁴) / (1 − f)',
    inputs: 'four tries; 0, 10, 20, 30 and 50 % failing independently; 100,000 operations',
    run: () => [0, 0.1, 0.2, 0.3, 0.5].flatMap(independent),
  },
  {
    name: 'tiers',
    source: 'the telescoped geometric sum; Google SRE, ch. 22',
    inputs: 'three and five tiers that all retry; the deepest fails',
    run: tiers,
  },
  {
    name: 'client-throttling',
    source: 'Google SRE, ch. 21 (adaptive throttling, K = 2)',
    inputs: 'three times as many calls as the backend accepts, window of two minutes',
    run: throttling,
  },
]
