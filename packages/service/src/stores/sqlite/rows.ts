/**
 * Tasks, settlements and attempts as rows: lists of plain values in the order of their columns. They cross between threads as
 * rows too, for objects cost several times as much to copy as lists.
 */
import { strict as assert } from 'node:assert'
import type { GiveUpReason } from '@secondwind/resilience'
import type { NewTask } from '../../task/accept.ts'
import type { GateReason } from '../../task/lane-view.ts'
import { laneKey, laneOf, queueKey, queueOf } from '../../task/lane.ts'
import type { Settlement } from '../../task/settle.ts'
import type { AcceptedTask, AttemptEnd, AttemptOutcome, AttemptRow, ClaimedTask } from '../../task/task.ts'
import type { Progress, Task, TaskRequest, TaskState, TaskStatus } from '../../task/task.ts'
import type { PutBack } from '../store.ts'
import type { Connection, Value } from './connection.ts'

type Text = string | null
type Count = number | null

/** In the order of `PROGRESS`. */
export type ProgressRow = readonly [number, number, number, number, number, number, Text]

export const PROGRESS = 'generation, attempt_number, lost_count, started_at, previous_delay_ms, expires_at, replay_id'

export function progressRow(progress: Omit<Progress, 'replayId'> & { readonly replayId?: string | null }): ProgressRow {
  const { generation, attemptNumber, lostCount, startedAt, previousDelayMs, expiresAt, replayId = null } = progress
  return [generation, attemptNumber, lostCount, startedAt, previousDelayMs, expiresAt, replayId]
}

function progressOf(row: ProgressRow): Progress {
  const [generation, attemptNumber, lostCount, startedAt, previousDelayMs, expiresAt, replayId] = row
  const counted = { generation, attemptNumber, lostCount, startedAt, previousDelayMs, expiresAt }
  return replayId === null ? counted : { ...counted, replayId }
}

// ---------------------------------------------------------------- the request

/** The part of an accepted task that no statement asks for: kept as one JSON text, with the names that users know. */
interface Accepted extends Omit<AcceptedTask, keyof Named | 'idempotencyKey' | 'linkedTo' | 'request'> {
  readonly request: Omit<TaskRequest, 'body'>
}

/** Between threads a body is a string of as many characters: a hundred buffers cost more than all else in a claim. */
type Body = Uint8Array | string | null

/** In the order of `REQUEST`; the key is null when the caller chose none. */
type RequestRow = readonly [accepted: string, idempotencyKey: Text, linkedTo: Text, body: Body]

const REQUEST_WITHOUT_BODY = 'accepted, idempotency_key, linked_to'
const REQUEST = `${REQUEST_WITHOUT_BODY}, body`

function bodyText(body: Body): Text {
  if (body === null || typeof body === 'string') return body
  return Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('latin1')
}

export function bodyBytes(body: Body): Uint8Array | null {
  if (body === null || typeof body !== 'string') return body
  const { buffer, byteOffset, byteLength } = Buffer.from(body, 'latin1')
  return new Uint8Array(buffer, byteOffset, byteLength)
}

/** A new task, on its way to the writer. */
export interface NewRow {
  /** Id, lane, queue, due instant, length of a lease, whether its end is told. */
  readonly task: readonly [string, string, string, number, number, number]
  readonly progress: ProgressRow
  readonly request: RequestRow
  readonly requestHash: string
}

export function newRow(task: NewTask): NewRow {
  const { taskId, tenant, destination, queue, dueAt, leaseMs, progress, requestHash, keyGiven, ...rest } = task
  const { idempotencyKey, linkedTo = null, request, ...others } = rest
  const { body, ...requestOthers } = request
  const accepted: Accepted = { ...others, request: requestOthers }
  const tellsEnd = task.callbackUrl === undefined ? 0 : 1
  return {
    task: [taskId, laneKey({ tenant, destination }), queueKey(queue), dueAt, leaseMs, tellsEnd],
    progress: progressRow(progress),
    request: [JSON.stringify(accepted), keyGiven ? idempotencyKey : null, linkedTo, bodyText(body)],
    requestHash,
  }
}

