/**
 * The one way in which a task changes, but for a claim: it leaves the place where it is found, its row is written, and it enters
 * the next place. Counters, causes, replays and ends to tell are kept in the same step, so that no verb can forget one.
 *
 *   place of   PENDING: a row in `due`    IN_FLIGHT: a row in `lease`    EXHAUSTED: one of its `cause`
 */
import { strict as assert } from 'node:assert'
import type { GiveUpReason } from '@secondwind/resilience'
import { laneOfCallback } from '../../task/callback.ts'
import { laneKey, laneOf } from '../../task/lane.ts'
import type { HeldBack, Progress, TaskStatus } from '../../task/task.ts'
import { causeIdOf } from '../cause-id.ts'
import { named } from './connection.ts'
import type { LaneEntry, QueueEntry } from './lanes.ts'
import { ATTEMPT, ATTEMPT_END, attemptEndOf, PROGRESS, progressRow } from './rows.ts'
import type { AttemptEndRow, AttemptValues, ProgressRow } from './rows.ts'
import type { Writer } from './writer.ts'

/** What a task is before a change: its row, and its lease if it has one. */
export interface Standing extends Omit<Progress, 'replayId'> {
  readonly seq: number
  readonly taskId: string
  readonly laneId: number
  /** PENDING with a lease is IN_FLIGHT: see `statusOf`. */
  readonly status: Exclude<TaskStatus, 'IN_FLIGHT'>
  readonly version: number
  readonly queueId: number
  readonly dueAt: number
  readonly tellsEnd: 0 | 1
  readonly lastAttempt: number | null
  readonly causeId: string | null
  /** Of the latest settle, and its result. */
  readonly token: string | null
  readonly settledAs: TaskStatus | null
  readonly replayId: string | null
  readonly leaseToken: string | null
  readonly claimedAt: number
  readonly leaseQueueId: number
  readonly leaseDueAt: number
  readonly cancelRequested: 0 | 1
}

export type Next =
  | { readonly status: 'PENDING'; readonly queue: QueueEntry; readonly dueAt: number }
  | { readonly status: 'SUCCEEDED' | 'CANCELLED' }
  | { readonly status: 'EXHAUSTED'; readonly reason: GiveUpReason; readonly held?: HeldBack | undefined }

type Death = Extract<Next, { readonly status: 'EXHAUSTED' }>

export interface Change {
  readonly next: Next
  readonly progress?: ProgressRow
  readonly attempt?: AttemptValues | null
  /** Of the settle that makes it. */
  readonly token?: string
}

export interface Changes {
  find(taskId: string): Standing | undefined
  bySeq(seq: number): Standing
  apply(task: Standing, change: Change): void
  /** One of its dead letters is a dead letter no more. */
  leaveCause(causeId: string): void
}

export function statusOf({ status, leaseToken }: Standing): TaskStatus {
  return leaseToken === null ? status : 'IN_FLIGHT'
}

/** The version that users see: a claim and a request to cancel are in the lease only. */
export function versionOf({ version, leaseToken, cancelRequested }: Standing): number {
  return version + (leaseToken === null ? 0 : 1 + cancelRequested)
}

