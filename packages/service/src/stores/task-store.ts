/**
 * What the service asks of a store. Stores are atomic and compute no policy: instants and states come in. What the words
 * mean is said by `task-store.conformance.ts`, which every store sits.
 *
 *  1. `IN_FLIGHT` ⇔ token and lease; a finished task changes only by a replay.
 *  2. Every write after a claim matches the token; at most one settle per token has effect; a stale one answers `lost`,
 *     the same one again answers as before.
 *  3. An attempt counts exactly when the settle carries its row. Release, recall, expire and cancel never count.
 *  4. A claim that is not the steward's takes nothing. No claim lifts a lane's leases above the limit it carries.
 *  5. A pending task is always found by listing its partition, with an instant not later than its first due one.
 *  6. What was acknowledged survives `kill -9` at the advertised durability.
 *  7. The same (tenant, idempotencyKey) in its window: exactly one task.
 *  8. Work per call is bounded; counters are kept, never counted.
 *
 * Every answer carries the store's clock: it alone says what is due, and when a lease ends.
 */
import type { NewTask } from '../task/accept.ts'
import type { BacklogLimits, FullScope } from '../task/backlog.ts'
import type { Shut } from '../task/held.ts'
import type { Settlement } from '../task/settle.ts'
import type { AttemptRow, ClaimedTask, Task, TaskStatus } from '../task/task.ts'
import type { BodyStoring } from './body-records.ts'
import type { CallbackStore } from './callback-records.ts'
import type { OperatorStore } from './operator-records.ts'
import type {
  AttemptsPage,
  Cause,
  CausesPage,
  Counters,
  LaneCounters,
  LanesPage,
  NewPolicy,
  Page,
  PageAsk,
  PoliciesPage,
  PolicyName,
  PolicyRecord,
  PutPolicy,
  TasksPage,
  VersionsPage,
} from './records.ts'
import type { Changed, Operating } from './operating.ts'
import type { Recall } from './recall.ts'
import type { Replay, ReplayStore } from './replays.ts'
import type { StoreUnavailableError } from './store-errors.ts'

export type { BacklogLimits } from '../task/backlog.ts'
export type * from './body-records.ts'
export type * from './callback-records.ts'
export * from './operator-records.ts'
export * from './store-errors.ts'
export type * from './operating.ts'
export type * from './recall.ts'
export type * from './records.ts'
export type * from './replays.ts'

export interface TaskStore extends OperatorStore, ReplayStore, BodyStoring, CallbackStore {
  readonly kind: string
  /** What acknowledged work survives: the end of the process, or the loss of power too. */
  readonly durability: 'none' | 'power-loss'

  // Intake
  enqueue(tasks: readonly NewTask[], limits: BacklogLimits): Promise<Answer & { readonly results: readonly Enqueued[] }>

  // The fleet
  /** Says that this instance is alive, and hears who else is, and who serves what. */
  beat(instance: string): Promise<Answer & Fleet>
  /** Makes `token` the partition's, if it is still `from`'s: null when it is free. */
  take(ask: Take): Promise<Answer & { readonly taken: boolean }>
  /** Frees a partition that is still this token's. */
  give(ask: { readonly partition: number; readonly steward: string }): Promise<Answer & { readonly given: boolean }>

  // For the steward of a partition
  /** The queues that have a waiting task, in pages. */
  queues(ask: PartitionPage): Promise<Answer & Page<QueueHead>>
  /** Every lease of the partition, in pages, the earliest end first. */
  leases(ask: PartitionPage): Promise<Answer & Page<LeaseHead>>
  /** At most so many due tasks of each asked queue; refused as a whole if the steward has changed. */
  claim(ask: Claim): Promise<Answer & ClaimAnswer>
  /** Leases that ended without a word from their holder, or were left behind by an earlier process. */
  endedLeases(ask: PartitionLimit): Promise<Answer & { readonly tasks: readonly ClaimedTask[] }>
  /** Leases that a claim call made, for one whose answer never came. */
  leasesOf(ask: {
    readonly partition: number
    readonly token: string
  }): Promise<Answer & { readonly taskIds: readonly string[] }>
  /** Ends waiting tasks of a queue that are past their deadline; looks at no more than `limit`, from `cursor` on. */
  expire(ask: Expire): Promise<Answer & { readonly expired: readonly string[]; readonly nextCursor?: string }>
  /** Makes waiting tasks due earlier, each in its queue; refused as a whole if the steward has changed. */
  recall(ask: Recall): Promise<Answer & { readonly recalled: readonly string[] }>
  remember(ask: Remember): Promise<Answer & { readonly remembered: boolean }>
  memories(ask: PartitionPage): Promise<Answer & Page<LaneRecord>>

  // After a claim, by token
  settle(settlements: readonly Settlement[]): Promise<Answer & { readonly results: readonly Settled[] }>
  /** Puts back what was never sent, as it was. */
  release(leases: readonly HeldLease[]): Promise<Answer & { readonly results: readonly ('released' | 'lost')[] }>

  // For operators; the line of the audit is written with the change, if there is one
  cancel(taskId: string, ask?: Operating): Promise<Answer & Changed>
  /** Due now, before all others of its lane. */
  attemptNow(taskId: string, ask?: Operating): Promise<Answer & Changed>
  /** A dead letter's next generation, if it is still in the one that was read. */
  replay(ask: Replay): Promise<Answer & Changed>

