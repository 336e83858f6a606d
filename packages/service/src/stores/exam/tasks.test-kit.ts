import type { GiveUpReason } from '@secondwind/resilience'
import type { NewTask } from '../../task/accept.ts'
import { laneKey, partitionOf, queueKey, TASK_ID_BYTES, taskIdOf } from '../../task/lane.ts'
import type { Settlement } from '../../task/settle.ts'
import type { AttemptEnd, AttemptRow, ClaimedTask, HeldBack, Progress, Queue, Task } from '../../task/task.ts'
import type { PutBack, Replay } from '../store.ts'

export const TENANT = 'acme'
export const DESTINATION = 'https://api.example'
export const LANE: string = laneKey({ tenant: TENANT, destination: DESTINATION })
export const PARTITION: number = partitionOf(LANE)
export const LEASE_MS = 30_000

export const QUEUE: Queue = { policyId: 'default', kind: 'first', rank: 'normal' }
/** The names of the queues that tests use most. */
export const FIRSTS: string = queueKey(QUEUE)
export const RETRIES: string = queueKey({ ...QUEUE, kind: 'retry' })
export const REPLAYED: string = queueKey({ ...QUEUE, rank: 'low' })

export const REQUEST = { targetUrl: `${DESTINATION}/charge`, method: 'POST', headers: {}, body: null } as const

export type TaskChanges = Partial<Omit<NewTask, 'progress'>> & { readonly progress?: Partial<Progress> }

/** The `number`-th task of a test, due at once unless changed. */
export function newTask(number: number, now: number, changes: TaskChanges = {}): NewTask {
  const { tenant = TENANT, destination = DESTINATION } = changes
  const partition = partitionOf(laneKey({ tenant, destination }))
  const taskId = changes.taskId ?? idOf(number, now, partition)
  const { idempotencyKey = taskId } = changes
  const policyId = changes.policyId ?? QUEUE.policyId
  return {
    tenant,
    destination,
    policyId,
    policyVersion: 1,
    request: { ...REQUEST, targetUrl: `${destination}/charge` },
    createdAt: now,
    leaseMs: LEASE_MS,
    queue: { ...QUEUE, policyId },
    dueAt: now,
    requestHash: `request of ${idempotencyKey}`,
    keyGiven: idempotencyKey !== taskId,
    ...changes,
    taskId,
    idempotencyKey,
    progress: { ...firstProgress(now), ...changes.progress },
  }
}

/** A UUIDv7: it grows with `now`, and with `number` within one instant. */
export function idOf(number: number, now: number, partition: number): string {
  const bytes = new Uint8Array(TASK_ID_BYTES)
  new DataView(bytes.buffer).setUint32(TASK_ID_BYTES - 4, number)
  return taskIdOf(now, partition, bytes)
}

function firstProgress(startedAt: number): Progress {
  return {
    generation: 1,
    attemptNumber: 0,
    lostCount: 0,
    startedAt,
    previousDelayMs: 1_000,
    expiresAt: startedAt + 86_400_000,
  }
}

/** A task as `get` reads it right after the store took it in. */
export function asTaken(task: NewTask): Task {
  const { queue, dueAt, requestHash: _, keyGiven: __, ...accepted } = task
  return { ...accepted, state: { status: 'PENDING', nextAttemptAt: dueAt, queue }, version: 1 }
}

/** A task as a claim hands it out. */
export function asClaimed(task: NewTask, lease: { readonly token: string; readonly endsAt: number }): ClaimedTask {
  const { requestHash: _, keyGiven: __, ...claimed } = task
  return { ...claimed, lease: { ...lease, cancelRequested: false }, claimedAt: lease.endsAt - task.leaseMs }
}

/** The state of a task under way as `get` reads it. */
export function underWay({ lease, claimedAt, dueAt, queue }: ClaimedTask): Task['state'] {
  return { status: 'IN_FLIGHT', lease, claimed: { at: claimedAt, dueAt, queue } }
}

const BUSY: AttemptEnd = { outcome: 'transient', responseStatus: 503, errorCode: 'http-503', errorMessage: 'busy' }

export function succeed(task: ClaimedTask): Settlement {
  const attempt = rowOf(task, { outcome: 'success', responseStatus: 200 })
  return { ...tokenOf(task), attempt, next: { status: 'SUCCEEDED', progress: counted(task) } }
}

export function retryAt(task: ClaimedTask, dueAt: number, end: AttemptEnd = BUSY): Settlement {
  const queue: Queue = { ...task.queue, kind: 'retry' }
  const progress: Progress = { ...counted(task), previousDelayMs: 2_000 }
  return { ...tokenOf(task), attempt: rowOf(task, end), next: { status: 'PENDING', dueAt, queue, progress } }
}

export function giveUp(task: ClaimedTask, reason: GiveUpReason = 'attempts', end: AttemptEnd = BUSY): Settlement {
  return { ...tokenOf(task), attempt: rowOf(task, end), next: { status: 'EXHAUSTED', reason, progress: counted(task) } }
}

/** The end of a task for which nothing was sent. */
export function giveUpUnsent(task: ClaimedTask, reason: GiveUpReason = 'deadline'): Settlement {
  return { ...tokenOf(task), next: { status: 'EXHAUSTED', reason, progress: task.progress } }
}

/** The same for a task that a gate held until its deadline. */
export function expireHeld(task: ClaimedTask, held: HeldBack): Settlement {
  return { ...tokenOf(task), next: { status: 'EXHAUSTED', reason: 'deadline', held, progress: task.progress } }
}

export function putBack(task: Pick<ClaimedTask, 'taskId' | 'lease'>): PutBack {
  return { ...tokenOf(task), next: 'put-back' }
}

/** Asks for the next generation of a dead letter. */
export function replayOf(dead: Pick<Task, 'taskId' | 'progress'>, now: number): Replay {
  const generation = dead.progress.generation
  return { taskId: dead.taskId, generation, progress: { ...firstProgress(now), generation: generation + 1 } }
}

function tokenOf({ taskId, lease }: Pick<ClaimedTask, 'taskId' | 'lease'>): { taskId: string; token: string } {
  return { taskId, token: lease.token }
}

function counted({ progress }: ClaimedTask): Progress {
  return { ...progress, attemptNumber: progress.attemptNumber + 1 }
}

function rowOf({ taskId, progress, dueAt }: ClaimedTask, end: AttemptEnd): AttemptRow {
  return {
    ...end,
    taskId,
    generation: progress.generation,
    attemptNumber: progress.attemptNumber + 1,
    startedAt: dueAt,
    durationMs: 20,
  }
}
