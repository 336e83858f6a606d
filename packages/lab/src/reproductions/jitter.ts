import type { JitterType } from '@secondwind/resilience'
import { runScenario } from '../run-scenario.ts'
import type { PolicyDocument, Scenario } from '../scenario/scenario.ts'
import { immediately, NEVER_MS } from './published-policies.ts'
import { between, holds, mean, near, seedsOf, type Effort, type Finding, type Reproduction } from './reproduction.ts'

export type Strategy = 'none' | 'exponential' | 'equal' | 'full' | 'decorrelated'

/** Everybody wants to write one row: read it, write it if nobody else has, else wait and begin anew. */
export function contendedRow(strategy: Strategy, clients: number): Scenario {
  return {
    name: `one row, ${clients} clients, ${strategy}`,
    durationMs: 1_000,
    drainMs: NEVER_MS,
    stepMs: 1_000,
    clients: [
      {
        name: 'writers',
        calls: 'row',
        pipeline: strategy,
        count: clients,
        processes: 1,
        arrivals: { kind: 'together', atMs: 0 },
        network: { delayMs: { kind: 'normal', meanMs: 10, deviationMs: 2 } },
      },
    ],
    pipelines: { [strategy]: policyOf(strategy) },
    dependencies: { row: { serviceMs: 0, contention: 'optimistic' } },
  }
}

function policyOf(strategy: Strategy): PolicyDocument {
  if (strategy === 'none') return immediately('none', 10_000)
  return {
    name: strategy,
    retry: {
      maxAttempts: 10_000,
      // The published program counts its attempts from one when it waits first: twice the base of 5 ms. Not so the last.
      initialDelayMs: strategy === 'decorrelated' ? 5 : 10,
      maxDelayMs: 2_000,
      jitterType: JITTERS[strategy],
      attemptTimeoutMs: NEVER_MS,
      totalBudgetMs: NEVER_MS,
    },
    budget: false,
  }
}

const JITTERS: { readonly [strategy in Exclude<Strategy, 'none'>]: JitterType } = {
  exponential: 'NONE',
  equal: 'EQUAL',
  full: 'FULL',
  decorrelated: 'DECORRELATED',
}

interface Race {
  readonly timeMs: number
  readonly calls: number
}

const races = new Map<string, Race>()

/** Run once, for both of the results that are read off it: the same seeds give the same race. */
function raceOf(strategy: Strategy, clients: number, runs: number): Race {
  const key = `${strategy} ${clients} ${runs}`
  const race = races.get(key) ?? raceAnew(strategy, clients, runs)
  races.set(key, race)
  return race
}

function raceAnew(strategy: Strategy, clients: number, runs: number): Race {
  const results = seedsOf(runs).map(seed => runScenario(contendedRow(strategy, clients), { seed }))
  return {
    timeMs: mean(results.map(({ endedAtMs }) => endedAtMs)),
    calls: mean(results.map(({ dependencies }) => dependencies['row']!.calls)),
  }
}

/** Recomputed from the published program: time of the last reply, and writes. */
const PUBLISHED: { readonly [clients: number]: { readonly [strategy in Strategy]: Race } } = {
  10: {
    none: { timeMs: 382, calls: 51 },
    exponential: { timeMs: 3_383, calls: 50 },
    equal: { timeMs: 714, calls: 42 },
    full: { timeMs: 463, calls: 39 },
    decorrelated: { timeMs: 418, calls: 37 },
  },
  50: {
    none: { timeMs: 1_140, calls: 685 },
    exponential: { timeMs: 35_836, calls: 616 },
    equal: { timeMs: 4_343, calls: 347 },
    full: { timeMs: 2_929, calls: 333 },
    decorrelated: { timeMs: 2_257, calls: 376 },
  },
  100: {
    none: { timeMs: 2_023, calls: 2_418 },
    exponential: { timeMs: 62_216, calls: 1_844 },
    equal: { timeMs: 6_375, calls: 810 },
    full: { timeMs: 4_993, calls: 797 },
    decorrelated: { timeMs: 4_557, calls: 992 },
  },
}

export const STRATEGIES: readonly Strategy[] = ['none', 'exponential', 'equal', 'full', 'decorrelated']

const runsOf = (effort: Effort): number => (effort === 'quick' ? 50 : 400)

function table(effort: Effort): Finding[] {
  return [10, 50, 100].flatMap(clients =>
    STRATEGIES.flatMap(strategy => {
      const [theirs, ours] = [PUBLISHED[clients]![strategy], raceOf(strategy, clients, runsOf(effort))]
      const slack = strategy === 'exponential' ? { calls: 0.04, timeMs: 0.1 } : { calls: 0.03, timeMs: 0.08 }
      const calls = clients === 10 ? 0.05 : slack.calls
      return [
        near(`${clients} clients, ${strategy}: writes`, {
          theirs: theirs.calls,
          ours: ours.calls,
          within: calls,
          unit: 'count',
        }),
        near(`${clients} clients, ${strategy}: ms`, {
          theirs: theirs.timeMs,
          ours: ours.timeMs,
          within: slack.timeMs,
          unit: 'ms',
        }),
      ]
    }),
  )
}

function order(effort: Effort): Finding[] {
  const all = Object.fromEntries(STRATEGIES.map(strategy => [strategy, raceOf(strategy, 100, runsOf(effort))])) as {
    readonly [strategy in Strategy]: Race
  }
  const { none, exponential, equal, full, decorrelated } = all
  const isGrowing = (...numbers: readonly number[]): boolean =>
    numbers.every((number, place) => place === 0 || number > numbers[place - 1]!)
  const cut = 1 - full.calls / exponential.calls
  return [
    holds('work', {
      isSo: full.calls <= equal.calls && isGrowing(equal.calls, decorrelated.calls, exponential.calls, none.calls),
      theirs: 'full ≤ equal < decorrelated < exponential < none',
      ours: [full, equal, decorrelated, exponential, none].map(({ calls }) => Math.round(calls)).join(', '),
    }),
    holds('time', {
      isSo: isGrowing(none.timeMs, Math.min(decorrelated.timeMs, full.timeMs), equal.timeMs, exponential.timeMs / 3),
      theirs: 'none < decorrelated ≈ full < equal ≪ exponential',
      ours: [none, decorrelated, full, equal, exponential].map(({ timeMs }) => Math.round(timeMs)).join(', '),
    }),
    between('writes saved by full jitter', { from: 0.5, to: 0.62, ours: cut, theirs: 0.57, unit: 'share' }),
  ]
}

export const jitter: readonly Reproduction[] = [
  {
    name: 'jitter',
    source: 'Brooker, Exponential Backoff And Jitter, AWS Architecture Blog, 2015 (its program)',
    inputs: '10, 50 and 100 clients that write one row with a version; one-way delay |N(10, 2)| ms; base 5 ms, cap 2 s',
    run: table,
  },
  {
    name: 'jitter-order',
    source: 'Brooker, Exponential Backoff And Jitter, AWS Architecture Blog, 2015 (its conclusions)',
    inputs: 'the same with 100 clients',
    run: order,
  },
]
