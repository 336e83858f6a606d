import type { Clock, Random } from '@secondwind/resilience'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../access/caller.ts'
import type { KeyRing, SigningSecrets } from '../access/key-ring.ts'
import type { BodyStore } from '../bodies/body-store.ts'
import type { Backlog } from '../intake/backlog.ts'
import type { PolicyBook } from '../policies/policy-book.ts'
import type { StandingOrders } from '../steering/standing-orders.ts'
import type { Store } from '../stores/store.ts'
import type { BacklogLimits } from '../task/backlog.ts'
import type { Dispatching } from '../task/lane-view.ts'
import type { Live, OperatorEvents } from '../telemetry/events.ts'
import type { DiskFloor } from '../upkeep/disk-floor.ts'

/** All that the API knows of the rest of the service. */
export interface ApiContext {
  readonly store: Store
  /** Where large bodies lie. */
  readonly bodies: BodyStore
  /** Lets no task in while the disk is nearly full; absent where the store has no disk. */
  readonly floor?: Pick<DiskFloor, 'admit'>
  /** Says which tasks find room to wait. */
  readonly backlog: Pick<Backlog, 'verdict' | 'taken'>
  readonly dispatching: Dispatching
  /** Tells the runner that a replay of this tenant has changed. */
  readonly wakeReplays: (tenant: string) => void
  /** The orders of operators. A route that writes one has them read at once. */
  readonly orders: StandingOrders
  /**
   * `now` is the store's time as far as this instance knows it: tasks are due by the store's clock, and one that was
   * dated by another would be late, or early, by as much as they differ.
   */
  readonly clock: Clock
  /** The wall clock, by which callers date what they ask for. */
  readonly wallNow: () => number
  readonly random: Random
  readonly limits: ApiLimits
  /** Why a target must not be called, as far as its address tells; what it leads to is seen when the socket opens. */
  readonly checkTarget?: (targetUrl: string) => string | undefined
  /** The same book that attempts use. */
  readonly policies: PolicyBook
  readonly keys: KeyRing
  readonly secrets: SigningSecrets
  /** Names besides those of loopback under which a service without keys is reached: `host` or `host:port`. */
  readonly allow: { readonly hosts: readonly string[] }
  /** What can be watched while it happens; routes tell it what they have changed. */
  readonly live: Live
  /** Hears what somebody does to a task, if anybody wants to. */
  readonly operatorEvents?: OperatorEvents
  /** Asked every few seconds about each listener of `/events`; absent: every listener may stay. */
  readonly isStillAllowed?: (caller: Caller) => Promise<boolean>
  readonly metrics: () => Promise<Exposition>
  readonly health: () => Promise<Health>
  /** Of the service. */
  readonly version: string
  /** The name that this process gave itself when it started. */
  readonly instance: string
  /** Of its data file, if it has one. */
  readonly format?: number | undefined
  readonly log: LogSettings
  /** Adds routes that are no part of the API. */
  readonly practice?: (api: FastifyInstance) => void
}

export interface ApiLimits {
  /** Of one task's body, as it is sent. */
  readonly bodyBytes: number
  /** Of one that is uploaded by itself. */
  readonly uploadBytes: number
  readonly batchItems: number
  /** Of a batch as it arrives. */
  readonly batchBytes: number
  readonly backlog: BacklogLimits
  /** Requests that bring tasks, shared by all tenants; absent: as many as come. */
  readonly intakePerSecond?: number
  /** Of callers, at once. */
  readonly connections: number
  /** Requests under way at once, shared by all tenants. */
  readonly requests: number
  /** Bytes of their bodies and answers, shared by all tenants. */
  readonly bytesUnderWay: number
  /** A connection on which nothing moves for so long is closed; Node notices after twice as long at the latest. */
  readonly socketTimeoutMs: number
  /** A request has arrived within it, or is given up. */
  readonly requestTimeoutMs: number
}

export const DEFAULT_LIMITS: ApiLimits = {
  bodyBytes: 1_048_576, // what others take too; more belongs into an object store
  uploadBytes: 16_777_216, // sixteen of them are in memory at once when they are sent
  batchItems: 1_000,
  batchBytes: 8_388_608, // parsed in less time than a person notices
  backlog: {
    perLane: 2_000_000, // a day of a busy destination that is down
    total: 10_000_000, // some ten gigabytes
    lanes: 100_000, // four hundred megabytes of the heap: each is served, and has a gate, a budget and a limit in memory
    bodyBytes: 10_737_418_240, // ten more
  },
  connections: 1_000, // what a process of 2 000 descriptors can spare
  requests: 1_000, // more than a store and a processor make progress with
  bytesUnderWay: 268_435_456, // thirty of the largest batches or pages, sixteen of the largest uploads
  socketTimeoutMs: 60_000, // longer than anything that a caller has to wait for
  requestTimeoutMs: 30_000, // the largest batch over a slow line
}

export interface Exposition {
  readonly contentType: string
  readonly text: string
}

export interface Health {
  /** What keeps the service from its work, in sentences; empty when nothing does. */
  readonly problems: readonly string[]
  /** How far the machine's clock has gone from the store's. */
  readonly clockSkewMs: number
}

export interface LogSettings {
  readonly level: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
  /** Where lines go; else to the standard output. */
  readonly stream?: { write(line: string): void }
}
