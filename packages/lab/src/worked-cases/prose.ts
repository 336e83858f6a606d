/** Sentences about rules that their own programs, formulas or numbers do not bear out. */
import {
  checkBudget,
  decide,
  decorrelatedV2,
  DEFAULT_POLICY,
  delayMs,
  firstState,
  type RetryPolicy,
} from '@secondwind/resilience'
import { envoyGradient } from '@secondwind/resilience/rules'
import { dieFor } from '../chance/streams.ts'
import { closedQueue } from '../closed-forms/queues.ts'
import { retryLoad } from '../closed-forms/retry-load.ts'
import { slowingServer } from '../reproductions/collapse.ts'
import { immediately } from '../reproductions/published-policies.ts'
import { mean } from '../reproductions/reproduction.ts'
import { strategyAt } from '../reproductions/retry-strategies.ts'
import type { PolicyDocument, Scenario } from '../scenario/scenario.ts'
import { callsPerSecond, claim, type Claim, type Runs, type WorkedCase } from './worked-case.ts'

export const proseCase: WorkedCase = {
  name: 'prose',
  inputs:
    'what is written about limits, budgets, waits and queues, beside what the rule, the closed form or the program does that it is about',
  variants: () => ({
    'limit outside': limitOutside(),
    'limit inside': failing(LIMITED_TRIES),
    'ratio 0.3': failing(RATIO),
    'four tries': slowingServer(immediately('at once', 4, 3_000)),
  }),
  claims: runs => [
    ...aboutLimits(runs),
    ...aboutBudgets(runs),
    ...aboutRetries(runs),
    ...aboutWaits(),
    ...aboutQueues(),
  ],
}

const LIMIT = { perSecond: 100 }
const LIMITED_ONCE: PolicyDocument = { name: 'once', retry: { maxAttempts: 1 }, rateLimit: LIMIT }
const LIMITED_TRIES: PolicyDocument = {
  name: 'tries',
  retry: { maxAttempts: 3, initialDelayMs: 10 },
  budget: false,
  rateLimit: LIMIT,
}
const RATIO: PolicyDocument = {
  name: 'ratio',
  retry: { maxAttempts: 3, initialDelayMs: 10 },
  budget: { kind: 'ratio', ratio: 0.3, windowMs: 10_000, minRetries: 0 },
}

/** Every call fails, and twice as many are wanted as a limit lets through. */
function failing(policy: PolicyDocument): Scenario {
  return {
    name: 'every call fails',
    durationMs: 60_000,
    clients: [
      {
        name: 'clients',
        calls: 'server',
        pipeline: 'policy',
        processes: 1,
        arrivals: { kind: 'constant', perSecond: 2 * LIMIT.perSecond },
      },
    ],
    pipelines: { policy },
    dependencies: { server: { serviceMs: 1, errorRate: 1 } },
  }
}

/** The limit sees operations; what retries is behind it. */
function limitOutside(): Scenario {
  const world = failing(LIMITED_ONCE)
  return {
    ...world,
    clients: world.clients.map(group => ({ ...group, calls: 'retrier' })),
    pipelines: { ...world.pipelines, tries: immediately('tries', 3) },
    dependencies: {
      ...world.dependencies,
      retrier: { serviceMs: 0, downstream: [{ calls: 'server', pipeline: 'tries' }] },
    },
  }
}

function aboutLimits({ of }: Runs): Claim[] {
  const calls = (variant: string): number => callsPerSecond(of(variant), 'server', 10_000, 60_000)
  const note =
    'outside the retries each operation is charged once and called three times: only a charge for each attempt counts them'
  return [
    claim('a rate limit outside the retries includes them', 100, calls('limit outside'), { unit: 'per-second', note }),
    claim('a rate limit charged for each attempt', 100, calls('limit inside'), { unit: 'per-second' }),
    claim('Envoy: next limit after 100, calls 2.5 times as slow', 60, envoyAt(250), {
      within: 0.02,
      note: 'the headroom is told as the root of the limit; the program takes the root of what the gradient leaves of it',
    }),
  ]
}

function envoyAt(sampleMs: number): number {
  return envoyGradient.envoyGradient({ limit: 100, idleMs: 100, sampleMs })
}

