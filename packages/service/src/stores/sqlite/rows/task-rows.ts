/**
 * Tasks, settlements and claims as rows: lists of plain values in the order of the columns. They cross from thread to
 * thread as rows, too, for objects cost several times as much to copy as lists, and what is written needs no more than
 * its values.
 */
import type { GiveUpReason } from '@secondwind/resilience'
import type { BodyUpload, NewTask } from '../../../task/accept.ts'
import { laneKey, laneOf, queueKey, queueOf } from '../../../task/lane.ts'
import type { GateReason } from '../../../task/lane-view.ts'
import type { Settlement } from '../../../task/settle.ts'
import type { AcceptedTask, ClaimedTask, Metadata, Progress, TaskStatus } from '../../../task/task.ts'
import { attemptValues, NO_ATTEMPT, type AttemptValues } from './attempt-rows.ts'
import { bytesOf, bytesToText, type Bytes } from './bytes.ts'

export type ProgressRow = readonly [
  generation: number,
  attemptNumber: number,
  lostCount: number,
  startedAt: number,
  previousDelayMs: number,
  expiresAt: number,
  replayId: string | null,
]

export const PROGRESS_COLUMNS =
  'generation, attempt_number, lost_count, started_at, previous_delay_ms, expires_at, replay_id'

export function progressRow(progress: Progress): ProgressRow {
  const { generation, attemptNumber, lostCount, startedAt, previousDelayMs, expiresAt, replayId = null } = progress
  return [generation, attemptNumber, lostCount, startedAt, previousDelayMs, expiresAt, replayId]
}

/** Read from a row that has it from `at` on. */
export function progressOf(row: readonly unknown[], at = 0): Progress {
  const [generation, attemptNumber, lostCount, startedAt, previousDelayMs, expiresAt, replayId] = row.slice(at) as [
    ...ProgressRow,
  ]
  const counted = { generation, attemptNumber, lostCount, startedAt, previousDelayMs, expiresAt }
  return replayId === null ? counted : { ...counted, replayId }
}

type AcceptedRow = readonly [
  taskId: string,
  policyId: string,
  policyVersion: number,
  policy: string | null,
  /** Null when the caller chose none. */
  idempotencyKey: string | null,
  targetUrl: string,
  method: string,
  headers: string,
  metadata: string | null,
  createdAt: number,
  deadlineAt: number | null,
  leaseMs: number,
  callbackUrl: string | null,
  bodyRef: string | null,
  bodyBytes: number | null,
  /** Null for what was accepted before anybody noted it. */
  createdBy: string | null,
  body: Bytes,
]

/** A task as it was accepted. */
export type TaskRow = readonly [...AcceptedRow, ...ProgressRow]

export const TASK_COLUMNS: string =
  'task_id, policy_id, policy_version, policy, idempotency_key, target_url, method, headers, metadata, created_at, ' +
  `deadline_at, lease_ms, callback_url, body_ref, body_bytes, created_by, body, ${PROGRESS_COLUMNS}`

/** Where each value stands in the row. */
export const AT = {
  taskId: 0,
  policyId: 1,
  policyVersion: 2,
  policy: 3,
  idempotencyKey: 4,
  targetUrl: 5,
  method: 6,
  headers: 7,
  metadata: 8,
  createdAt: 9,
  deadlineAt: 10,
  leaseMs: 11,
  callbackUrl: 12,
  bodyRef: 13,
  bodyBytes: 14,
  createdBy: 15,
  body: 16,
  progress: 17,
  attemptNumber: 18,
  replayId: 23,
  /** Only in rows of leases. */
  dueAt: 24,
  endsAt: 25,
  cancelRequested: 26,
  claimedAt: 27,
} as const

