import { tierAmplification, type JitterType } from '@secondwind/resilience'
import { tiersOf } from '../reproductions/load.ts'
import type { Scenario } from '../scenario/scenario.ts'
import { claim, type Claim, type WorkedCase } from './worked-case.ts'

const JITTERS: readonly (readonly [JitterType, printedS: number, printedTries: number])[] = [
  ['NONE', 10.23, 11_000],
  ['FULL', 6.42, 9_203],
  ['EQUAL', 7.81, 8_945],
  ['DECORRELATED', 8.13, 8_521],
]
/** What the program that goes with the figures computes. */
const PROGRAM: { readonly [jitter: string]: string } = {
  NONE: '5.11 s, 10,000',
  FULL: '≈ 14.6 s, ≈ 11,560',
  EQUAL: '≈ 9.8 s, 11,000',
  DECORRELATED: '≈ 12 to 13.4 s, ≈ 19,000',
}

function outage(jitterType: JitterType): Scenario {
  const patient = { attemptTimeoutMs: 600_000, totalBudgetMs: 600_000 }
  return {
    name: `outage of 5 s, ${jitterType}`,
    durationMs: 30_000,
    clients: [
      {
        name: 'clients',
        calls: 'server',
        pipeline: 'policy',
        count: 1_000,
        processes: 1,
        arrivals: { kind: 'together', atMs: 0 },
      },
    ],
    pipelines: {
      policy: {
        name: 'policy',
        retry: { maxAttempts: 100, initialDelayMs: 10, maxDelayMs: 10_000, jitterType, ...patient },
        budget: false,
      },
    },
    dependencies: { server: { serviceMs: 0, troubles: [{ fromMs: 0, untilMs: 5_000, unreachable: true }] } },
  }
}

export const jitterFiguresCase: WorkedCase = {
  name: 'jitter-figures',
  inputs: '1,000 clients that fail at 0, from 10 ms, cap 10 s, up to 100 tries; the server answers from 5 s on',
  variants: () => Object.fromEntries(JITTERS.map(([jitter]) => [jitter, outage(jitter)])),
  claims: ({ of }) =>
    JITTERS.flatMap(([jitter, printedS, printedTries]): Claim[] => {
      const { clients, dependencies } = of(jitter)
      const note = `the figures as printed are not those of the program beside them: ${PROGRAM[jitter]}`
      return [
        claim(`${jitter}: last success`, 1_000 * printedS, clients['clients']!.lastEndAtMs, { unit: 'ms', note }),
        claim(`${jitter}: tries`, printedTries, dependencies['server']!.calls, { note, within: 0.05 }),
      ]
    }),
}

export const fanOutCase: WorkedCase = {
  name: 'fan-out',
  inputs: 'a request that needs 30 reads, of which each fails once in a hundred; retried as a whole, or leaf by leaf',
  variants: scale => {
    const world = (leaf: string, root: string): Scenario => ({
      name: 'fan-out',
      durationMs: 200_000,
      clients: [
        { name: 'clients', calls: 'root', pipeline: root, arrivals: { kind: 'constant', perSecond: 1_000 * scale } },
      ],
      pipelines: {
        once: { name: 'once', retry: { maxAttempts: 1 }, budget: false },
        twice: { name: 'twice', retry: { maxAttempts: 2, initialDelayMs: 10 }, budget: false },
      },
      dependencies: {
        root: { serviceMs: 0, downstream: [{ calls: 'leaf', times: 30, pipeline: leaf }], downstreamOrder: 'parallel' },
        leaf: { serviceMs: 5, errorRate: 0.01 },
      },
    })
    return {
      'no retries': world('once', 'once'),
      'leaf by leaf': world('twice', 'once'),
      'as a whole': world('once', 'twice'),
    }
  },
  claims: ({ of }) => [
    claim('requests that lose a read', 0.26, 1 - of('no retries').clients['clients']!.successShare, {
      unit: 'share',
    }),
    claim('calls more, leaf by leaf', 0.01, of('leaf by leaf').dependencies['leaf']!.amplification - 1, {
      unit: 'share',
    }),
    claim('calls more, as a whole', 0.26, of('as a whole').dependencies['leaf']!.amplification - 1, {
      unit: 'share',
    }),
  ],
}

/** Retries, where everything above is told in tries. */
const PRODUCTS: readonly (readonly [retries: number, tiers: number, failureRate: number, theirs: number])[] = [
  [3, 3, 0.5, 6.592],
  [3, 3, 0.9, 40.67],
  [5, 4, 0.7, 74.83],
]

const CHAINS: readonly (readonly [tries: readonly number[], theirs: number])[] = [
  [[3, 3, 3], 27],
  [[3, 3, 3, 3], 81],
  [[3, 2, 1], 6],
]

const RETRIES = 'three retries are four tries: where 27 is claimed for them, three tries are meant'

export const tiersCase: WorkedCase = {
  name: 'tiers',
  inputs:
    'three and four tiers of three tries, and 3, 2, 1; everything fails; and the product of tiers that fail by themselves',
  variants: () => ({ '3 × 3': tiersOf(3, 3, 1, 200), '4 × 3': tiersOf(4, 3, 1, 200) }),
  claims: ({ of }) => [
    claim('three tiers of three tries, simulated', 27, of('3 × 3').dependencies['tier 3']!.amplification, {
      within: 0,
    }),
    claim('four tiers of three tries, simulated', 81, of('4 × 3').dependencies['tier 4']!.amplification, { within: 0 }),
    ...CHAINS.map(([tries, theirs]) =>
      claim(`${tries.join(', ')} tries, closed form`, theirs, tierAmplification(tries, 1).worstCase, { within: 0 }),
    ),
    ...PRODUCTS.map(([retries, tiers, failureRate, theirs]) => {
      const tries = Array.from({ length: tiers }, () => retries + 1)
      const what = `${tiers} tiers of ${retries} retries, each failing by itself ${failureRate} of the time`
      return claim(what, theirs, tierAmplification(tries, failureRate).whenEachFails, { within: 0.001, note: RETRIES })
    }),
  ],
}
