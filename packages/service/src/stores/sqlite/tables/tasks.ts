import { laneOf } from '../../../task/lane.ts'
import { isTaskId } from '../../../task/task-id.ts'
import type { Connection, Value } from '../file/connection.ts'
import { bytesOf } from '../rows/bytes.ts'
import { keyNameIn } from '../rows/key-name.ts'
import { AT, TASK_COLUMNS, type NewRow, type TaskRow } from '../rows/task-rows.ts'
import { createKeys } from './keys.ts'
import type { QueueEntry } from './lanes.ts'

/** What was accepted, and the keys that callers chose. */
export interface Tasks {
  /** Whether nobody has the task's key. */
  isKeyFree(task: NewRow): boolean
  /** Gives the task the next number, and its key; undefined when its id is taken. */
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
  /** A transaction begins: what it changes can be taken back. */
  begin(): void
  flush(): void
  forget(): void
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

export function createTasks(connection: Connection, filedTogether?: number): Tasks {
  const insert = connection.change(
    `insert into task (seq, lane_id, queue_id, due_at, request_hash, ${TASK_COLUMNS})
     values (?, ?, ?, ?, ?${', ?'.repeat(TASK_COLUMNS.split(',').length)}) on conflict (task_id) do nothing`,
  )
  const readSeq = connection.row<[number]>('select seq from task where task_id = ?')
  const readRow = connection.row<[...TaskRow]>(`select ${TASK_COLUMNS} from task where seq = ?`)
  const readIdentity = connection.row<[string, string, string | null, string, string, string | null, string | null]>(
    `select task_id, request_hash, idempotency_key, policy_id, lane.key, body_ref, callback_url
     from task join lane using (lane_id) where seq = ?`,
  )
  const remove = connection.write('delete from task where seq = ?')
  // A number that keys are filed up to is not used again, or its key would not be found after a start.
  const readLast = connection.row<[number]>(
    'select max(keys_filed_up_to, (select coalesce(max(seq), 0) from task)) from store',
  )
  const keys = createKeys(connection, filedTogether)
  let last = 0
  let lastBefore = 0

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
    isKeyFree([row, lane]) {
      const key = row[AT.idempotencyKey]
      if (key === null) return keys.seqOf(keyNameIn(lane, row[AT.taskId])) === undefined
      return seqOfNamed(key, lane) === undefined && keys.seqOf(keyNameIn(lane, key)) === undefined
    },
    add([row, lane, , dueAt, requestHash], queue) {
      const key = row[AT.idempotencyKey]
      const seq = last + 1
      const values: Value[] = [...row]
      values[AT.body] = bytesOf(row[AT.body])
      if (insert(seq, queue.lane.laneId, queue.queueId, dueAt, requestHash, ...values) === 0) return undefined
      if (key !== null) keys.add(keyNameIn(lane, key), seq)
      last = seq
      return seq
    },
    sameAs([row, lane]) {
      const key = row[AT.idempotencyKey] ?? row[AT.taskId]
      return keys.seqOf(keyNameIn(lane, key)) ?? seqOfNamed(key, lane) ?? seqOf(row[AT.taskId])
    },
    seqOf,
    identityOf,
    row: seq => readRow(seq)!,
    remove(seq) {
      const { idempotencyKey, lane } = identityOf(seq)
      if (idempotencyKey !== null) keys.remove(keyNameIn(lane, idempotencyKey))
      remove(seq)
    },
    get newest() {
      return last
    },
    recall() {
      last = Math.max(last, readLast()![0])
    },
    begin() {
      lastBefore = last
      keys.begin(last)
    },
    flush: () => keys.flush(last),
    forget() {
      last = lastBefore
      keys.forget()
    },
  }
}
