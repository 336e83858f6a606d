import type { Problem } from '@secondwind/resilience'
import { checkLane, checkRetryPolicy } from '@secondwind/resilience/rules'
import { checkDistribution } from '../scenario/check-distribution.ts'
import {
  below,
  byKind,
  duration,
  isRecord,
  listOf,
  numberBetween,
  oneOf,
  record,
  text,
  wholeNumber,
  type Shape,
} from '../scenario/shape.ts'
import { DEFAULT_DELIVERY, DEFAULT_DELIVERY_POLICY, type DeliveryScenario } from './delivery.ts'

export type DeliveryCheck =
  | { readonly delivery: DeliveryScenario; readonly problems?: undefined }
  | { readonly delivery?: undefined; readonly problems: readonly Problem[] }

/** The scenario, or everything that is wrong with it, its policy and its lane included. */
export function checkDelivery(input: unknown): DeliveryCheck {
  const problems = [
    ...deliveryShape(input, ''),
    ...(isRecord(input) ? [...documentProblems(input), ...nameProblems(input), ...timeProblems(input)] : []),
    ...(isRecord(input) ? sizeProblems(input) : []),
  ]
  return problems.length > 0 ? { problems } : { delivery: input as DeliveryScenario }
}

/** A task takes about 300 bytes, and its attempts a few microseconds each. */
const MOST_TASKS = 1_000_000
/** A column in a picture is a thousand of them. */
const MOST_STEPS = 1_000_000

const rate = numberBetween(0.000_001, 1e6)

const arrivals = byKind(
  {
    constant: [{ perSecond: rate }, { fromMs: duration() }],
    poisson: [{ perSecond: rate }, { fromMs: duration() }],
    together: [{}, { fromMs: duration() }],
  },
  { rate: 'perSecond', load: 'perSecond', atMs: 'fromMs', untilMs: 'count, beside arrivals' },
)

const failFirst: Shape = (value, at) => {
  if (value === 'all' || (Number.isInteger(value) && wholeNumber(0, 10_000)(value, at).length === 0)) return []
  return [{ at, is: value, say: 'must be a whole number from 0 to 10000, or all' }]
}

const group = record(
  { name: text, count: wholeNumber(1, MOST_TASKS), arrivals },
  { failFirst, attemptsMade: wholeNumber(0, 10_000) },
  { fails: 'failFirst', failures: 'failFirst', poison: 'failFirst: "all"', attempts: 'attemptsMade', tasks: 'count' },
)

const limit = record(
  { perSecond: rate },
  {
    burst: wholeNumber(1, 1e6),
    status: (value, at) => (value === 429 || value === 503 ? [] : [{ at, is: value, say: 'must be 429 or 503' }]),
    retryAfterMs: duration(1),
  },
  { rate: 'perSecond', retryAfter: 'retryAfterMs' },
)

const trouble = record(
  { kind: oneOf('down', 'hanging'), fromMs: duration(), untilMs: duration() },
  {},
  { atMs: 'fromMs', toMs: 'untilMs', durationMs: 'untilMs' },
)

const destination = record(
  {},
  {
    latencyMs: checkDistribution,
    errorMs: checkDistribution,
    errorRate: numberBetween(0, 1),
    limit,
    troubles: listOf(trouble, 1_000),
  },
  { serviceMs: 'latencyMs', errors: 'errorRate', failureRate: 'errorRate', outages: 'troubles', rateLimit: 'limit' },
)

const deliveryShape = record(
  {
    kind: oneOf('delivery'),
    name: text,
    durationMs: duration(1),
    tasks: listOf(group, 100),
    destination,
  },
  {
    about: text,
    stepMs: duration(1),
    // Each is checked as the document that it is.
    policy: () => [],
    lane: () => [],
    restarts: listOf(record({ atMs: duration() }, { downMs: duration() }), 100),
  },
  { groups: 'tasks', clients: 'tasks', dependencies: 'destination', limits: 'lane', duration: 'durationMs' },
)

function documentProblems({ policy, lane }: { readonly [field: string]: unknown }): Problem[] {
  const ofPolicy = policy === undefined ? [] : (checkRetryPolicy(policy, DEFAULT_DELIVERY_POLICY).problems ?? [])
  return [
    ...ofPolicy.map(problem => ({ ...problem, at: below('policy', problem.at).replace(/\.$/, '') })),
    ...(lane === undefined ? [] : checkLane(lane, 'lane')),
  ]
}

function nameProblems({ tasks }: { readonly [field: string]: unknown }): Problem[] {
  if (!Array.isArray(tasks)) return []
  const names = tasks.map((one: unknown) => (isRecord(one) ? one['name'] : undefined))
  return names.flatMap((name, place) =>
    name !== undefined && names.indexOf(name) < place
      ? [{ at: `tasks.${place}.name`, is: name, say: 'is there twice' }]
      : [],
  )
}

function timeProblems({ destination: to, restarts }: { readonly [field: string]: unknown }): Problem[] {
  const troubles = isRecord(to) && Array.isArray(to['troubles']) ? (to['troubles'] as unknown[]) : []
  const ofTroubles = troubles.flatMap((one, place) => {
    if (!isRecord(one)) return []
    const { fromMs, untilMs } = one
    return typeof fromMs === 'number' && typeof untilMs === 'number' && untilMs <= fromMs
      ? [{ at: `destination.troubles.${place}.untilMs`, is: untilMs, say: `must be later than fromMs, ${fromMs}` }]
      : []
  })
  return [...ofTroubles, ...(Array.isArray(restarts) ? restartProblems(restarts) : [])]
}

/** A service that is down cannot be killed once more. */
function restartProblems(restarts: readonly unknown[]): Problem[] {
  return restarts.flatMap((one, place) => {
    const before = restarts[place - 1]
    if (!isRecord(one) || !isRecord(before)) return []
    const { atMs } = one
    const { atMs: earlierMs, downMs = DEFAULT_DELIVERY.downMs } = before
    if (typeof atMs !== 'number' || typeof earlierMs !== 'number' || typeof downMs !== 'number') return []
    const upAtMs = earlierMs + downMs
    if (atMs > upAtMs) return []
    return [
      { at: `restarts.${place}.atMs`, is: atMs, say: `must be later than the end of the restart before, ${upAtMs}` },
    ]
  })
}

function sizeProblems({ tasks, durationMs, stepMs }: { readonly [field: string]: unknown }): Problem[] {
  const counts = Array.isArray(tasks) ? tasks.map((one: unknown) => (isRecord(one) ? Number(one['count']) : 0)) : []
  const total = counts.reduce((sum, count) => sum + (count > 0 ? count : 0), 0)
  const steps = Number(durationMs) / Number(stepMs ?? DEFAULT_DELIVERY.stepMs)
  return [
    ...(counts.length > 1 && total > MOST_TASKS
      ? [{ at: 'tasks', is: total, say: `must be at most ${MOST_TASKS} tasks together` }]
      : []),
    ...(steps > MOST_STEPS
      ? [{ at: 'stepMs', is: stepMs, say: `must be longer: at most ${MOST_STEPS} steps fit into durationMs` }]
      : []),
  ]
}
