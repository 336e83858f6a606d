import { Durations } from '../measure/durations.ts'
import { latencyMeasures } from '../measure/measure.ts'
import { largest } from '../measure/totals.ts'
import { DEFAULT_DELIVERY, isPoison, returnOf, type DeliveryScenario } from './delivery.ts'
import type { Delivered, GroupMeter } from './delivery-meter.ts'
import type { DeliveryResult, GroupMeasures } from './delivery-result.ts'
import type { DeliveryWorld } from './delivery-world.ts'

/** Reads the measures off a world that has run. */
export function measureDelivery(
  scenario: DeliveryScenario,
  { seed, world, endedAtMs }: { readonly seed: number; readonly world: DeliveryWorld; readonly endedAtMs: number },
): DeliveryResult {
  const { meter, events } = world
  const { destination, durationMs, stepMs = DEFAULT_DELIVERY.stepMs, tasks } = scenario
  const returnsAtMs = returnOf(scenario)
  const named = tasks.map((group, place) => {
    const own = meter.groups[place]
    if (own === undefined) throw new Error(`there is no group ${place}`)
    return { name: group.name, count: group.count, isPoison: isPoison(group), meter: own }
  })
  const deliverable = named.filter(group => !group.isPoison)
  const count = deliverable.reduce((sum, group) => sum + group.count, 0)
  const { troubles = [] } = destination
  return {
    scenario: scenario.name,
    seed,
    durationMs,
    stepMs,
    endedAtMs,
    events,
    groups: Object.fromEntries(
      named.map(one => [one.name, measuresOf([one.meter], { count: one.count, returnsAtMs })]),
    ),
    all: measuresOf(
      deliverable.map(one => one.meter),
      { count, returnsAtMs },
    ),
    perStep: meter.perStep,
    ...(returnsAtMs !== undefined && {
      returnsAtMs,
      requestsWhileDown: meter.requestsWithin(troubles),
    }),
  }
}

interface Count {
  /** Tasks that arrive, if the run is long enough. */
  readonly count: number
  readonly returnsAtMs: number | undefined
}

function measuresOf(meters: readonly GroupMeter[], { count, returnsAtMs = Infinity }: Count): GroupMeasures {
  const sum = (of: (meter: GroupMeter) => number): number => meters.reduce((total, meter) => total + of(meter), 0)
  const arrivals = meters.flatMap(({ arrivedAtMs }) => arrivedAtMs)
  const deliveries = meters.flatMap(meter => meter.deliveries).toSorted((one, other) => one.atMs - other.atMs)
  const dead = deadOf(meters)
  const ended = Object.values(dead).reduce((total, tasks) => total + tasks, deliveries.length)
  const atMs = deliveries.map(delivered => delivered.atMs)
  const backlog = deliveries.filter(({ arrivedAtMs }) => arrivedAtMs <= returnsAtMs).map(delivered => delivered.atMs)
  const backlogCount = returnsAtMs === Infinity ? count : arrivals.filter(at => at <= returnsAtMs).length
  return {
    tasks: arrivals.length,
    delivered: deliveries.length,
    waiting: arrivals.length - ended,
    dead,
    unsent: sum(({ unsent }) => unsent),
    requests: sum(({ requests }) => requests),
    failedAttempts: sum(({ failedAttempts }) => failedAttempts),
    lastArrivalAtMs: largest(arrivals),
    lateness: latencyMeasures(latenessOf(deliveries)),
    // A task that had not arrived by the end of the run was not delivered either.
    ...known({
      firstAfterReturnAtMs: atMs.find(at => at >= returnsAtMs),
      delivered99AtMs: atMs[Math.ceil(count * MOST) - 1],
      deliveredAllAtMs: atMs[count - 1],
      backlog99AtMs: backlog[Math.ceil(backlogCount * MOST) - 1],
      backlogAllAtMs: backlog[backlogCount - 1],
    }),
  }
}

/** One task in a hundred may be the one that comes last by its own back-off. */
const MOST = 0.99

function known<Name extends string>(values: { readonly [name in Name]: number | undefined }): {
  readonly [name in Name]?: number
} {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as {
    readonly [name in Name]?: number
  }
}

function deadOf(meters: readonly GroupMeter[]): { readonly [reason: string]: number } {
  const dead: { [reason: string]: number } = {}
  for (const { reasons } of meters) for (const [reason, tasks] of reasons) dead[reason] = (dead[reason] ?? 0) + tasks
  return dead
}

function latenessOf(deliveries: readonly Delivered[]): Durations {
  const all = new Durations()
  for (const { arrivedAtMs, atMs } of deliveries) all.add(atMs - arrivedAtMs)
  return all
}