export function acceptedOf(row: TaskRow | HeldRow, lane: string): AcceptedTask {
  const { tenant, destination } = laneOf(lane)
  const taskId = row[AT.taskId]
  const policy = row[AT.policy]
  const deadlineAt = row[AT.deadlineAt]
  const metadata = row[AT.metadata]
  const callbackUrl = row[AT.callbackUrl]
  const bodyRef = row[AT.bodyRef]
  const createdBy = row[AT.createdBy]
  return {
    taskId,
    tenant,
    destination,
    policyId: row[AT.policyId],
    policyVersion: row[AT.policyVersion],
    ...(policy !== null && { policy: JSON.parse(policy) as NonNullable<AcceptedTask['policy']> }),
    idempotencyKey: row[AT.idempotencyKey] ?? taskId,
    request: {
      targetUrl: row[AT.targetUrl],
      method: row[AT.method],
      headers: JSON.parse(row[AT.headers]) as Metadata,
      body: bytesOf(row[AT.body]),
      ...(bodyRef !== null && { storedBody: { bodyRef, sizeBytes: row[AT.bodyBytes]! } }),
    },
    createdAt: row[AT.createdAt],
    ...(deadlineAt !== null && { deadlineAt }),
    leaseMs: row[AT.leaseMs],
    ...(metadata !== null && { metadata: JSON.parse(metadata) as Metadata }),
    ...(callbackUrl !== null && { callbackUrl }),
    ...(createdBy !== null && { createdBy }),
  }
}

/** A new task, on its way to the writer. */
export type NewRow = readonly [
  row: TaskRow,
  lane: string,
  queue: string,
  dueAt: number,
  requestHash: string,
  upload: BodyUpload | null,
]

export function newRow(task: NewTask): NewRow {
  const { request, policy, metadata } = task
  const row: TaskRow = [
    task.taskId,
    task.policyId,
    task.policyVersion,
    policy === undefined ? null : JSON.stringify(policy),
    task.keyGiven ? task.idempotencyKey : null,
    request.targetUrl,
    request.method,
    JSON.stringify(request.headers),
    metadata === undefined ? null : JSON.stringify(metadata),
    task.createdAt,
    task.deadlineAt ?? null,
    task.leaseMs,
    task.callbackUrl ?? null,
    request.storedBody?.bodyRef ?? null,
    request.storedBody?.sizeBytes ?? null,
    task.createdBy ?? null,
    bytesToText(request.body),
    ...progressRow(task.progress),
  ]
  return [row, laneKey(task), queueKey(task.queue), task.dueAt, task.requestHash, task.upload ?? null]
}

/** Leases of one queue that share a token, on their way from the writer. */
export interface HeldRows {
  readonly lane: string
  readonly queue: string
  readonly token: string
  readonly rows: readonly HeldRow[]
}

export type HeldRow = readonly [...TaskRow, dueAt: number, endsAt: number, cancelRequested: number, claimedAt: number]

export function claimedOf({ lane, queue: key, token, rows }: HeldRows): ClaimedTask[] {
  // What was asked for may be no queue at all.
  if (rows.length === 0) return []
  const queue = queueOf(key)
  return rows.map(row => ({
    ...acceptedOf(row, lane),
    progress: progressOf(row, AT.progress),
    lease: { token, endsAt: row[AT.endsAt], cancelRequested: row[AT.cancelRequested] === 1 },
    claimedAt: row[AT.claimedAt],
    dueAt: row[AT.dueAt],
    queue,
  }))
}

/** A settlement, on its way to the writer. */
export type SettlementRow = readonly [
  taskId: string,
  token: string,
  status: TaskStatus,
  reason: GiveUpReason | null,
  heldBy: GateReason | null,
  /** Of what a gate held until its deadline: since when. */
  dueAt: number | null,
  queue: string | null,
  progress: ProgressRow,
  attempt: AttemptValues,
]

export function settlementRow({ taskId, token, attempt, next }: Settlement): SettlementRow {
  const isPending = next.status === 'PENDING'
  const held = next.status === 'EXHAUSTED' ? next.held : undefined
  return [
    taskId,
    token,
    next.status,
    next.status === 'EXHAUSTED' ? next.reason : null,
    held?.by ?? null,
    isPending ? next.dueAt : (held?.since ?? null),
    isPending ? queueKey(next.queue) : null,
    progressRow(next.progress),
    attempt === undefined ? NO_ATTEMPT : attemptValues(attempt),
  ]
}