type Named = Pick<AcceptedTask, 'taskId' | 'tenant' | 'destination' | 'leaseMs'>

function acceptedOf(named: Named, [accepted, key, linkedTo, body]: RequestRow): AcceptedTask {
  const { request, ...others } = JSON.parse(accepted) as Accepted
  const task = {
    ...named,
    ...others,
    idempotencyKey: key ?? named.taskId,
    request: { ...request, body: bodyBytes(body) },
  }
  return linkedTo === null ? task : { ...task, linkedTo }
}

// ---------------------------------------------------------------- claims

/** Id, due instant, length of a lease. Lane, queue, token and the instant are those of all that were claimed with it. */
export type ClaimedRow = readonly [string, number, number, ...ProgressRow, ...RequestRow]

const taskProgress = PROGRESS.split(', ')
  .map(column => `task.${column}`)
  .join(', ')
export const CLAIMED: string = `task_id, due.due_at, lease_ms, ${taskProgress}, ${REQUEST}`

export interface ClaimedRows {
  readonly lane: string
  readonly queue: string
  readonly token: string
  readonly rows: readonly ClaimedRow[]
}

const progressAt = 3
const requestAt = progressAt + 7

export function progressIn(row: ClaimedRow): ProgressRow {
  return row.slice(progressAt, requestAt) as unknown as ProgressRow
}

/** As it crosses between threads. */
export function withBodyText(row: ClaimedRow): ClaimedRow {
  const [, , , body] = row.slice(requestAt) as unknown as RequestRow
  return [...row.slice(0, -1), bodyText(body)] as unknown as ClaimedRow
}

export function claimedTasksOf({ lane, queue: key, token, rows }: ClaimedRows, claimedAt: number): ClaimedTask[] {
  // The asked name may be no queue at all.
  if (rows.length === 0) return []
  const [queue, named] = [queueOf(key), laneOf(lane)]
  return rows.map(row => {
    const [taskId, dueAt, leaseMs] = row
    return {
      ...acceptedOf({ taskId, ...named, leaseMs }, row.slice(requestAt) as unknown as RequestRow),
      progress: progressOf(progressIn(row)),
      lease: { token, endsAt: claimedAt + leaseMs, cancelRequested: false },
      claimedAt,
      dueAt,
      queue,
    }
  })
}

// ---------------------------------------------------------------- ends of leases

/** In the order of `ATTEMPT`. */
export type AttemptValues = readonly [number, number, number, number, AttemptOutcome, Count, Text, Text, Text]

export const ATTEMPT =
  'generation, ordinal, started_at, duration_ms, outcome, response_status, error_code, error_message, response'

function attemptValues(attempt: AttemptRow): AttemptValues {
  const { generation, attemptNumber, startedAt, durationMs, outcome, responseStatus = null } = attempt
  const { errorCode = null, errorMessage = null, response } = attempt
  const captured = response === undefined ? null : JSON.stringify(response)
  return [generation, attemptNumber, startedAt, durationMs, outcome, responseStatus, errorCode, errorMessage, captured]
}

/** The end of a lease, on its way to the writer: id, token. `next` is null for a lease that is put back. */
export type SettlementRow = readonly [string, string, attempt: AttemptValues | null, next: NextRow | null]

export type NextRow =
  | readonly [status: 'PENDING', progress: ProgressRow, dueAt: number, queue: string]
  | readonly [status: 'SUCCEEDED', progress: ProgressRow]
  | readonly [
      status: 'EXHAUSTED',
      progress: ProgressRow,
      reason: GiveUpReason,
      heldBy: GateReason | null,
      since: number,
    ]

export function settlementRow(end: Settlement | PutBack): SettlementRow {
  const { taskId, token, next } = end
  if (next === 'put-back') return [taskId, token, null, null]
  return [taskId, token, end.attempt === undefined ? null : attemptValues(end.attempt), nextRow(next)]
}

function nextRow(next: Settlement['next']): NextRow {
  const progress = progressRow(next.progress)
  switch (next.status) {
    case 'PENDING':
      return ['PENDING', progress, next.dueAt, queueKey(next.queue)]
    case 'SUCCEEDED':
      return ['SUCCEEDED', progress]
    case 'EXHAUSTED':
      return ['EXHAUSTED', progress, next.reason, next.held?.by ?? null, next.held?.since ?? 0]
  }
}

