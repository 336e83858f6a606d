/** What operators and stewards do to tasks that they do not hold: cancel, attempt now, replay; expire, recall. */
import { strict as assert } from 'node:assert'
import { heldAtDeadline } from '../../task/held.ts'
import { queueKey, queueOf } from '../../task/lane.ts'
import type { Change, Changed, Expire, Recall, Replay } from '../store.ts'
import { statusOf, versionOf, type Standing } from './changes.ts'
import { progressRow, wholeTasks } from './rows.ts'
import type { AuditLog } from './records.ts'
import type { Writer } from './writer.ts'

type OneTask = { readonly taskId: string } & Change

export interface ReplayAsk extends Change {
  readonly asks: readonly Replay[]
}

/** `from` is the place behind which to look. */
export type ExpireAsk = Omit<Expire, 'cursor'> & { readonly from: readonly [dueAt: number, seq: number] }

export interface Expired {
  readonly expired: readonly string[]
  /** Where to go on; null at the end of the queue. */
  readonly next: readonly [dueAt: number, seq: number] | null
}

export interface OperateVerbs {
  cancel(ask: OneTask): Changed
  attemptNow(ask: OneTask): Changed
  replay(ask: ReplayAsk): Changed[]
  expire(ask: ExpireAsk): Expired
  recall(ask: Recall): string[]
}

export function operateVerbs(writer: Writer, audit: AuditLog): OperateVerbs {
  const { connection, changes, lanes, stewards } = writer
  const markCancelled = connection.write('update lease set cancel_requested = 1 where seq = ?')
  const whole = wholeTasks(connection, 'seq = ?')
  const policyOf = connection.row<[string]>("select accepted ->> 'policyId' from request where seq = ?")
  const walk = connection.rows<[dueAt: number, seq: number, expiresAt: number]>(
    `select due.due_at, seq, expires_at from due join task using (seq)
     where due.queue_id = ? and (due.due_at, seq) > (?, ?) order by due.due_at, seq limit ?`,
  )

  /** `act` answers whether the status allows it; a change that was made is written into the audit. */
  const operate = ({ taskId, ifVersion, audit: line }: OneTask, act: (task: Standing) => boolean): Changed => {
    const before = changes.find(taskId)
    if (before === undefined) return { kind: 'unknown' }
    const isOther = ifVersion !== undefined && ifVersion !== versionOf(before)
    const kind = isOther ? 'conflict' : act(before) ? 'changed' : 'unchanged'
    const [task] = whole(before.seq)
    assert(task !== undefined, 'a task that was found is there')
    // What is asked twice is done once.
    if (line !== undefined && task.version !== versionOf(before)) audit.add(line)
    return { kind, task }
  }

  return {
    cancel: ask =>
      operate(ask, task => {
        if (statusOf(task) === 'PENDING') changes.apply(task, { next: { status: 'CANCELLED' } })
        if (statusOf(task) === 'IN_FLIGHT') markCancelled(task.seq)
        // Twice is once.
        return task.status === 'PENDING' || task.status === 'CANCELLED'
      }),

    attemptNow: ask =>
      operate(ask, task => {
        if (statusOf(task) !== 'PENDING') return false
        const key = queueKey({ ...queueOf(lanes.queueBy(task.queueId).key), rank: 'urgent' })
        const queue = lanes.queueOf(lanes.laneBy(task.laneId).key, key)
        changes.apply(task, { next: { status: 'PENDING', queue, dueAt: writer.now } })
        writer.hint(queue, writer.now)
        return true
      }),

    replay: ({ asks, ...change }) =>
      asks.map(({ taskId, generation, progress, dueAt = writer.now }) =>
        operate({ taskId, ...change }, task => {
          if (task.status !== 'EXHAUSTED' || task.generation !== generation) return false
          const [policyId] = policyOf(task.seq) ?? []
          assert(policyId !== undefined, 'every task has a request with a policy')
          const queue = lanes.queueOf(lanes.laneBy(task.laneId).key, queueKey({ policyId, kind: 'first', rank: 'low' }))
          const next = { status: 'PENDING', queue, dueAt: Math.max(writer.now, dueAt) } as const
          changes.apply(task, { next, progress: progressRow(progress) })
          writer.hint(queue, next.dueAt)
          return true
        }),
      ),

    expire({ partition, steward, lane, queue: key, limit, from, shut = [] }) {
      const queue = lanes.findQueue(lane, key)
      if (!stewards.isSteward(partition, steward) || queue?.lane.partition !== partition)
        return { expired: [], next: null }
      const rows = walk(queue.queueId, ...from, limit)
      const expired: string[] = []
      for (const [dueAt, seq, expiresAt] of rows) {
        // Few of those that are looked at have expired: the others are not read whole.
        if (expiresAt > writer.now) continue
        const task = changes.bySeq(seq)
        const held = heldAtDeadline(shut, { dueAt, expiresAt })
        changes.apply(task, { next: { status: 'EXHAUSTED', reason: 'deadline', held } })
        expired.push(task.taskId)
      }
      const [lastDueAt, lastSeq] = rows.length === limit ? (rows.at(-1) ?? []) : []
      return { expired, next: lastDueAt === undefined || lastSeq === undefined ? null : [lastDueAt, lastSeq] }
    },

    recall({ partition, steward, tasks }) {
      if (!stewards.isSteward(partition, steward)) return []
      return tasks
        .filter(({ taskId, dueAt }) => {
          const task = changes.find(taskId)
          if (task === undefined || statusOf(task) !== 'PENDING' || task.dueAt <= dueAt) return false
          if (lanes.laneBy(task.laneId).partition !== partition) return false
          changes.apply(task, { next: { status: 'PENDING', queue: lanes.queueBy(task.queueId), dueAt } })
          return true
        })
        .map(({ taskId }) => taskId)
    },
  }
}
