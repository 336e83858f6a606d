import { checkPolicy, KILL_LEVELS, type Problem } from '@secondwind/resilience'
import { checkDistribution } from './check-distribution.ts'
import { memoryProblems } from './memory.ts'
import type { Dependency, Scenario } from './scenario.ts'
import {
  below,
  byKind,
  duration,
  flag,
  isRecord,
  listOf,
  namedBy,
  nearestOf,
  numberBetween,
  oneOf,
  record,
  text,
  wholeNumber,
} from './shape.ts'

export type ScenarioCheck =
  | { readonly scenario: Scenario; readonly problems?: undefined }
  | { readonly scenario?: undefined; readonly problems: readonly Problem[] }

/** The scenario, or everything that is wrong with it, its policies included. */
export function checkScenario(input: unknown): ScenarioCheck {
  const problems = [...scenarioShape(input, ''), ...policyProblems(input)]
  if (problems.length > 0) return { problems }
  const scenario = input as Scenario
  const contradictions = [...nameProblems(scenario), ...timeProblems(scenario)]
  if (contradictions.length > 0) return { problems: contradictions }
  const tooMuch = memoryProblems(scenario)
  return tooMuch.length > 0 ? { problems: tooMuch } : { scenario }
}

const rate = numberBetween(0, 1e9)
const share = numberBetween(0, 1)
const points = listOf(record({ atMs: duration(), perSecond: rate }), 10_000)

const network = record(
  { delayMs: checkDistribution },
  { loss: share, betweenRegionsMs: checkDistribution },
  { latencyMs: 'delayMs, which is one way' },
)

const arrivals = byKind({
  poisson: [{ perSecond: rate }],
  constant: [{ perSecond: rate }],
  ramp: [{ points }, { even: flag }],
  spike: [{ perSecond: rate, peakPerSecond: rate, fromMs: duration(), untilMs: duration() }, { even: flag }],
  trace: [{ atMs: listOf(duration(), 10_000_000) }],
  closed: [{ thinkMs: checkDistribution }],
  together: [{ atMs: duration() }],
})

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
  { policy: 'pipeline', clients: 'count', target: 'calls', dependency: 'calls' },
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
  { limit: 'maxLength', kind: 'order', length: 'maxLength' },
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
  { atMs: 'fromMs', toMs: 'untilMs', durationMs: 'untilMs' },
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
  { latencyMs: 'serviceMs', capacity: 'servers', failureRate: 'errorRate', faults: 'troubles', calls: 'downstream' },
)

const killOrder = record({ atMs: duration(), level: oneOf(...KILL_LEVELS) }, { untilMs: duration(), pipeline: text })

const scenarioShape = record(
  { name: text, durationMs: duration(1), clients: listOf(group, 1_000), dependencies: namedBy(dependency) },
  {
    about: value => (typeof value === 'string' ? [] : [{ at: 'about', is: value, say: 'must be a text' }]),
    drainMs: duration(),
    warmUpMs: duration(),
    stepMs: duration(0.001),
    // Looked at one by one, as policies.
    pipelines: namedBy(() => []),
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

/** Whatever is called, followed or named must be there; and nobody may call himself, however far around. */
function nameProblems({ clients, dependencies, pipelines = {}, killOrders = [] }: Scenario): Problem[] {
  const known = (names: object, what: string, name: string | undefined, at: string): Problem[] => {
    if (name === undefined || Object.hasOwn(names, name)) return []
    const near = nearestOf(name, Object.keys(names))
    return [
      { at, is: name, say: `is no ${what} of this scenario${near === undefined ? '' : `; did you mean ${near}?`}` },
    ]
  }
  const names = clients.map(({ name }) => name)
  return [
    ...clients.flatMap(({ calls, pipeline, name }, place) => [
      ...known(dependencies, 'dependency', calls, `clients.${place}.calls`),
      ...known(pipelines, 'pipeline', pipeline, `clients.${place}.pipeline`),
      ...(names.indexOf(name) < place ? [{ at: `clients.${place}.name`, is: name, say: 'is there twice' }] : []),
    ]),
    ...Object.entries(dependencies).flatMap(([name, { downstream: below = [], troubles = [], replicas = [] }]) => [
      ...below.flatMap(({ calls, pipeline }, place) => [
        ...known(dependencies, 'dependency', calls, `dependencies.${name}.downstream.${place}.calls`),
        ...known(pipelines, 'pipeline', pipeline, `dependencies.${name}.downstream.${place}.pipeline`),
      ]),
      ...troubles.flatMap(({ replica }, place) => {
        const those = Object.fromEntries(replicas.map(one => [one.name, one]))
        return known(those, 'replica', replica, `dependencies.${name}.troubles.${place}.replica`)
      }),
      ...(isCircular(dependencies, name)
        ? [
            {
              at: `dependencies.${name}.downstream`,
              is: name,
              say: 'leads back to where it began: calls would never end',
            },
          ]
        : []),
    ]),
    ...killOrders.flatMap(({ pipeline }, place) =>
      known(pipelines, 'pipeline', pipeline, `killOrders.${place}.pipeline`),
    ),
  ]
}

function isCircular(dependencies: { readonly [name: string]: Dependency }, start: string): boolean {
  const seen = new Set<string>()
  const leadsBack = (name: string): boolean =>
    (dependencies[name]?.downstream ?? []).some(({ calls }) => {
      if (calls === start) return true
      if (seen.has(calls)) return false
      seen.add(calls)
      return leadsBack(calls)
    })
  return leadsBack(start)
}

function timeProblems({ clients, dependencies, durationMs, warmUpMs = 0 }: Scenario): Problem[] {
  const order = (from: number, until: number, at: string): Problem[] =>
    until > from ? [] : [{ at, is: until, say: `must be later than fromMs, ${from}` }]
  const isSorted = (values: readonly number[]): boolean =>
    values.every((value, place) => place === 0 || value >= values[place - 1]!)
  return [
    ...(warmUpMs < durationMs
      ? []
      : [{ at: 'warmUpMs', is: warmUpMs, say: `must be less than durationMs, ${durationMs}` }]),
    ...clients.flatMap(({ arrivals }, place) => {
      const at = `clients.${place}.arrivals`
      if (arrivals.kind === 'spike') return order(arrivals.fromMs, arrivals.untilMs, `${at}.untilMs`)
      if (arrivals.kind === 'ramp' && !isSorted(arrivals.points.map(({ atMs }) => atMs)))
        return [{ at: `${at}.points`, is: 'points', say: 'must be in the order of their instants' }]
      if (arrivals.kind === 'trace' && !isSorted(arrivals.atMs))
        return [{ at: `${at}.atMs`, is: 'instants', say: 'must be in their order' }]
      return []
    }),
    ...Object.entries(dependencies).flatMap(([name, { troubles = [] }]) =>
      troubles.flatMap(({ fromMs, untilMs }, place) =>
        order(fromMs, untilMs, `dependencies.${name}.troubles.${place}.untilMs`),
      ),
    ),
  ]
}
