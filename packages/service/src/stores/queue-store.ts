/**
 * Tasks on their way: taken in, claimed, settled. Every call is atomic, item by item. A store computes no policy: instants
 * and states come in. Every answer carries the store's clock, which alone says what is due and when a lease ends.
 *
 *  1. `IN_FLIGHT` ⇔ token and lease; a finished task changes only by a replay.
 *  2. Every write after a claim matches the token; at most one settle per token has effect; a stale one answers `lost`,
 *     the same one again answers as before.
 *  3. An attempt counts exactly when the settle carries its row. Put-back, recall, expire and cancel never count.
 *  4. A claim that is not the steward's takes nothing. No claim lifts a lane's leases above the limit it carries.
 *  5. A pending task is always found by listing its partition, with an instant not later than its first due one.
 *  6. An acknowledged write survives `kill -9` at the advertised durability.
 *  7. The same (tenant, idempotencyKey): exactly one task, as long as the task is kept.
 *  8. Work per call is bounded; counters are kept, never counted.
 */
import type { NewTask } from '../task/accept.ts'
import type { Callback } from '../task/callback.ts'
import type { Shut } from '../task/held.ts'
import type { Settlement } from '../task/settle.ts'
import type { ClaimedTask, Progress, Task, TaskStatus } from '../task/task.ts'
import type { AuditLine } from './record-store.ts'
import type { Answer, Page, PageAsk } from './store.ts'

export interface QueueStore {
  /** Takes in what is new; key and task are one write. */
  enqueue(tasks: readonly NewTask[]): Promise<Answer & { readonly results: readonly Enqueued[] }>
  /** Always exact, in the order asked; an unknown task is left out. */
  get(taskIds: readonly string[]): Promise<readonly Task[]>

  // For the steward of partitions
  /** The queues that have a waiting task. */
  queues(ask: PartitionsPage): Promise<Answer & Page<QueueHead>>
  /** The leases of the partitions, the earliest end first. */
  leases(ask: LeasesPage): Promise<Answer & Page<LeaseHead>>
  /** At most so many due tasks of each asked queue. Each claim is answered for itself, in the order asked. */
  claim(claims: readonly Claim[]): Promise<Answer & { readonly answers: readonly ClaimAnswer[] }>
  settle(ends: readonly (Settlement | PutBack)[]): Promise<Answer & { readonly results: readonly Settled[] }>
  /** Ends waiting tasks of a queue that are past their deadline. Looks at no more than `limit`, from `cursor` on. */
  expire(ask: Expire): Promise<Answer & { readonly expired: readonly string[]; readonly nextCursor?: string }>
  /** Makes waiting tasks due earlier, each in its queue; refused as a whole if the steward has changed. */
  recall(ask: Recall): Promise<Answer & { readonly recalled: readonly string[] }>

  // For operators; the audit line is written with the change, if there is one
  /** Ends a waiting task; marks one that is under way. Twice is once. */
  cancel(taskId: string, change?: Change): Promise<Answer & Changed>
  /** Due now, before all others of its lane. */
  attemptNow(taskId: string, change?: Change): Promise<Answer & Changed>
  /** The next generation of dead letters, each if it is still in the generation that was read. `change` is for one alone. */
  replay(asks: readonly Replay[], change?: Change): Promise<Answer & { readonly results: readonly Changed[] }>

  // Callbacks
  /** Ends that a callback must tell, lane by lane of the callbacks: the oldest of each, so that no lane holds up another. */
  endsToTell(ask: EndsAsk): Promise<Answer & Page<Callback>>
  /** These ends have a task of their own now. Twice is once. */
  endsTold(ends: readonly EndName[]): Promise<Answer>
}

export type Enqueued =
  | { readonly kind: 'created' }
  /** The same request with the same key came before. */
  | { readonly kind: 'existing'; readonly task: Task }
  /** Another request with the same key came before. */
  | { readonly kind: 'conflict'; readonly taskId: string }

export interface PartitionsPage extends PageAsk {
  readonly partitions: readonly number[]
}

export interface QueueHead {
  readonly lane: string
  readonly queue: string
  /** Not later than the first due instant in it. */
  readonly dueAt: number
}

export interface LeasesPage extends PartitionsPage {
  /** Only leases that this claim call made: for a call whose answer never came. */
  readonly token?: string
  /** Only leases that have ended by the store's clock: their holder never settled them. */
  readonly haveEnded?: true
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
  /** Take the due tasks that became due last, the latest first: for probes. Absent: those that are due longest. */
  readonly end?: 'back'
}

export type ClaimAnswer =
  | { readonly kind: 'claimed'; readonly tasks: readonly ClaimedTask[]; readonly heads: readonly AskedHead[] }
  /** The partition has another steward. */
  | { readonly kind: 'refused' }

/** An asked queue after the claim. */
export interface AskedHead {
  readonly lane: string
  readonly queue: string
  /** Its first due instant; null when it is empty. */
  readonly dueAt: number | null
}

/** The end of a lease that was never used: the task waits again as and where it did. One that an operator cancelled ends. */
export interface PutBack {
  readonly taskId: string
  readonly token: string
  readonly next: 'put-back'
}

export type Settled =
  /** `status` is what the task became; a cancelled one may differ from what was asked. */
  { readonly kind: 'settled'; readonly status: TaskStatus } | { readonly kind: 'lost' }

export interface Expire extends PageAsk {
  readonly partition: number
  readonly steward: string
  readonly lane: string
  readonly queue: string
  /** When gates before this queue were shut: kept with each task that one of them held. */
  readonly shut?: readonly Shut[]
}

/** Waiting tasks that shall be due earlier: their destination answers again. */
export interface Recall {
  readonly partition: number
  readonly steward: string
  /** No more than `MOST_RECALLED`. */
  readonly tasks: readonly { readonly taskId: string; readonly dueAt: number }[]
}

/** The work of a call is bounded; a steward remembers no more of a lane. */
export const MOST_RECALLED = 200

/** How an operator changes a task. */
export interface Change {
  readonly audit?: AuditLine
  /** The version it must have; left out: any. */
  readonly ifVersion?: number
}

export type Changed =
  | { readonly kind: 'changed'; readonly task: Task }
  /** It is no longer the version that was asked for; `task` says what it is. */
  | { readonly kind: 'conflict'; readonly task: Task }
  /** Its status does not allow it; `task` says which it is. */
  | { readonly kind: 'unchanged'; readonly task: Task }
  | { readonly kind: 'unknown' }

export interface Replay {
  readonly taskId: string
  /** The generation that was read: in a later one nothing is done. */
  readonly generation: number
  readonly progress: Progress
  /** Its turn; left out or past: now. */
  readonly dueAt?: number
}

/** A page goes on behind the lane that ended the one before: what that lane has beyond its share comes when a caller begins anew. */
export interface EndsAsk extends PartitionsPage {
  /** Of each lane of callbacks at most. */
  readonly perLane: number
}

/** A task ends once in each generation. */
export type EndName = Pick<Callback, 'taskId' | 'generation'>
