import { presets, type RetryPolicy, type RetryPolicyInput } from '@secondwind/resilience'
import type { LaneInput } from '@secondwind/resilience/rules'
import type { Distribution } from '../scenario/distribution.ts'

/**
 * A world in which the durable service delivers tasks: which tasks arrive, by which policy and through which lane they go,
 * and how their destination behaves. Plain JSON; a scenario and a seed give the same run for ever.
 */
export interface DeliveryScenario {
  readonly kind: 'delivery'
  readonly name: string
  /** What it shows, in a sentence. */
  readonly about?: string
  /** The run ends then, or as soon as every task has ended. */
  readonly durationMs: number
  /** The width of a column in everything that is shown over time. */
  readonly stepMs?: number
  /** The tasks, all for one destination. */
  readonly tasks: readonly TaskGroup[]
  /** The policy of every task. */
  readonly policy?: RetryPolicyInput
  /** The limits of the destination, as the service takes them. */
  readonly lane?: LaneInput
  readonly destination: Destination
  /** The service is killed, and starts again. */
  readonly restarts?: readonly Restart[]
}

export interface TaskGroup {
  readonly name: string
  readonly count: number
  readonly arrivals: TaskArrivals
  /** So many attempts of each task fail before one can succeed; `all`: none ever does. */
  readonly failFirst?: number | 'all'
  /** A backlog: each task was tried so often before the run. */
  readonly attemptsMade?: number
}

/** The first task arrives at `fromMs`. */
export type TaskArrivals =
  /** At equal distances. */
  | { readonly kind: 'constant'; readonly perSecond: number; readonly fromMs?: number }
  /** Independent of each other. */
  | { readonly kind: 'poisson'; readonly perSecond: number; readonly fromMs?: number }
  /** All at one instant. */
  | { readonly kind: 'together'; readonly fromMs?: number }

export interface Destination {
  /** From the request to the response. */
  readonly latencyMs?: Distribution
  /** How long a response takes that is no success; absent: as long as a success. */
  readonly errorMs?: Distribution
  /** The share of requests that is answered 503 by chance. */
  readonly errorRate?: number
  readonly limit?: DestinationLimit
  readonly troubles?: readonly DestinationTrouble[]
}

/** It serves so many requests a second, and refuses the others. */
export interface DestinationLimit {
  readonly perSecond: number
  /** So many at one instant, after a pause; absent: a second's. */
  readonly burst?: number
  readonly status?: 429 | 503
  /** What a refusal asks for; absent: nothing. */
  readonly retryAfterMs?: number
}

/** While it is down it answers every request 503; while it hangs it never answers the requests that it gets. */
export interface DestinationTrouble {
  readonly kind: 'down' | 'hanging'
  readonly fromMs: number
  readonly untilMs: number
}

/** Attempts under way are lost. What the lane remembers is at most five seconds old. */
export interface Restart {
  readonly atMs: number
  /** Until the service takes up its work again. */
  readonly downMs?: number
}

const { policyId: _, ...OF_SERVICE } = presets.service.retry

/** The service's own default. What a policy leaves out is as in it. */
export const DEFAULT_DELIVERY_POLICY: RetryPolicy = OF_SERVICE

export const DEFAULT_DELIVERY = {
  stepMs: 1_000, // people think of requests per second
  latencyMs: { kind: 'uniform', fromMs: 10, toMs: 20 }, // a server near by
  limitStatus: 503,
  burstSeconds: 1, // what a server has that counts the requests of each second
  downMs: 1_000, // what a process takes to start
} as const

/** A task that can never be delivered says nothing about the speed of a recovery. */
export function isPoison({ failFirst }: TaskGroup): boolean {
  return failFirst === 'all'
}

/** When the last trouble is over; undefined where there is none. */
export function returnOf({ destination: { troubles = [] } }: DeliveryScenario): number | undefined {
  return troubles.length === 0 ? undefined : Math.max(...troubles.map(({ untilMs }) => untilMs))
}
