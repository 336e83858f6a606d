import type { DeliveryScenario, Destination, TaskGroup } from './delivery.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const TROUBLE = { fromMs: 20_000, untilMs: 40_000 }

/** Fifty a second for a minute: more than a trickle, and less than any server minds. */
const STREAM: TaskGroup = { name: 'tasks', count: 3_000, arrivals: { kind: 'poisson', perSecond: 50 } }

const outage: DeliveryScenario = {
  kind: 'delivery',
  name: 'delivery-outage',
  about: 'for 20 s the destination answers every request 503',
  durationMs: 10 * MINUTE_MS,
  tasks: [STREAM],
  destination: { troubles: [{ kind: 'down', ...TROUBLE }] },
}

const hanging: DeliveryScenario = {
  ...outage,
  name: 'delivery-hanging',
  about: 'for 20 s the destination answers nothing at all, and every attempt waits for its time-out',
  destination: { troubles: [{ kind: 'hanging', ...TROUBLE }] },
}

const poison: DeliveryScenario = {
  ...outage,
  name: 'delivery-poison',
  about: 'three tasks in ten always fail, and must not delay the others',
  durationMs: 2 * MINUTE_MS,
  tasks: [
    { name: 'good', count: 2_100, arrivals: { kind: 'poisson', perSecond: 35 } },
    { name: 'poison', count: 900, arrivals: { kind: 'poisson', perSecond: 15 }, failFirst: 'all' },
  ],
  destination: {},
}

const busy = (limit: Destination['limit']): Destination => ({ errorMs: 5, ...(limit && { limit }) })

const limited: DeliveryScenario = {
  ...outage,
  name: 'delivery-limited',
  about: 'for a minute twice as many tasks arrive as the destination serves; it answers the others 503',
  durationMs: HOUR_MS,
  tasks: [{ name: 'tasks', count: 6_000, arrivals: { kind: 'poisson', perSecond: 100 } }],
  destination: busy({ perSecond: 50 }),
}

const throttled: DeliveryScenario = {
  ...limited,
  name: 'delivery-throttled',
  about: 'the same, and it answers the others 429 with a Retry-After of two seconds',
  destination: busy({ perSecond: 50, status: 429, retryAfterMs: 2_000 }),
}

const flaky: DeliveryScenario = {
  ...outage,
  name: 'delivery-flaky',
  about: 'a thousand tasks come at once, and the first two attempts of each fail',
  tasks: [{ name: 'tasks', count: 1_000, arrivals: { kind: 'together' }, failFirst: 2 }],
  destination: {},
}

const backlog: DeliveryScenario = {
  ...outage,
  name: 'delivery-backlog',
  about: 'the destination is down for an hour, and a hundred thousand tasks wait for it',
  durationMs: 2 * HOUR_MS,
  stepMs: 10_000,
  tasks: [{ name: 'tasks', count: 100_000, arrivals: { kind: 'poisson', perSecond: 100 } }],
  destination: { troubles: [{ kind: 'down', fromMs: 0, untilMs: HOUR_MS }] },
}

const restart: DeliveryScenario = {
  ...outage,
  name: 'delivery-restart',
  about: 'the service is killed in the middle of an outage of its destination, and starts again',
  restarts: [{ atMs: 30_000 }],
}

/** Worlds in which the service delivers tasks, by name. */
export const DELIVERIES: { readonly [name: string]: DeliveryScenario } = Object.fromEntries(
  [outage, hanging, poison, limited, throttled, flaky, backlog, restart].map(scenario => [scenario.name, scenario]),
)