function aboutBudgets({ of }: Runs): Claim[] {
  const tokens = checkBudget({ kind: 'tokens', maxTokens: 10.5, tokenRatio: 0.1 })
  return [
    claim(
      'Tower: retries for each call by a ratio of 0.3',
      0.3,
      of('ratio 0.3').dependencies['server']!.amplification - 1,
      {
        within: 0.02,
        note: 'so it is here; its own program takes whole tokens, three for each retry, and allows a third',
      },
    ),
    claim('a bucket filled by successes, half failing', 1.142, strategyAt('bucket-by-success', 0.5, 'quick').load, {
      unit: 'times',
      within: 0.015,
      note: 'the figure is that of the program (Brooker, 2022), in which every first try fills the bucket',
    }),
    {
      what: 'gRPC: a maxTokens that is not whole',
      theirs: 'refused',
      ours: tokens.length === 0 ? 'accepted' : 'refused',
      holds: tokens.length > 0,
      note: 'gRFC A6 asks for an integer in its text, and allows three decimals in its configuration',
    },
  ]
}

function aboutRetries({ of }: Runs): Claim[] {
  const { successRate } = retryLoad({ operationsPerSecond: 1, maxAttempts: 4, failureRate: 0.1 })
  const planned = of('four tries').clients['clients']!.perStep.planned.slice(30, 40)
  return [
    claim('three retries, a tenth failing: operations lost', 0.1 ** 3, 1 - successRate, {
      unit: 'share',
      note: 'N retries are N + 1 tries, and f to the power of N + 1 is lost',
    }),
    claim('"retry three times" as three retries: retries in the collapse', 143, mean(planned), {
      unit: 'per-second',
      note: 'the published figure is that of three tries, which reproduces it',
    }),
  ]
}

const CAP_MS = 5_000
const DECORRELATED: RetryPolicy = { ...DEFAULT_POLICY, jitterType: 'DECORRELATED', maxDelayMs: CAP_MS }
const STEADY: RetryPolicy = { ...DEFAULT_POLICY, jitterType: 'NONE', initialDelayMs: 1_000 }

function aboutWaits(): Claim[] {
  const throttled = { kind: 'failure', fault: 'throttled', retryAfterMs: 100 } as const
  const decision = decide(STEADY, firstState(STEADY, { startedAt: 0 }), throttled, {
    now: 0,
    roll: 0,
    expectedCallMs: 0,
  })
  return [
    claim('decorrelated waits that stand at the cap, once there', 0, shareAtCap(), {
      unit: 'share',
      note: 'none where the range is capped before the draw; the published formula caps after it, and so do we: two in three',
    }),
    claim(
      'the wait, a server asking for 0.1 s and the backoff for 1 s',
      100,
      decision.kind === 'retry' ? decision.at : NaN,
      {
        unit: 'ms',
        note: 'some let Retry-After replace their own wait; here the longer of both counts',
      },
    ),
    ...[2, 4].map(wait =>
      claim(`Polly's newer decorrelated jitter, wait ${wait}: median`, 2 ** (wait - 1), pollyMedian(wait), {
        unit: 'times',
        note: 'told as the base doubled each time; the formula gives 0.9, 1.14, 2, 4 and 8 times the base',
      }),
    ),
  ]
}

const DRAWS = 10_000

function shareAtCap(): number {
  const waits = Array.from({ length: DRAWS }, (_, place) =>
    delayMs(DECORRELATED, { attempt: 9, previousDelayMs: CAP_MS }, (place + 0.5) / DRAWS),
  )
  return waits.filter(wait => wait === CAP_MS).length / DRAWS
}

function pollyMedian(attempt: number): number {
  const [die, curve] = [dieFor(1, `wait ${attempt}`), decorrelatedV2(1)]
  const waits = Array.from({ length: DRAWS }, () => curve({ attempt, previousDelayMs: 1, roll: die() }))
  return waits.toSorted((one, other) => one - other)[DRAWS / 2]!
}

function aboutQueues(): Claim[] {
  const note = 'a load of 0.8 is that of open arrivals; who waits for an answer before the next call makes another'
  const utilisation = (clients: number, thinkMs: number): number =>
    closedQueue({ clients, serviceMs: 100, thinkMs }).utilisation
  return [
    claim('one client that thinks 20 ms between calls of 100 ms: load', 0.8, utilisation(1, 20), {
      within: 0.02,
      note,
    }),
    claim('ten clients that think 1.145 s: load', 0.8, utilisation(10, 1_145), { within: 0.02, note }),
    claim('a call every 100 µs instead of every 75 µs: load removed', 0.3, 1 - 75 / 100, {
      unit: 'share',
      note: 'told as 30 % in Metastable Failures in the Wild (OSDI 2022)',
    }),
  ]
}
