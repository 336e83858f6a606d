import { estimateOf, type Estimate } from '../trial/over-seeds.ts'
import type { DeliveryResult } from './delivery-result.ts'

/**
 * The few numbers by which people compare deliveries. Groups of which no task can ever be delivered are left out. "After"
 * counts from the end of the last trouble or, where there is none, from the last arrival.
 */
export interface DeliveryReading {
  readonly tasks: number
  readonly deliveredShare: number
  readonly dead: number
  /** Tasks that ended without one attempt. */
  readonly unsent: number
  /** Tasks that had not ended when the run did. */
  readonly waiting: number
  readonly requests: number
  readonly failedPerTask: number
  /** While a trouble lasted; absent: there is none. */
  readonly requestsWhileDown?: number
  /** From the end of the last trouble until the first delivery; absent: there is no trouble, or nothing was delivered. */
  readonly firstAfterMs?: number
  /** From then until 99 in 100 of the tasks that had arrived by then were delivered; absent: they never were. */
  readonly gone99AfterMs?: number
  readonly goneAfterMs?: number
  /** From the beginning of the run until 99 in 100 of all its tasks were delivered; absent: they never were. */
  readonly delivered99AtMs?: number
  readonly deliveredAllAtMs?: number
  /** From its arrival until a task was delivered; absent: none was. */
  readonly p50LateMs?: number
  readonly p99LateMs?: number
  readonly longestLateMs?: number
}

export type DeliveryMeasure = keyof DeliveryReading

export function deliveryReadingOf({ all, returnsAtMs, requestsWhileDown }: DeliveryResult): DeliveryReading {
  const { tasks, delivered, dead, delivered99AtMs, deliveredAllAtMs, backlog99AtMs, backlogAllAtMs } = all
  const { firstAfterReturnAtMs, lateness } = all
  const fromMs = returnsAtMs ?? all.lastArrivalAtMs
  const after = (atMs: number): number => Math.max(0, atMs - fromMs)
  return {
    tasks,
    deliveredShare: tasks === 0 ? 0 : delivered / tasks,
    dead: Object.values(dead).reduce((sum, count) => sum + count, 0),
    unsent: all.unsent,
    waiting: all.waiting,
    requests: all.requests,
    failedPerTask: tasks === 0 ? 0 : all.failedAttempts / tasks,
    ...(requestsWhileDown !== undefined && { requestsWhileDown }),
    ...(firstAfterReturnAtMs !== undefined && { firstAfterMs: after(firstAfterReturnAtMs) }),
    ...(backlog99AtMs !== undefined && { gone99AfterMs: after(backlog99AtMs) }),
    ...(backlogAllAtMs !== undefined && { goneAfterMs: after(backlogAllAtMs) }),
    ...(delivered99AtMs !== undefined && { delivered99AtMs }),
    ...(deliveredAllAtMs !== undefined && { deliveredAllAtMs }),
    ...(delivered > 0 && {
      p50LateMs: lateness.p50Ms,
      p99LateMs: lateness.p99Ms,
      longestLateMs: lateness.longestMs,
    }),
  }
}

/** A measure over several seeds: its mean with the confidence interval, and its least and most. */
export interface DeliverySpread extends Estimate {
  readonly least: number
  readonly most: number
}

export type DeliverySpreads = { readonly [measure in DeliveryMeasure]?: DeliverySpread }

/** Every measure over all runs; what some of them do not have is left out. */
export function deliverySpreads(readings: readonly DeliveryReading[]): DeliverySpreads {
  const measures = new Set(readings.flatMap(reading => Object.keys(reading) as DeliveryMeasure[]))
  const found = Array.from(measures, measure => [measure, deliverySpread(readings, measure)] as const)
  return Object.fromEntries(found.filter(([, spread]) => spread !== undefined))
}

/** Undefined where a run has none of it. */
export function deliverySpread(
  readings: readonly DeliveryReading[],
  measure: DeliveryMeasure,
): DeliverySpread | undefined {
  const values = readings.map(reading => reading[measure])
  const mean = estimateOf(values)
  const known = values.filter(value => value !== undefined)
  return mean && { ...mean, least: Math.min(...known), most: Math.max(...known) }
}
