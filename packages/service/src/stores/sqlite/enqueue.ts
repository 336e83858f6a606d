/** Takes in what is new: key and task are one write. */
import { strict as assert } from 'node:assert'
import { hash } from 'node:crypto'
import { isTaskId, laneOf } from '../../task/lane.ts'
import type { Enqueued } from '../store.ts'
import { bodyBytes, PROGRESS, wholeTasks, type NewRow } from './rows.ts'
import type { Writer } from './writer.ts'

type Identity = readonly [taskId: string, tenant: string, key: string | null, requestHash: string]

export function enqueueVerb(writer: Writer): (tasks: readonly NewRow[]) => Enqueued[] {
  const { connection, lanes } = writer
  const insertTask = connection.write(
    `insert into task (seq, task_id, lane_id, queue_id, due_at, lease_ms, tells_end, ${PROGRESS})
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertRequest = connection.write(
    'insert into request (seq, accepted, idempotency_key, linked_to, body, request_hash) values (?, ?, ?, ?, ?, ?)',
  )
  const insertKey = connection.write('insert into key (hash, seq) values (?, ?)')
  const wait = connection.write('insert into due (queue_id, due_at, seq) values (?, ?, ?)')
  const seqOfKey = connection.row<[number]>('select seq from key where hash = ?')
  const seqOfTask = connection.row<[number]>('select seq from task where task_id = ?')
  const identityOf = connection.row<Identity>(
    `select task_id, tenant, idempotency_key, request_hash
     from task join lane using (lane_id) join request using (seq) where seq = ?`,
  )
  const whole = wholeTasks(connection, 'seq = ?')

  const sameKey = (tenant: string, key: string, keyHash: Uint8Array): number | undefined => {
    const seq = seqOfKey(keyHash)?.[0]
    if (seq !== undefined || !isTaskId(key)) return seq
    // A task that was given no key has its id for one.
    const keyless = seqOfTask(key)?.[0]
    const identity = keyless === undefined ? undefined : identityOf(keyless)
    return identity?.[1] === tenant && identity[2] === null ? keyless : undefined
  }

  const present = (
    seq: number,
    tenant: string,
    { task: [taskId], request: [, key], requestHash }: NewRow,
  ): Enqueued => {
    const [task] = whole(seq)
    const identity = identityOf(seq)
    assert(task !== undefined && identity !== undefined, 'a number that a key leads to is a task')
    const [presentId, presentTenant, presentKey, presentHash] = identity
    const isSame =
      presentTenant === tenant && (presentKey ?? presentId) === (key ?? taskId) && presentHash === requestHash
    return isSame ? { kind: 'existing', task } : { kind: 'conflict', taskId: presentId }
  }

  const enqueueOne = (row: NewRow): Enqueued => {
    const { task, progress, request, requestHash } = row
    const [taskId, laneName, queueName, dueAt, leaseMs, tellsEnd] = task
    const [accepted, key, linkedTo, body] = request
    const { tenant } = laneOf(laneName)
    const keyHash = key === null ? undefined : keyHashOf(tenant, key)
    // By id too: a batch whose answer was lost is sent again as it was.
    const before = (keyHash && key !== null ? sameKey(tenant, key, keyHash) : undefined) ?? seqOfTask(taskId)?.[0]
    if (before !== undefined) return present(before, tenant, row)

    const queue = lanes.queueOf(laneName, queueName)
    const seq = ++writer.lastTask
    insertTask(seq, taskId, queue.lane.laneId, queue.queueId, dueAt, leaseMs, tellsEnd, ...progress)
    insertRequest(seq, accepted, key, linkedTo, bodyBytes(body), requestHash)
    if (keyHash !== undefined) insertKey(keyHash, seq)
    wait(queue.queueId, dueAt, seq)
    lanes.move(queue.lane, null, 'PENDING')
    writer.hint(queue, dueAt)
    return CREATED
  }

  return tasks => tasks.map(enqueueOne)
}

const CREATED: Enqueued = { kind: 'created' }

/** 128 bits: two keys are never taken for one. A tenant is a word, so that the space ends it. */
export function keyHashOf(tenant: string, key: string): Uint8Array {
  return hash('sha256', `${tenant} ${key}`, 'buffer').subarray(0, 16)
}