  // Reading
  /** Always exact. */
  get(taskId: string): Promise<Task | undefined>
  /** The first first. A page is short where more would not fit (`page-bytes.ts`). */
  attempts(ask: AttemptsPage): Promise<Page<AttemptRow>>
  /**
   * The newest first. May lag a second; a page may be short or empty and still have a cursor, for work is bounded, and so
   * is what fits into one.
   */
  list(ask: TasksPage): Promise<Page<Task>>
  /** Dead letters by cause, the most numerous first. */
  causes(ask: CausesPage): Promise<Page<Cause>>
  counters(): Promise<Counters>
  /** One per lane that has had a task since it was last forgotten, in order of name. */
  laneCounters(ask: LanesPage): Promise<Page<LaneCounters>>

  // Policies
  /** The same document again changes nothing; another becomes the next version. */
  putPolicy(ask: NewPolicy): Promise<Answer & PutPolicy>
  /** The newest version unless another is named. */
  policy(name: PolicyName, version?: number): Promise<PolicyRecord | undefined>
  policies(ask: PoliciesPage): Promise<Page<PolicyRecord>>
  /** The newest first. */
  policyVersions(ask: VersionsPage): Promise<Page<PolicyRecord>>

  // Upkeep
  /** Forgets what ended long ago, and no more than `limit` of it. */
  sweep(ask: Sweep): Promise<Answer & { readonly swept: number }>
  /**
   * Forgets lanes that have no task left: their queues, counters and memory. Looks at no more than `limit`, from `cursor` on.
   * What operators have set for a destination is not the lane's, and stays.
   */
  sweepLanes(ask: PageAsk): Promise<Answer & { readonly lanes: readonly string[]; readonly nextCursor?: string }>
  health(): Promise<StoreHealth>
  /** Told of every due instant that was written for a queue whose steward did not write it itself. */
  onHint(listener: (hint: Hint) => void): () => void
  close(): Promise<void>
}

export interface Answer {
  /** The store's clock, in ms since the epoch, when the call was applied. */
  readonly now: number
}

export type Enqueued =
  /** `leftLocation`: where its body lay before it came again; nobody asks for it there any more. */
  | { readonly kind: 'created'; readonly leftLocation?: string }
  /** The same request with the same key came before. */
  | { readonly kind: 'existing'; readonly task: Task }
  /** Another request with the same key came before. */
  | { readonly kind: 'conflict'; readonly taskId: string }
  | { readonly kind: 'full'; readonly scope: FullScope | 'bodies' }
  /** The tenant has no body of that name, and none came along. */
  | { readonly kind: 'body-unknown' }

export interface Fleet {
  /** How often each instance has beaten; whoever reads it twice sees who is alive. */
  readonly beats: readonly { readonly instance: string; readonly count: number }[]
  readonly stewards: readonly Steward[]
  /** Another number whenever a record was written that attempts or requests depend on. */
  readonly recordsVersion: number
}

export interface Steward {
  readonly partition: number
  readonly instance: string
  readonly token: string
}

export interface Take {
  readonly partition: number
  readonly instance: string
  readonly token: string
  readonly from: string | null
}

export interface PartitionPage extends PageAsk {
  readonly partition: number
}

export interface PartitionLimit {
  readonly partition: number
  readonly limit: number
}

export interface QueueHead {
  readonly lane: string
  readonly queue: string
  /** Not later than the first due instant in it. */
  readonly dueAt: number
}

export interface LeaseHead {
  readonly taskId: string
  readonly lane: string
  readonly token: string
  readonly endsAt: number
}

export interface Claim {
  readonly partition: number
  readonly steward: string
  /** This call's own; it becomes the token of every lease it makes. */
  readonly token: string
  readonly asks: readonly Ask[]
}

export interface Ask {
  readonly lane: string
  readonly queue: string
  readonly count: number
  /** Leases that the lane may have, those under way included; the queues of a lane share it. */
  readonly limit: number
  /** Of what is due, the tasks that became due last, the latest first; absent: those due longest. */
  readonly end?: 'back'
}

export type ClaimAnswer =
  | { readonly kind: 'claimed'; readonly tasks: readonly ClaimedTask[]; readonly heads: readonly AskedHead[] }
  | { readonly kind: 'refused' }

/** An asked queue after the claim. */
export interface AskedHead {
  readonly lane: string
  readonly queue: string
  /** Its first due instant; null when it is empty. */
  readonly dueAt: number | null
}

export interface Expire extends PartitionPage {
  readonly steward: string
  readonly lane: string
  readonly queue: string
  /** When gates before this queue were shut: kept with each task that one of them held. */
  readonly shut?: readonly Shut[]
}

export interface Remember {
  readonly partition: number
  readonly steward: string
  readonly lane: string
  readonly memory: LaneMemory
}

export interface LaneRecord {
  readonly lane: string
  readonly memory: LaneMemory
}

/** What a new steward has to know of a lane; plain JSON, made and read by the rules of lanes. */
export type LaneMemory = { readonly [field: string]: string | number | boolean | null }

export type Settled =
  /** `status` is what the task became; a cancelled one may differ from what was asked. */
  { readonly kind: 'settled'; readonly status: TaskStatus } | { readonly kind: 'lost' }

export interface HeldLease {
  readonly taskId: string
  readonly token: string
}

export interface Sweep {
  /** `SUCCEEDED` and `CANCELLED` tasks that ended before. */
  readonly finishedBefore: number
  /** `EXHAUSTED` ones. */
  readonly deadBefore: number
  /** Keys whose task ended before, so that its window is over. */
  readonly keysBefore: number
  readonly limit: number
}

export interface StoreHealth {
  readonly now: number
  /** How far the wall clock has gone from the store's. */
  readonly clockSkewMs: number
  /** Whether writes succeed; why not, in a sentence. */
  readonly problem?: string
  /** The code of that problem where it lasts until the process ends, and not all that was kept may be found again after it. */
  readonly lasting?: StoreUnavailableError['code']
}

export interface Hint {
  readonly partition: number
  readonly lane: string
  readonly queue: string
  readonly dueAt: number
}
