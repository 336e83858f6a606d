import type { Dependency, Scenario } from './scenario.ts'

/** What a dependency of 500 calls a second is on a usual day. */
const SERVER = { servers: 10, serviceMs: { kind: 'log-normal', medianMs: 18, p99Ms: 60 } } as const
const TROUBLE = { fromMs: 20_000, untilMs: 40_000 }
const MINUTES_2 = 120_000

const world = (name: string, about: string, server: Dependency, perSecond = 300): Scenario => ({
  name,
  about,
  durationMs: MINUTES_2,
  clients: [
    { name: 'clients', calls: 'dependency', pipeline: 'policy', count: 3, arrivals: { kind: 'poisson', perSecond } },
  ],
  pipelines: { policy: {} },
  dependencies: { dependency: server },
})

const outage = world('outage', 'every call fails at once for 20 s, and then none does', {
  ...SERVER,
  troubles: [{ ...TROUBLE, errorRate: 1, errorMs: 1 }],
})

const brownOut = world('brown-out', 'for 20 s the dependency has half of its speed, and too much to do', {
  ...SERVER,
  troubles: [{ ...TROUBLE, capacity: 0.5 }],
})

const errors = world('errors', 'one call in ten fails for 20 s: what retries are made for', {
  ...SERVER,
  troubles: [{ ...TROUBLE, errorRate: 0.1 }],
})

const stall = world('stall', 'for 10 s nothing moves, and all that was asked meanwhile still waits', {
  ...SERVER,
  troubles: [{ fromMs: 20_000, untilMs: 30_000, capacity: 0 }],
})

const metastable: Scenario = {
  ...stall,
  name: 'metastable',
  about: 'after a stall of 10 s impatient clients keep the dependency busy with what nobody waits for any more',
  pipelines: {
    policy: {
      name: 'impatient',
      retry: { maxAttempts: 3, attemptTimeoutMs: 500, initialDelayMs: 10, maxDelayMs: 10 },
      budget: false,
    },
  },
}

const overload: Scenario = {
  ...world(
    'overload',
    'for 10 s twice as much is asked as the dependency can do; it refuses, and says when to come back',
    {
      ...SERVER,
      queue: { maxLength: 100 },
      retryAfterMs: 2_000,
    },
  ),
  clients: [
    {
      name: 'clients',
      calls: 'dependency',
      pipeline: 'policy',
      count: 3,
      arrivals: { kind: 'spike', perSecond: 300, peakPerSecond: 1_000, fromMs: 20_000, untilMs: 30_000 },
    },
  ],
}

const herd: Scenario = {
  name: 'herd',
  about: 'a thousand clients that failed together come back together',
  durationMs: 30_000,
  stepMs: 250,
  clients: [
    {
      name: 'clients',
      calls: 'dependency',
      pipeline: 'policy',
      count: 1_000,
      processes: 1,
      arrivals: { kind: 'together', atMs: 1_000 },
    },
  ],
  pipelines: { policy: { name: 'policy', retry: { maxAttempts: 6 }, budget: false } },
  dependencies: { dependency: { ...SERVER, queue: { maxLength: 100 } } },
}

const storm: Scenario = {
  name: 'storm',
  about: 'three tiers retry, and the database fails four of five queries for 20 s',
  durationMs: MINUTES_2,
  clients: [{ name: 'edge', calls: 'api', pipeline: 'policy', arrivals: { kind: 'poisson', perSecond: 200 } }],
  pipelines: { policy: { name: 'policy', retry: { maxAttempts: 3, attemptTimeoutMs: 1_000 }, budget: false } },
  dependencies: {
    api: { serviceMs: 5, downstream: [{ calls: 'orders', pipeline: 'policy' }] },
    orders: { serviceMs: 5, downstream: [{ calls: 'database', pipeline: 'policy' }] },
    database: { ...SERVER, troubles: [{ ...TROUBLE, errorRate: 0.8 }] },
  },
}

const slowTail: Scenario = {
  ...world('slow-tail', 'one call in fifty takes fifty times as long: what hedges are made for', {
    replicas: [{ name: 'a' }, { name: 'b' }],
    serviceMs: { kind: 'bimodal', slowShare: 0.02, fast: { kind: 'exponential', meanMs: 10 }, slow: 500 },
    cancels: true,
  }),
  pipelines: { policy: { name: 'policy', retry: {}, hedge: { maxExtraLoad: 0.05 } } },
}

const failOver = world('fail-over', 'one of three replicas refuses every call for 20 s', {
  ...SERVER,
  servers: 5,
  replicas: [{ name: 'a' }, { name: 'b' }, { name: 'c' }],
  troubles: [{ ...TROUBLE, replica: 'a', unreachable: true }],
})

/** Worlds in which a policy can be tried: each calls its policy `policy`. */
export const SCENARIOS: { readonly [name: string]: Scenario } = Object.fromEntries(
  [outage, brownOut, errors, stall, metastable, overload, herd, storm, slowTail, failOver].map(scenario => [
    scenario.name,
    scenario,
  ]),
)
