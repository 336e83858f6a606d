import { laneOf } from '../../../task/lane.ts'
import { isTaskId } from '../../../task/task-id.ts'
import type { Connection, Value } from '../file/connection.ts'
import { bytesOf } from '../rows/bytes.ts'
import { keyName } from '../rows/key-name.ts'
import { AT, TASK_COLUMNS, type NewRow, type TaskRow } from '../rows/task-rows.ts'
import type { QueueEntry } from './lanes.ts'

/** What was accepted, and the keys that callers chose. */
export interface Tasks {
  /** Takes the task's key for the next number, if the caller chose one; false when somebody has it. */
  reserveKey(task: NewRow): boolean
  /** Gives the task the next number; undefined when its id is taken: then its key is free again. */
  add(task: NewRow, queue: QueueEntry): number | undefined
  /** The task that stands in the way of this one. */
  sameAs(task: NewRow): number | undefined
  seqOf(taskId: string): number | undefined
  identityOf(seq: number): Identity
  /** A list of its own, which the caller may change. */
  row(seq: number): [...TaskRow]
  remove(seq: number): void
  /** The number that was used last. */
  readonly newest: number
  /** Reads which number was used last. */
  recall(): void
}

/** Whose a task is, and what tells a repeated request from another one with the same key. */
export interface Identity {
  readonly taskId: string
  readonly requestHash: string
  /** Null when the caller chose none. */
  readonly idempotencyKey: string | null
  readonly policyId: string
  readonly lane: string
  /** Of a body that is not in its row. */
  readonly bodyRef: string | null
  readonly callbackUrl: string | null
}

export function createTasks(connection: Connection): Tasks {
  const insert = connection.write(
    `insert into task (seq, lane_id, queue_id, due_at, request_hash, ${TASK_COLUMNS})
     values (?, ?, ?, ?, ?${', ?'.repeat(TASK_COLUMNS.split(',').length)}) on conflict (task_id) do nothing`,
  )
  const insertKey = connection.write('insert into idempotency (key, seq) values (?, ?) on conflict do nothing')
  const readKey = connection.row<[number]>('select seq from idempotency where key = ?')
  const deleteKey = connection.write('delete from idempotency where key = ?')
  const readSeq = connection.row<[number]>('select seq from task where task_id = ?')
  const readRow = connection.row<[...TaskRow]>(`select ${TASK_COLUMNS} from task where seq = ?`)
  const readIdentity = connection.row<[string, string, string | null, string, string, string | null, string | null]>(
    `select task_id, request_hash, idempotency_key, policy_id, lane.key, body_ref, callback_url
     from task join lane using (lane_id) where seq = ?`,
  )
  const remove = connection.write('delete from task where seq = ?')
  const readLast = connection.row<[number | null]>('select max(seq) from task')
  let last = 0

  const seqOf = (taskId: string): number | undefined => readSeq(taskId)?.[0]
  const identityOf = (seq: number): Identity => {
    const [taskId, requestHash, idempotencyKey, policyId, lane, bodyRef, callbackUrl] = readIdentity(seq)!
    return { taskId, requestHash, idempotencyKey, policyId, lane, bodyRef, callbackUrl }
  }
  /** A task without a key has its id for one. */
  const seqOfNamed = (key: string, lane: string): number | undefined => {
    const seq = isTaskId(key) ? seqOf(key) : undefined
    if (seq === undefined) return undefined
    const named = identityOf(seq)
    return named.idempotencyKey === null && laneOf(named.lane).tenant === laneOf(lane).tenant ? seq : undefined
  }

  return {
    reserveKey([row, lane]) {
      const key = row[AT.idempotencyKey]
      if (key === null) return readKey(keyNameIn(lane, row[AT.taskId])) === undefined
      return seqOfNamed(key, lane) === undefined && insertKey(keyNameIn(lane, key), last + 1) === 1
    },
    add([row, lane, , dueAt, requestHash], queue) {
      const key = row[AT.idempotencyKey]
      const seq = last + 1
      const values: Value[] = [...row]
      values[AT.body] = bytesOf(row[AT.body])
      if (insert(seq, queue.lane.laneId, queue.queueId, dueAt, requestHash, ...values) === 0) {
        if (key !== null) deleteKey(keyNameIn(lane, key))
        return undefined
      }
      last = seq
      return seq
    },
    sameAs([row, lane]) {
      const key = row[AT.idempotencyKey] ?? row[AT.taskId]
      return readKey(keyNameIn(lane, key))?.[0] ?? seqOfNamed(key, lane) ?? seqOf(row[AT.taskId])
    },
    seqOf,
    identityOf,
    row: seq => readRow(seq)!,
    remove(seq) {
      const { idempotencyKey, lane } = identityOf(seq)
      if (idempotencyKey !== null) deleteKey(keyNameIn(lane, idempotencyKey))
      remove(seq)
    },
    get newest() {
      return last
    },
    recall() {
      last = readLast()![0] ?? 0
    },
  }
}

function keyNameIn(lane: string, key: string): string {
  return keyName(laneOf(lane).tenant, key)
}
