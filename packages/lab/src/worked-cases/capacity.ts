import { largest } from '../measure/totals.ts'
import type { PolicyDocument, Scenario, Trouble } from '../scenario/scenario.ts'
import { callsPerSecond, claim, measuredMs, say, type WorkedCase } from './worked-case.ts'

const PATIENT = { attemptTimeoutMs: 600_000, totalBudgetMs: 600_000 }

function fullJitter(maxDelayMs: number): PolicyDocument {
  return { name: 'full', retry: { maxAttempts: 100, initialDelayMs: 100, maxDelayMs, ...PATIENT }, budget: false }
}

function recovering(scale: number, maxDelayMs: number): Scenario {
  return {
    name: 'recovery',
    durationMs: 20_000,
    stepMs: 500,
    clients: [
      { name: 'load', calls: 'server', arrivals: { kind: 'constant', perSecond: 50_000 * scale } },
      {
        name: 'herd',
        calls: 'server',
        pipeline: 'full',
        count: Math.round(100_000 * scale),
        processes: 1,
        arrivals: { kind: 'together', atMs: 1_000 },
      },
    ],
    pipelines: { full: fullJitter(maxDelayMs) },
    dependencies: {
      server: {
        servers: Math.max(1, Math.round(600 * scale)),
        serviceMs: 10,
        troubles: [{ fromMs: 1_000, untilMs: 2_000, unreachable: true }],
      },
    },
  }
}

const CEILING =
  'after a second the waits are drawn from 0.8 to 1.6 s, not from the cap: the herd comes back within two seconds'

export const recoveryCase: WorkedCase = {
  name: 'recovery',
  inputs:
    '100,000 clients, FULL from 100 ms, a failure of 1 s, base load 50,000/s, capacity 60,000/s; cap 5 s and 10 s',
  variants: scale => ({ 'cap 5 s': recovering(scale, 5_000), 'cap 10 s': recovering(scale, 10_000) }),
  claims({ of, scale }) {
    const extra = (variant: string, fromMs: number, untilMs: number): number =>
      callsPerSecond(of(variant), 'server', fromMs, untilMs) / scale - 50_000
    return [
      claim('cap 5 s: retries in the first second after', 20_000, extra('cap 5 s', 2_000, 3_000), {
        unit: 'per-second',
        note: CEILING,
      }),
      claim('cap 5 s: from the third to the sixth second', 20_000, extra('cap 5 s', 4_000, 7_000), {
        unit: 'per-second',
        note: CEILING,
      }),
      claim('cap 10 s: retries in the first second after', 10_000, extra('cap 10 s', 2_000, 3_000), {
        unit: 'per-second',
        note: CEILING,
      }),
    ]
  },
}

function load(options: {
  perSecond: number
  errorRate?: number
  troubles?: readonly Trouble[]
  policy: PolicyDocument
}): Scenario {
  const { perSecond, errorRate = 0, troubles = [], policy } = options
  return {
    name: 'load',
    durationMs: 60_000,
    clients: [{ name: 'clients', calls: 'server', pipeline: 'policy', arrivals: { kind: 'constant', perSecond } }],
    pipelines: { policy },
    dependencies: { server: { serviceMs: 5, errorRate, ...(troubles.length > 0 && { troubles }) } },
  }
}

const QUICK = { maxAttempts: 4, initialDelayMs: 100, maxDelayMs: 1_000 }
const FOUR: PolicyDocument = { name: 'four', retry: QUICK, budget: false }
const FOUR_BUDGETED: PolicyDocument = { name: 'four', retry: QUICK }
const DOWN: Trouble = { fromMs: 10_000, untilMs: 40_000, errorRate: 1 }

export const capacityCase: WorkedCase = {
  name: 'capacity',
  inputs: '50,000/s; 5 % are retried; for 30 s everything fails, with four tries and with a budget of a tenth',
  variants: scale => ({
    usual: load({ perSecond: 50_000 * scale, errorRate: 0.048, policy: FOUR }),
    blip: load({ perSecond: 50_000 * scale, troubles: [DOWN], policy: FOUR }),
    'with a budget': load({ perSecond: 50_000 * scale, troubles: [DOWN], policy: FOUR_BUDGETED }),
  }),
  claims({ of, scale }) {
    const at = (variant: string): number => callsPerSecond(of(variant), 'server', 15_000, 40_000) / scale
    return [
      claim('usual', 52_500, at('usual'), { unit: 'per-second', within: 0.01 }),
      claim('everything failing, four tries', 200_000, at('blip'), { unit: 'per-second', within: 0.02 }),
      claim('everything failing, with a budget', 55_000, at('with a budget'), { unit: 'per-second', within: 0.02 }),
    ]
  },
}

