import type { PolicyDocument, Scenario } from '../scenario/scenario.ts'
import { callsPerSecond, claim, say, type WorkedCase } from './worked-case.ts'

const TROUBLE = { fromMs: 20_000, untilMs: 50_000 }
const HOP = { kind: 'log-normal', medianMs: 50, p99Ms: 200 } as const
const ONCE: PolicyDocument = { name: 'once', retry: { maxAttempts: 1, totalBudgetMs: 5_000 }, budget: false }
const THRICE: PolicyDocument = {
  name: 'thrice',
  retry: {
    maxAttempts: 3,
    backoffType: 'CUSTOM',
    delaysMs: [200, 600],
    jitterType: 'PROPORTIONAL',
    totalBudgetMs: 5_000,
    attemptTimeoutMs: 5_000,
  },
  budget: false,
}
const BUDGETED: PolicyDocument = {
  ...THRICE,
  name: 'budgeted',
  budget: { kind: 'ratio', ratio: 0.1, windowMs: 10_000, minRetries: 0 },
}
const BROKEN: PolicyDocument = {
  ...BUDGETED,
  name: 'with a breaker',
  breaker: { window: 'time', windowMs: 10_000, failureRate: 0.5, minCalls: 10, openMs: 30_000 },
}

/** Web → orders → inventory → database; orders writes the database itself. */
function shop(scale: number, web: PolicyDocument, inside: PolicyDocument): Scenario {
  return {
    name: 'shop',
    durationMs: 80_000,
    clients: [
      { name: 'web', calls: 'orders', pipeline: 'web', arrivals: { kind: 'poisson', perSecond: 10_000 * scale } },
    ],
    pipelines: { web, inside },
    dependencies: {
      orders: {
        serviceMs: HOP,
        downstream: [
          { calls: 'inventory', times: 2, pipeline: 'inside', passesDeadline: true },
          { calls: 'database', pipeline: 'inside', passesDeadline: true },
        ],
      },
      inventory: { serviceMs: HOP, downstream: [{ calls: 'database', pipeline: 'inside', passesDeadline: true }] },
      database: { serviceMs: HOP, troubles: [{ ...TROUBLE, errorRate: 0.5, errorMs: 1_000 }] },
    },
  }
}

const NEAR_NOTHING = 0.1
const STOPS_EARLY = 'a request that has failed makes no further queries, which the claim counts all the same'

export const shopCase: WorkedCase = {
  name: 'shop',
  inputs:
    '10,000 users/s, three queries each (two reads through inventory, one write): 30,000/s of 50,000/s; deadline 5 s; for 30 s half of the queries take 1 s and fail',
  variants: scale => ({
    'no retries': shop(scale, ONCE, ONCE),
    everywhere: shop(scale, THRICE, THRICE),
    'at the edge': shop(scale, THRICE, ONCE),
    'with a budget': shop(scale, BUDGETED, ONCE),
    'with a breaker': shop(scale, BROKEN, ONCE),
  }),
  claims({ of, scale }) {
    const load = (variant: string): number =>
      callsPerSecond(of(variant), 'database', TROUBLE.fromMs + 5_000, TROUBLE.untilMs) / (30_000 * scale)
    const open = callsPerSecond(of('with a breaker'), 'database', 35_000, 45_000) / (30_000 * scale)
    return [
      claim('no retries: load on the database', 1, load('no retries'), { unit: 'times', note: STOPS_EARLY }),
      claim('three tries at every tier', 27, load('everywhere'), {
        unit: 'times',
        note: '27 × is the bound for a database that answers nothing; with half of the queries failing most retries succeed',
      }),
      claim('three tries at the edge', 3, load('at the edge'), { unit: 'times', note: STOPS_EARLY }),
      claim('and a budget of a tenth', 1.3, load('with a budget'), {
        unit: 'times',
        note: `the claim's own arithmetic is 3,000 on 30,000, 1.1 ×; and ${STOPS_EARLY}`,
      }),
      {
        what: 'and a breaker, while it is open',
        theirs: 'near 0',
        ours: say(open, 'times'),
        holds: open < NEAR_NOTHING,
        measured: { unit: 'times', ours: open, most: NEAR_NOTHING },
      },
    ]
  },
}
