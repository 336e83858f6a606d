import type { GiveUpReason, RetryPolicy } from '@secondwind/resilience'
import type { laneKind } from '@secondwind/resilience/rules'
import type { GateReason } from './lane-view.ts'

/**
 * What a task can be. Every unfinished task has one instant at which somebody must look at it: the next attempt, or the
 * end of the lease.
 *
 *               claim                settle
 *   PENDING ───────────► IN_FLIGHT ───────────► SUCCEEDED
 *     ▲  ▲                  │ │
 *     │  └────── settle ────┘ └───── settle ───► EXHAUSTED
 *     └──────────────────── replay ──────────────────┘
 *   PENDING ── cancel ──► CANCELLED;  IN_FLIGHT: marked, and the settle that follows ends it
 *   PENDING ── expire ──► EXHAUSTED { deadline }
 *
 *  1. Only the holder of the newest lease token can settle. A settle may put the task back as it stood.
 *  2. `attemptNumber` grows only when something was sent, or may have been.
 *  3. A finished task changes only by a replay: the next generation, attempts from 0, time from now.
 */
export type TaskState =
  | { readonly status: 'PENDING'; readonly nextAttemptAt: number; readonly queue: Queue }
  | { readonly status: 'IN_FLIGHT'; readonly lease: Lease; readonly claimed: Claimed }
  | { readonly status: 'SUCCEEDED'; readonly endedAt: number }
  | { readonly status: 'EXHAUSTED'; readonly endedAt: number; readonly reason: GiveUpReason; readonly held?: HeldBack }
  | { readonly status: 'CANCELLED'; readonly endedAt: number }

export type TaskStatus = TaskState['status']

export const TASK_STATUSES: readonly TaskStatus[] = ['PENDING', 'IN_FLIGHT', 'SUCCEEDED', 'EXHAUSTED', 'CANCELLED']

/** The gate that a task stood behind when its deadline came. */
export interface HeldBack {
  readonly by: GateReason
  /** When the task became due. */
  readonly since: number
}

/** Leave to make one attempt. The token is that of the claim call: all leases of one call share it. */
export interface Lease {
  readonly token: string
  readonly endsAt: number
  /** Somebody wants the task cancelled: unless the target says that it succeeded, the settle ends it. */
  readonly cancelRequested: boolean
}

/** When a claim took the task, and where it waited until then: a lease that was never used puts it back there. */
export interface Claimed {
  readonly at: number
  readonly dueAt: number
  readonly queue: Queue
}

/** Where a waiting task stands within its lane: a gate shuts a kind, a policy or a rank by not asking its queues. */
export interface Queue {
  readonly policyId: string
  readonly kind: QueueKind
  readonly rank: Rank
}

/** By attempts made: tasks that were never tried flow while retries wait, and those tried often delay neither. */
export type QueueKind = laneKind.StartKind

export type Rank = (typeof RANKS)[number]

export const RANKS = [
  'urgent', // a caller asked for an attempt now
  'normal',
  'low', // replays, which yield to live traffic
] as const

/** What was accepted: it never changes. */
export interface AcceptedTask {
  readonly taskId: string
  readonly tenant: string
  /** The origin of `targetUrl`, without a dot at the end of its host. */
  readonly destination: string
  readonly policyId: string
  readonly policyVersion: number
  /** The document itself, where the task came with one of its own. */
  readonly policy?: RetryPolicy
  readonly idempotencyKey: string
  readonly request: TaskRequest
  readonly createdAt: number
  /** The caller's own deadline, as given. */
  readonly deadlineAt?: number
  /** How long a claim holds the task: an attempt's time-out and a margin. */
  readonly leaseMs: number
  readonly metadata?: Metadata
  /** Told of its end. */
  readonly callbackUrl?: string
  /** The id of the key that brought it, or who else did. Absent where nobody noted it. */
  readonly createdBy?: string
  /** The task that this one was made from, by an edit and replay. */
  readonly linkedTo?: string
}

export interface TaskRequest {
  readonly targetUrl: string
  readonly method: string
  readonly headers: { readonly [name: string]: string }
  /** The bytes as they came: a signature is over bytes. */
  readonly body: Uint8Array | null
  /** A body that is too large for a row; then `body` is null. */
  readonly storedBody?: StoredBody
}

/** What a body is; where its bytes lie is known to the store. */
export interface StoredBody {
  readonly bodyRef: string
  readonly sizeBytes: number
}

export type Metadata = { readonly [name: string]: string }

/** What is remembered between attempts. */
export interface Progress {
  /** 1, and one more with every replay. */
  readonly generation: number
  /** Attempts made in this generation, those before a hand-over included. */
  readonly attemptNumber: number
  /** Attempts in a row whose end nobody saw. */
  readonly lostCount: number
  /** What elapsed time is counted from. */
  readonly startedAt: number
  readonly previousDelayMs: number
  /** The deadline. No pause extends it. */
  readonly expiresAt: number
  /** The replay of many that brought it back, which counts what becomes of it. */
  readonly replayId?: string
}

export interface Task extends AcceptedTask {
  readonly progress: Progress
  readonly state: TaskState
  /** Grows with every write that anybody can see. */
  readonly version: number
  /** The end of the newest attempt; absent before the first. */
  readonly lastAttempt?: AttemptEnd
}

/** A task that somebody holds. */
export interface ClaimedTask extends AcceptedTask {
  readonly progress: Progress
  readonly lease: Lease
  /** When this lease began; its end may have been moved since. */
  readonly claimedAt: number
  /** When it was due: lateness is measured from it. */
  readonly dueAt: number
  readonly queue: Queue
}

/** One attempt, as the log keeps it. */
export interface AttemptRow extends AttemptEnd {
  readonly taskId: string
  readonly generation: number
  /** The first is 1. */
  readonly attemptNumber: number
  readonly startedAt: number
  readonly durationMs: number
  readonly response?: CapturedResponse
}

/** How an attempt ended. */
export interface AttemptEnd {
  /** `success`, or the kind of failure. */
  readonly outcome: AttemptOutcome
  readonly responseStatus?: number
  /** Stable and kebab-case: `http-503`, `connect-refused`, `attempt-timeout`, `lost` … */
  readonly errorCode?: string
  readonly errorMessage?: string
}

export type AttemptOutcome = 'success' | 'transient' | 'throttled' | 'ambiguous' | 'permanent' | 'ignored'

/** What a target answered, up to a limit, with what is secret blotted out. */
export interface CapturedResponse {
  readonly headers: { readonly [name: string]: string }
  readonly body: string
  /** Bytes that are no text are kept in base64. */
  readonly bodyEncoding: 'utf8' | 'base64'
  readonly truncated: boolean
}