export const envelopeCase: WorkedCase = {
  name: 'envelope',
  inputs: '10,000/s, 1 % failing, four tries; and 30 s in which everything fails',
  variants: scale => ({
    usual: load({ perSecond: 10_000 * scale, errorRate: 0.01, policy: FOUR }),
    blip: load({ perSecond: 10_000 * scale, troubles: [DOWN], policy: FOUR }),
  }),
  claims: ({ of, scale }) => [
    claim('1 % failing', 10_101, callsPerSecond(of('usual'), 'server', 10_000, 60_000) / scale, {
      unit: 'per-second',
      within: 0.003,
    }),
    claim('all failing', 40_000, callsPerSecond(of('blip'), 'server', 15_000, 40_000) / scale, {
      unit: 'per-second',
      within: 0.02,
    }),
  ],
}

export const queuedHerdCase: WorkedCase = {
  name: 'queued-herd',
  inputs: 'capacity 100,000/s, load 80,000/s, 200,000/s more for 100 ms',
  variants: scale => ({
    herd: {
      name: 'queued herd',
      durationMs: 4_000,
      stepMs: 10,
      clients: [
        {
          name: 'clients',
          calls: 'server',
          arrivals: {
            kind: 'spike',
            perSecond: 80_000 * scale,
            peakPerSecond: 280_000 * scale,
            fromMs: 1_000,
            untilMs: 1_100,
            even: true,
          },
        },
      ],
      dependencies: { server: { servers: 1, serviceMs: 0.01 / scale } },
    },
  }),
  claims({ of, scale }) {
    const run = of('herd')
    const { queue } = run.dependencies['server']!.perStep
    const longest = largest(queue)
    const drained = queue.findIndex((length, step) => step > 115 && length < longest / 1_000) * run.stepMs
    const exact = 'what is served during the spike is no queue: 18,000 and 0.9 s are exact'
    return [
      claim('longest queue', 20_000, longest / scale, { within: 0.05, note: exact }),
      claim('drained after', 1_000, drained - 1_100, { unit: 'ms', within: 0.05, note: exact }),
    ]
  },
}

const AT_ONCE: PolicyDocument = {
  name: 'at once',
  retry: {
    maxAttempts: 1_000,
    initialDelayMs: 1,
    maxDelayMs: 1,
    jitterType: 'NONE',
    attemptTimeoutMs: 1_000,
    totalBudgetMs: 600_000,
  },
  budget: false,
}

export const firstHerdCase: WorkedCase = {
  name: 'first-herd',
  inputs:
    'a partner that serves 200/s, here with a load of 180/s; 500 clients time out during a blip of 2 s; all try again at once',
  variants: () => ({
    herd: {
      name: 'first herd',
      durationMs: 60_000,
      drainMs: 0,
      clients: [
        { name: 'load', calls: 'partner', pipeline: 'at once', arrivals: { kind: 'poisson', perSecond: 180 } },
        {
          name: 'herd',
          calls: 'partner',
          pipeline: 'at once',
          count: 500,
          processes: 1,
          arrivals: { kind: 'together', atMs: 20_000 },
        },
      ],
      pipelines: { 'at once': AT_ONCE },
      dependencies: {
        partner: { servers: 1, serviceMs: 5, troubles: [{ fromMs: 20_000, untilMs: 22_000, capacity: 0 }] },
      },
    },
  }),
  claims({ of }) {
    const run = of('herd')
    const { recoveredAfterMs } = run.recovery
    const note = 'those of the usual load who time out meanwhile try again as well'
    return [
      claim('calls in the second of the blip', 700, callsPerSecond(run, 'partner', 21_000, 22_000), {
        unit: 'per-second',
        within: 0.3,
        note,
      }),
      {
        what: 'it never recovers',
        theirs: 'never',
        ours: recoveredAfterMs === undefined ? 'never' : `after ${say(recoveredAfterMs, 'ms')}`,
        holds: recoveredAfterMs === undefined,
        measured: measuredMs(recoveredAfterMs),
      },
    ]
  },
}
