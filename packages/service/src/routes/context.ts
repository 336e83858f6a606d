import type { Clock, Random } from '@secondwind/resilience'
import type { FastifyInstance } from 'fastify'
import type { Caller } from '../access/caller.ts'
import type { KeyRing } from '../access/key-ring.ts'
import type { SigningSecrets } from '../access/signing-secrets.ts'
import type { BodyStore } from '../bodies/body-store.ts'
import type { StandingOrders } from '../steering/standing-orders.ts'
import type { BacklogLimits, TaskStore } from '../stores/task-store.ts'
import type { Dispatching } from '../task/lane-view.ts'
import type { OperatorEvents } from '../telemetry/events.ts'
import type { Live } from '../telemetry/live.ts'
import type { DiskFloor } from '../upkeep/disk-floor.ts'

/** All that the API knows of the rest of the service. */
export interface ApiSetting {
  readonly store: TaskStore
  /** Where large bodies lie. */
  readonly bodies: BodyStore
  /** Lets no task in while the disk is nearly full; absent where the store has no disk. */
  readonly floor?: Pick<DiskFloor, 'admit'>
  readonly dispatching: Dispatching
  /** Tells whoever runs replays that one has changed. */
  readonly wakeReplays: (tenant: string) => void
  /** What operators have ordered; whoever writes an order here has it read at once. */
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

/** What routes are given. */
export interface ApiContext extends ApiSetting {
  /** Lists are read in the caller's turn, and tenants write only while the disk has room for them. */
  readonly storeFor: (caller: Caller) => TaskStore
}

export interface ApiLimits {
  /** Of one task's body, as it is sent. */
  readonly bodyBytes: number
  /** Of one that is uploaded by itself. */
  readonly uploadBytes: number
  /** Of all that are being uploaded, shared by all tenants. */
  readonly arrivingBytes: number
  /** Bodies that are read at once, shared by all tenants. */
  readonly bodyReads: number
  readonly batchItems: number
  /** Of a batch as it arrives. */
  readonly batchBytes: number
  /** Of all large JSON bodies that are under way, shared by all tenants. */
  readonly jsonBytes: number
  readonly backlog: BacklogLimits
  /** Requests that bring tasks, shared by all tenants; absent: as many as come. */
  readonly intakePerSecond?: number
  /** Of callers, at once, nine tenths of them shared by tenants; whoever comes beyond takes the place of an idle one, or is hung up on. */
  readonly connections: number
  /** Requests on one connection that are not answered yet; whoever sends more ahead is cut off. */
  readonly sentAhead: number
  /** Lists under way at once, shared by all tenants. */
  readonly lists: number
  /** Of their answers, until they have been taken. */
  readonly listBytes: number
  /** Whoever takes nothing of an answer for so long is cut off, or after twice as long: it is looked at as often as that. */
  readonly answerTimeoutMs: number
  /** A request has arrived within it, or is given up. */
  readonly requestTimeoutMs: number
}

export const DEFAULT_LIMITS: ApiLimits = {
  bodyBytes: 1_048_576, // what others take too; more belongs into an object store
  uploadBytes: 16_777_216, // sixteen of them are in memory at once when they are sent
  arrivingBytes: 1_073_741_824, // sixty of the largest at once, and a disk that is not full of halves
  bodyReads: 64, // as many descriptors; a line is full with fewer
  batchItems: 1_000,
  batchBytes: 8_388_608, // parsed in less time than a person notices
  jsonBytes: 268_435_456, // thirty of the largest batches at once
  backlog: {
    perLane: 2_000_000, // a day of a busy destination that is down
    total: 10_000_000, // some ten gigabytes
    lanes: 100_000, // four hundred megabytes of the heap: each is served, and has a gate, a budget and a limit in memory
    bodyBytes: 10_737_418_240, // ten more
  },
  connections: 1_000, // what a process of 2 000 descriptors can spare
  sentAhead: 16, // more than any client that sends ahead at all; Node parses thousands in one turn
  // Ten seconds of reading: whoever asks for many waits in its own line, and one who waits asks for no more meanwhile. A
  // refusal costs the event loop more than a wait does.
  lists: 1_000,
  listBytes: 67_108_864, // a few of the largest pages there are, hundreds of usual ones
  answerTimeoutMs: 10_000, // a line that was lost comes back within it, or does not
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
