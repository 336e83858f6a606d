import { checkPolicy, KILL_LEVELS, type Problem } from '@secondwind/resilience'
import { checkDistribution } from './check-distribution.ts'
import { contradictionsIn } from './contradictions.ts'
import type { Scenario } from './scenario.ts'
import {
  below,
  byKind,
  duration,
  flag,
  isRecord,
  listOf,
  namedBy,
  numberBetween,
  oneOf,
  record,
  shortly,
  text,
  wholeNumber,
} from './shape.ts'
import { sizeProblems } from './size.ts'

export type ScenarioCheck =
  | { readonly scenario: Scenario; readonly problems?: undefined }
  | { readonly scenario?: undefined; readonly problems: readonly Problem[] }

/** The scenario, or everything that is wrong with it, its policies included. */
export function checkScenario(input: unknown): ScenarioCheck {
  const wrong = [...scenarioShape(input, ''), ...policyProblems(input), ...contradictionsIn(input)]
  const problems = [...wrong, ...sizeProblems(input, wrong)]
  return problems.length > 0 ? { problems } : { scenario: input as Scenario }
}

const rate = numberBetween(0, 1e9)
const share = numberBetween(0, 1)
const points = listOf(record({ atMs: duration(), perSecond: rate }), 10_000)

const network = record(
  { delayMs: checkDistribution },
  { loss: share, betweenRegionsMs: checkDistribution },
  { latencyMs: 'delayMs, which is one way' },
)

const arrivals = byKind(
  {
    poisson: [{ perSecond: rate }],
    constant: [{ perSecond: rate }],
    ramp: [{ points }, { even: flag }],
    spike: [{ perSecond: rate, peakPerSecond: rate, fromMs: duration(), untilMs: duration() }, { even: flag }],
    trace: [{ atMs: shortly(listOf(duration(), 10_000_000)) }],
    closed: [{ thinkMs: checkDistribution }],
    together: [{ atMs: duration() }],
  },
  {
    rate: 'perSecond',
    ratePerSecond: 'perSecond',
    rps: 'perSecond',
    qps: 'perSecond',
    load: 'perSecond',
    // The command line reads the file before it asks.
    atFile: 'atMs, the list itself',
  },
)

const group = record(
  { name: text, calls: text, arrivals },
  {
    pipeline: text,
    count: wholeNumber(1, 1e9),
    processes: wholeNumber(1, 1e9),
    network,
    region: text,
    lateMs: duration(),
    adaptiveTimeout: record({
      multiplier: numberBetween(1, 100),
      percentile: numberBetween(1, 99.99),
      minMs: duration(1),
      sampleCalls: wholeNumber(1, 100_000),
      minSamples: wholeNumber(1, 100_000),
    }),
  },
  { policy: 'pipeline', clients: 'count', target: 'calls', dependency: 'calls', dependsOn: 'calls' },
)

const queue = record(
  {},
  {
    order: oneOf('fifo', 'lifo', 'lifo-under-overload', 'codel'),
    maxLength: wholeNumber(0, 1e9),
    overloadLength: wholeNumber(0, 1e9),
    targetMs: duration(),
    intervalMs: duration(0.001),
    dropsExpired: flag,
  },
  {
    limit: 'maxLength',
    kind: 'order',
    length: 'maxLength',
    size: 'maxLength',
    capacity: 'maxLength',
    shed: 'maxLength',
  },
)

const trouble = record(
  { fromMs: duration(), untilMs: duration() },
  {
    replica: text,
    capacity: share,
    errorRate: share,
    errorMs: checkDistribution,
    unreachable: flag,
    addedMs: duration(),
  },
  {
    atMs: 'fromMs',
    toMs: 'untilMs',
    durationMs: 'untilMs',
    errors: 'errorRate',
    failureRate: 'errorRate',
    down: 'unreachable',
    latencyMs: 'addedMs',
    speed: 'capacity',
  },
)

const downstream = record(
  { calls: text },
  { pipeline: text, times: wholeNumber(1, 100_000), processes: wholeNumber(1, 1e6), passesDeadline: flag, network },
)

const dependency = record(
  { serviceMs: checkDistribution },
  {
    servers: wholeNumber(1, 1e9),
    serviceMsPerCall: duration(),
    queue,
    cancels: flag,
    errorRate: share,
    errorMs: checkDistribution,
    retryAfterMs: duration(),
    downstream: listOf(downstream, 100),
    downstreamOrder: oneOf('sequential', 'parallel'),
    contention: oneOf('optimistic'),
    replicas: listOf(record({ name: text }, { region: text }), 1_000),
    slowStartMs: duration(),
    troubles: listOf(trouble, 10_000),
  },
  {
    latencyMs: 'serviceMs',
    capacity: 'servers',
    errors: 'errorRate',
    failureRate: 'errorRate',
    faults: 'troubles',
    calls: 'downstream',
    dependsOn: 'downstream',
    shed: 'queue.maxLength',
  },
)

const killOrder = record({ atMs: duration(), level: oneOf(...KILL_LEVELS) }, { untilMs: duration(), pipeline: text })

const scenarioShape = record(
  { name: text, durationMs: duration(1), clients: listOf(group, 1_000), dependencies: namedBy(dependency, 1_000) },
  {
    about: value => (typeof value === 'string' ? [] : [{ at: 'about', is: value, say: 'must be a text' }]),
    drainMs: duration(),
    warmUpMs: duration(),
    stepMs: duration(0.001),
    // Looked at one by one, as policies.
    pipelines: namedBy(() => [], 1_000),
    killOrders: listOf(killOrder, 1_000),
  },
  { policies: 'pipelines', duration: 'durationMs', seed: 'the seed beside the scenario, not in it' },
)

function policyProblems(input: unknown): Problem[] {
  const pipelines = isRecord(input) ? input['pipelines'] : undefined
  if (!isRecord(pipelines)) return []
  return Object.entries(pipelines).flatMap(([name, document]) =>
    (checkPolicy(document).problems ?? []).map(problem => ({
      ...problem,
      at: below(`pipelines.${name}`, problem.at).replace(/\.$/, ''),
    })),
  )
}