export function createChanges(writer: Omit<Writer, 'changes'>): Changes {
  const { connection, lanes, replays } = writer
  const read = (where: string) =>
    connection.object<Standing>(
      `select ${named(`seq, task_id, lane_id, status, version, task.queue_id, task.due_at, tells_end, last_attempt, cause_id, task.token, settled_as, claimed_at, cancel_requested, ${PROGRESS}`)},
         lease.token as leaseToken, lease.queue_id as leaseQueueId, lease.due_at as leaseDueAt
       from task left join lease using (seq) where ${where}`,
    )
  const [readById, readBySeq] = [read('task_id = ?'), read('seq = ?')]
  const removeDue = connection.change('delete from due where queue_id = ? and due_at = ? and seq = ?')
  const removeLease = connection.write('delete from lease where seq = ?')
  const insertDue = connection.write('insert into due (queue_id, due_at, seq) values (?, ?, ?)')
  const insertAttempt = connection.write(
    `insert into attempt (attempt_id, previous_id, ${ATTEMPT}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const readAttemptEnd = connection.row<AttemptEndRow>(`select ${ATTEMPT_END} from attempt where attempt_id = ?`)
  const update = connection.write(
    `update task set status = ?, version = ?, queue_id = ?, due_at = ?, last_attempt = ?, ended_at = ?, reason = ?, held_by = ?,
       held_since = ?, cause_id = ?, token = ?, settled_as = ?, (${PROGRESS}) = (?, ?, ?, ?, ?, ?, ?) where seq = ?`,
  )
  const addToCause = connection.write(
    `insert into cause (cause_id, lane_id, reason, held_by, response_status, error_code, error_message, tasks, first_at, last_at)
     values (?, ?, ?, ?, ?, ?, ?, 1, ?8, ?8) on conflict do update set tasks = tasks + 1, last_at = max(last_at, ?8)`,
  )
  const takeFromCause = connection.write('update cause set tasks = tasks - 1 where cause_id = ?')
  const removeCause = connection.write('delete from cause where cause_id = ? and tasks = 0')
  const readCallbackUrl = connection.row<[string]>("select accepted ->> 'callbackUrl' from request where seq = ?")
  const keepEnd = connection.write(
    `insert into untold (partition, lane, task_id, generation, tenant, callback_url, status, reason, attempt_number)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?) on conflict do nothing`,
  )

  const leaveCause = (causeId: string): void => {
    takeFromCause(causeId)
    removeCause(causeId)
  }

  const leave = ({ seq, status, queueId, dueAt, causeId, leaseToken }: Standing): void => {
    if (leaseToken !== null) removeLease(seq)
    else if (status === 'PENDING') assert.equal(removeDue(queueId, dueAt, seq), 1, 'a waiting task stands in its queue')
    else if (causeId !== null) leaveCause(causeId)
  }

  /** Answers the id of the cause. */
  const bury = ({ key, laneId }: LaneEntry, { reason, held }: Death, attemptId: number | null): string => {
    const row = attemptId === null ? undefined : readAttemptEnd(attemptId)
    const lastAttempt = row && attemptEndOf(row)
    const { responseStatus = null, errorCode = null, errorMessage = null } = lastAttempt ?? {}
    const causeId = causeIdOf({ ...laneOf(key), reason, held, lastAttempt })
    addToCause(causeId, laneId, reason, held?.by ?? null, responseStatus, errorCode, errorMessage, writer.now)
    return causeId
  }

  const tellEnd = (
    { seq, taskId }: Standing,
    { key, partition }: LaneEntry,
    next: Next,
    progress: ProgressRow,
  ): void => {
    const [callbackUrl] = readCallbackUrl(seq) ?? []
    assert(callbackUrl !== undefined, 'a task whose end is told has a request')
    const { tenant } = laneOf(key)
    const callbackLane = laneKey(laneOfCallback({ tenant, callbackUrl }))
    const reason = next.status === 'EXHAUSTED' ? next.reason : null
    const [generation, attemptNumber] = progress
    keepEnd(partition, callbackLane, taskId, generation, tenant, callbackUrl, next.status, reason, attemptNumber)
  }

  return {
    leaveCause,
    find: taskId => readById(taskId),
    bySeq(seq) {
      const task = readBySeq(seq)
      assert(task !== undefined, `task ${seq} is named by a row and must be there`)
      return task
    },
    apply(task, { next, progress = progressRow(task), attempt = null, token }) {
      const { seq, laneId } = task
      const lane = lanes.laneBy(laneId)
      leave(task)
      let { lastAttempt } = task
      if (attempt !== null) {
        insertAttempt(++writer.lastAttempt, lastAttempt, ...attempt)
        lastAttempt = writer.lastAttempt
        lanes.countAttempt(lane, attempt[1] === 1)
      }
      const { reason = null, held } = next.status === 'EXHAUSTED' ? next : {}
      const causeId = next.status === 'EXHAUSTED' ? bury(lane, next, lastAttempt) : null
      if (next.status === 'PENDING') insertDue(next.queue.queueId, next.dueAt, seq)
      else if (task.tellsEnd) tellEnd(task, lane, next, progress)
      const place = next.status === 'PENDING' ? [next.queue.queueId, next.dueAt] : [task.queueId, task.dueAt]
      const endedAt = next.status === 'PENDING' ? null : writer.now
      const end = [lastAttempt, endedAt, reason, held?.by ?? null, held?.since ?? null, causeId]
      const settled = token === undefined ? [task.token, task.settledAs] : [token, next.status]
      update(next.status, versionOf(task) + 1, ...place, ...end, ...settled, ...progress, seq)
      lanes.move(lane, statusOf(task), next.status)
      replays.count({ status: statusOf(task), progress: progressRow(task) }, { status: next.status, progress, attempt })
    },
  }
}
