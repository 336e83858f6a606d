import { deadlineOf, delayMs, type RetryPolicy } from '@secondwind/resilience'
import { laneKind } from '@secondwind/resilience/rules'
import type { AcceptedTask, Metadata, Progress, Queue, TaskRequest } from './task.ts'

/** What a caller asked for, once it is known to be right. */
export interface TaskOrder {
  readonly taskId: string
  readonly tenant: string
  readonly destination: string
  readonly request: TaskRequest
  /** Left out: the task's id, so that every attempt carries the same one anyway. */
  readonly idempotencyKey?: string | undefined
  /** Wait so long, or not before this instant; never both. */
  readonly delayMs?: number | undefined
  readonly notBefore?: number | undefined
  readonly deadlineAt?: number | undefined
  /** A hand-over: attempts and time already spent in process are part of the whole. */
  readonly attemptsMade?: number | undefined
  readonly elapsedMs?: number | undefined
  readonly metadata?: Metadata | undefined
  readonly callbackUrl?: string | undefined
  /** The id of the key that brought it, or who else did. */
  readonly createdBy: string
  /** Tells a repeated request from another one with the same key. */
  readonly requestHash: string
}

/** The policy that a task is accepted under. */
export interface PolicyInForce {
  readonly policyId: string
  readonly version: number
  readonly document: RetryPolicy
  /** It came with the task and belongs to it alone. */
  readonly isInline: boolean
}

/** A task as the store takes it in. */
export interface NewTask extends AcceptedTask {
  readonly progress: Progress
  readonly queue: Queue
  readonly dueAt: number
  readonly requestHash: string
  /** Whether the caller chose the key; only then can another request carry the same. */
  readonly keyGiven: boolean
}

/** A worker that dies loses its claim so long after its attempt should have ended: `visibilityTimeoutMs`. */
const LEASE_MARGIN_MS = 15_000

/** The policy of tasks that bring one of their own: they share a queue of this name. */
export const INLINE_POLICY = 'inline'

export function accept(order: TaskOrder, policy: PolicyInForce, moment: { now: number; roll: number }): NewTask {
  const {
    taskId,
    tenant,
    destination,
    request,
    deadlineAt,
    metadata,
    callbackUrl,
    createdBy,
    requestHash,
    attemptsMade = 0,
  } = order
  const { document } = policy
  const createdAt = moment.now
  const firstAt = Math.max(createdAt, order.notBefore ?? createdAt + (order.delayMs ?? 0))
  // Time that a caller asked for is not time that it lost: the deadline counts from then on.
  const startedAt = firstAt - (order.elapsedMs ?? 0)
  const retry = { attempt: attemptsMade, previousDelayMs: document.initialDelayMs }
  const isTimed = order.notBefore !== undefined || order.delayMs !== undefined
  const waitMs = attemptsMade > 0 && !isTimed ? delayMs(document, retry, moment.roll) : 0
  return {
    taskId,
    tenant,
    destination,
    policyId: policy.policyId,
    policyVersion: policy.version,
    ...(policy.isInline && { policy: document }),
    idempotencyKey: order.idempotencyKey ?? taskId,
    request,
    createdAt,
    ...(deadlineAt !== undefined && { deadlineAt }),
    leaseMs: document.attemptTimeoutMs + LEASE_MARGIN_MS,
    ...(metadata !== undefined && { metadata }),
    ...(callbackUrl !== undefined && { callbackUrl }),
    createdBy,
    progress: {
      generation: 1,
      attemptNumber: attemptsMade,
      lostCount: 0,
      startedAt,
      previousDelayMs: Math.max(waitMs, document.initialDelayMs),
      expiresAt: deadlineOf(document, { startedAt, deadlineAt }),
    },
    queue: { policyId: policy.policyId, kind: laneKind.kindAfter(attemptsMade), rank: 'normal' },
    dueAt: firstAt + waitMs,
    requestHash,
    keyGiven: order.idempotencyKey !== undefined,
  }
}

/** What a dead letter begins again with: attempts from 0, time from now. */
export function replayed({ progress }: { readonly progress: Progress }, document: RetryPolicy, now: number): Progress {
  return {
    generation: progress.generation + 1,
    attemptNumber: 0,
    lostCount: 0,
    startedAt: now,
    previousDelayMs: document.initialDelayMs,
    // The caller's own deadline belonged to the first life: whoever replays wants an answer now.
    expiresAt: deadlineOf(document, { startedAt: now }),
  }
}