export type AttemptEndRow = readonly [AttemptOutcome, Count, Text, Text]

export const ATTEMPT_END = 'outcome, response_status, error_code, error_message'

export function attemptEndOf([outcome, responseStatus, errorCode, errorMessage]: AttemptEndRow): AttemptEnd {
  return {
    outcome,
    ...(responseStatus !== null && { responseStatus }),
    ...(errorCode !== null && { errorCode }),
    ...(errorMessage !== null && { errorMessage }),
  }
}

// ---------------------------------------------------------------- whole tasks

type WholeRow = readonly [
  ...Head,
  ...State,
  ...Lease,
  ...(AttemptEndRow | readonly [null, null, null, null]),
  ...ProgressRow,
  ...RequestRow,
]
/** Id, tenant, destination, length of a lease; status (PENDING with a lease is IN_FLIGHT), version, queue, due instant. */
type Head = readonly [string, string, string, number, Exclude<TaskStatus, 'IN_FLIGHT'>, number, string, number]
/** End, reason, the gate that held it, since when. */
type State = readonly [Count, GiveUpReason | null, GateReason | null, Count]
/** Token, claim, end; queue and due instant before the claim; whether a cancel is requested. */
type Lease = readonly [Text, number, number, string, number, number]

/** Reads whole tasks; `where` says which. Lists ask for them without the bytes of their bodies. */
export function wholeTasks(
  connection: Connection,
  where: string,
  body: 'body' | 'null' = 'body',
): (...values: Value[]) => Task[] {
  const read = connection.rows<WholeRow>(
    `select task_id, tenant, destination, lease_ms, status, version, queue.key, task.due_at, ended_at, reason, held_by, held_since,
       lease.token, lease.claimed_at, lease.ends_at, leased_from.key, lease.due_at, cancel_requested, ${ATTEMPT_END},
       ${taskProgress}, ${REQUEST_WITHOUT_BODY}, ${body}
     from task join lane using (lane_id) join queue on queue.queue_id = task.queue_id join request using (seq)
       left join lease using (seq) left join queue as leased_from on leased_from.queue_id = lease.queue_id
       left join attempt on attempt_id = last_attempt
     where ${where}`,
  )
  return (...values) => read(...values).map(taskOf)
}

function taskOf(row: WholeRow): Task {
  const [taskId, tenant, destination, leaseMs, , version, , , , , , , token, , , , , cancelRequested, outcome] = row
  const end = row.slice(18, 22) as unknown as AttemptEndRow
  return {
    ...acceptedOf({ taskId, tenant, destination, leaseMs }, row.slice(29) as unknown as RequestRow),
    progress: progressOf(row.slice(22, 29) as unknown as ProgressRow),
    state: stateOf(row),
    // A claim and a request to cancel are versions of their own, and do not touch the task's row.
    version: version + (token === null ? 0 : 1 + cancelRequested),
    ...(outcome !== null && { lastAttempt: attemptEndOf(end) }),
  }
}

function stateOf(row: WholeRow): TaskState {
  const [, , , , status, , queue, dueAt, endedAt, reason, heldBy, heldSince, token, claimedAt, endsAt, ...rest] = row
  if (status === 'PENDING') {
    if (token === null) return { status, nextAttemptAt: dueAt, queue: queueOf(queue) }
    const [leasedFrom, dueBefore, cancelRequested] = rest
    const lease = { token, endsAt, cancelRequested: cancelRequested === 1 }
    return { status: 'IN_FLIGHT', lease, claimed: { at: claimedAt, dueAt: dueBefore, queue: queueOf(leasedFrom) } }
  }
  assert(endedAt !== null, `a task that is ${status} has ended at some instant`)
  if (status !== 'EXHAUSTED') return { status, endedAt }
  assert(reason !== null, 'a dead letter has a reason')
  const held = heldBy !== null && heldSince !== null ? { held: { by: heldBy, since: heldSince } } : {}
  return { status, endedAt, reason, ...held }
}
