import type { AdaptiveTimeoutPolicy, KillLevel, PipelinePolicyInput, RetryPolicyInput } from '@secondwind/resilience'
import type { Distribution } from './distribution.ts'

/**
 * A world in which policies can be tried: who calls, by which policy, whom, and what goes wrong. Plain JSON; a scenario
 * and a seed give the same run for ever.
 */
export interface Scenario {
  readonly name: string
  /** What it shows, in a sentence. */
  readonly about?: string
  /** No call begins later. What is under way then is followed to its end, for `drainMs` at most. */
  readonly durationMs: number
  readonly drainMs?: number
  /** Counted from then on: a queue that fills from nothing says little about the usual. */
  readonly warmUpMs?: number
  /** The width of a column in everything that is shown over time. */
  readonly stepMs?: number
  readonly clients: readonly ClientGroup[]
  /** By name: the same documents that programs use. A bare retry policy is what `retry` does with it. */
  readonly pipelines?: { readonly [name: string]: PolicyDocument }
  /** By name. */
  readonly dependencies: { readonly [name: string]: Dependency }
  readonly killOrders?: readonly TimedKillOrder[]
}

export type PolicyDocument = PipelinePolicyInput | RetryPolicyInput

/** Many alike: they call one dependency by one policy. */
export interface ClientGroup {
  readonly name: string
  /** The dependency. */
  readonly calls: string
  /** Absent: each call is made once, and waits for as long as it takes. */
  readonly pipeline?: string
  /** Closed clients call one after another, so that this is how many calls can be under way; open ones share a load. */
  readonly count?: number
  /** What counts, limits or remembers is each process's own. Absent: every client is a process. */
  readonly processes?: number
  readonly arrivals: Arrivals
  readonly network?: Network
  /** Where they are; replicas of the same region are called first. */
  readonly region?: string
  /** Learned time-outs, as a pipeline has them in code. */
  readonly adaptiveTimeout?: AdaptiveTimeoutPolicy
  /** An answer that took longer counts as failed, when it comes: impatience that does not interrupt. */
  readonly lateMs?: number
}

export type Arrivals =
  /** Independent callers: the open load of the whole group. */
  | { readonly kind: 'poisson'; readonly perSecond: number }
  /** A metronome. */
  | { readonly kind: 'constant'; readonly perSecond: number }
  /** Straight lines between the points, Poisson unless `even`. */
  | { readonly kind: 'ramp'; readonly points: readonly RatePoint[]; readonly even?: boolean }
  | {
      readonly kind: 'spike'
      readonly perSecond: number
      readonly peakPerSecond: number
      readonly fromMs: number
      readonly untilMs: number
      readonly even?: boolean
    }
  /** Recorded instants, in their order. */
  | { readonly kind: 'trace'; readonly atMs: readonly number[] }
  /** Serial: each client thinks, calls, waits for the end, and thinks again. */
  | { readonly kind: 'closed'; readonly thinkMs: Distribution }
  /** Every client calls once, all at one instant: a herd. */
  | { readonly kind: 'together'; readonly atMs: number }

export interface RatePoint {
  readonly atMs: number
  readonly perSecond: number
}

export interface Network {
  /** One way. */
  readonly delayMs: Distribution
  /** The share of messages that never arrive, in either direction. */
  readonly loss?: number
  /** One way, to a replica of another region. */
  readonly betweenRegionsMs?: Distribution
}

/** What is called: one station with a queue, or several replicas of it. */
export interface Dependency {
  /** How many calls each replica works on at once; absent: as many as come. */
  readonly servers?: number
  readonly serviceMs: Distribution
  /** So much longer for each call that is already there, the arriving one not counted: a server that has no queue and slows down instead. */
  readonly serviceMsPerCall?: number
  readonly queue?: Queue
  /** Whether work is stopped when its caller has gone. */
  readonly cancels?: boolean
  /** The share of calls that fail, after they have been worked on. */
  readonly errorRate?: number
  /** How much sooner or later a call that fails does so; absent: it takes what a success takes. */
  readonly errorMs?: Distribution
  /** What refused calls are told; absent: nothing. */
  readonly retryAfterMs?: number
  /** What it does when it is worked on, one after another or all at once, after its own work. */
  readonly downstream?: readonly Downstream[]
  readonly downstreamOrder?: 'sequential' | 'parallel'
  /** One row that everybody wants to change: a write fails if another came between its read and itself. */
  readonly contention?: 'optimistic'
  readonly replicas?: readonly ReplicaSpec[]
  /** After a trouble that took capacity away it comes back in a straight line over this time. */
  readonly slowStartMs?: number
  readonly troubles?: readonly Trouble[]
}

export interface Queue {
  /**
   * `lifo-under-overload` is a queue until `overloadLength` wait, and then a stack; `codel` drops from its head while
   * every wait of the last `intervalMs` was longer than `targetMs`.
   */
  readonly order?: 'fifo' | 'lifo' | 'lifo-under-overload' | 'codel'
  /** Who comes when so many wait is refused; absent: nobody is. */
  readonly maxLength?: number
  readonly overloadLength?: number
  readonly targetMs?: number
  readonly intervalMs?: number
  /** Whether work whose deadline has passed is dropped when its turn comes. */
  readonly dropsExpired?: boolean
}

export interface Downstream {
  readonly calls: string
  readonly pipeline?: string
  readonly times?: number
  /** Processes of this tier, for each replica; what counts, limits or remembers is each one's own. */
  readonly processes?: number
  /** Whether what is left of the caller's time is passed on. */
  readonly passesDeadline?: boolean
  readonly network?: Network
}

export interface ReplicaSpec {
  readonly name: string
  readonly region?: string
}

/** What is different for a while. */
export interface Trouble {
  readonly fromMs: number
  readonly untilMs: number
  /** Only this replica; absent: all of them. */
  readonly replica?: string
  /** What is left of its speed: 0 is a stall in which nothing begins. */
  readonly capacity?: number
  readonly errorRate?: number
  readonly errorMs?: Distribution
  /** Every call is refused at once, and provably has not arrived. */
  readonly unreachable?: boolean
  /** So much longer, on top of the usual. */
  readonly addedMs?: number
}

export interface TimedKillOrder {
  readonly atMs: number
  readonly untilMs?: number
  readonly level: KillLevel
  /** The pipeline; absent: all of them. */
  readonly pipeline?: string
}

export const DEFAULT_SCENARIO = {
  drainMs: 600_000, // ten minutes: what has not ended by then does not
  warmUpMs: 0,
  stepMs: 1_000, // people think of load per second
} as const

export const DEFAULT_QUEUE = {
  order: 'fifo', // what servers have that nobody thought about
  overloadLength: 100, // a short queue is a buffer, a long one is an outage
  targetMs: 5, // CoDel's published target and interval (RFC 8289)
  intervalMs: 100,
} as const
