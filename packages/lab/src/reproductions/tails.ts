import { longerShareOf } from '../chance/draws.ts'
import { fannedOut, hedged, quantileMs, type Survival } from '../closed-forms/tails.ts'
import { runScenario } from '../run-scenario.ts'
import type { Distribution } from '../scenario/distribution.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { near, type Effort, type Finding, type Reproduction } from './reproduction.ts'

/** One call that needs so many others, all at once. */
function fanOut(options: FanOut): Scenario {
  const { leaves, leafMs, fanOuts, hedgeAfterMs } = options
  const retry = { maxAttempts: 1, attemptTimeoutMs: 60_000, totalBudgetMs: 60_000 }
  const hedge = hedgeAfterMs === undefined ? {} : { hedge: { delayMs: hedgeAfterMs, maxExtraLoad: 1 } }
  return {
    name: `fan-out to ${leaves}`,
    durationMs: fanOuts * 10,
    clients: [{ name: 'clients', calls: 'root', arrivals: { kind: 'constant', perSecond: 100 } }],
    pipelines: { leaf: { name: 'leaf', retry, budget: false, ...hedge } },
    dependencies: {
      root: {
        serviceMs: 0,
        downstream: [{ calls: 'leaf', times: leaves, pipeline: 'leaf' }],
        downstreamOrder: 'parallel',
      },
      leaf: { serviceMs: leafMs },
    },
  }
}

interface FanOut {
  readonly leaves: number
  readonly leafMs: Distribution
  readonly fanOuts: number
  readonly hedgeAfterMs?: number
}

function slowShare(leaves: number, slow: number, fanOuts: number): number {
  const leafMs: Distribution = { kind: 'bimodal', slowShare: slow, fast: 1, slow: 1_000 }
  const { latency } = runScenario(fanOut({ leaves, leafMs, fanOuts })).clients['clients']!
  return 1 - (latency.distribution.findLast(({ ms }) => ms < 500)?.share ?? 0)
}

function tailAtScale(effort: Effort): Finding[] {
  const more = effort === 'quick' ? 1 : 10
  const [hundred, twoThousand] = [slowShare(100, 0.01, 6_000 * more), slowShare(2_000, 0.0001, 1_500 * more)]
  return [
    near('100 leaves, one in 100 slow: slow requests', {
      theirs: 0.634,
      ours: hundred,
      within: 0.01,
      of: 'amount',
      unit: 'share',
    }),
    near('2,000 leaves, one in 10,000 slow', {
      theirs: 0.181,
      ours: twoThousand,
      within: 0.01,
      of: 'amount',
      unit: 'share',
    }),
  ]
}

/** Through what is known of the published leaf: straight lines between them where both axes are logarithmic. */
const LEAF = [
  { ms: 1, longerShare: 1 },
  { ms: 10, longerShare: 0.02 },
  { ms: 69, longerShare: 0.003248 },
  { ms: 1_800, longerShare: 1.0005e-5 },
]

const leafSurvival: Survival = ms => longerShareOf(LEAF, ms)

/** The p99.9 of a request that needs a hundred leaves, by algebra alone. */
function p999Of(leaf: Survival): number {
  return quantileMs(fannedOut(leaf, 100), 0.999, 1e6)!
}

function hedging(effort: Effort): Finding[] {
  const leafMs: Distribution = { kind: 'survival', points: LEAF }
  const fanOuts = effort === 'quick' ? 2_000 : 200_000
  const withHedges = runScenario(fanOut({ leaves: 100, leafMs, fanOuts, hedgeAfterMs: 10 }))
  const { hedges, first } = withHedges.dependencies['leaf']!
  const exact = [
    near('p99.9 without, ms, by algebra', { theirs: 1_800, ours: p999Of(leafSurvival), within: 0.005, unit: 'ms' }),
    near('p99.9 hedged at 10 ms, by algebra', {
      theirs: 74,
      ours: p999Of(hedged(leafSurvival, 10)),
      within: 0.005,
      unit: 'ms',
    }),
    near('calls more, of all', { theirs: 0.02, ours: hedges / first, within: 0.1, unit: 'share' }),
  ]
  if (effort === 'quick') return exact
  const plain = runScenario(fanOut({ leaves: 100, leafMs, fanOuts }))
  return [
    ...exact,
    near('p99.9 without, ms', {
      theirs: 1_800,
      ours: plain.clients['clients']!.latency.p999Ms,
      within: 0.1,
      unit: 'ms',
    }),
    near('p99.9 hedged at 10 ms', {
      theirs: 74,
      ours: withHedges.clients['clients']!.latency.p999Ms,
      within: 0.1,
      unit: 'ms',
    }),
  ]
}

export const tails: readonly Reproduction[] = [
  {
    name: 'tail-at-scale',
    source: 'Dean and Barroso, The Tail at Scale, CACM 2013',
    inputs: 'requests that need 100 leaves, one in 100 slow; and 2,000 leaves, one in 10,000 slow',
    run: tailAtScale,
  },
  {
    name: 'hedging',
    source: 'Dean and Barroso, The Tail at Scale, CACM 2013 (BigTable, 1,000 keys on 100 servers)',
    inputs: 'a leaf that fits the published percentiles; fan-out 100; a second call after 10 ms',
    run: hedging,
  },
]
