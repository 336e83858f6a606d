/** Forgets what ended long ago, a bounded number of rows at a time. */
import { laneOf } from '../../task/lane.ts'
import type { Sweep } from '../store.ts'
import { keyHashOf } from './enqueue.ts'
import type { AuditLog } from './records.ts'
import type { Writer } from './writer.ts'

export function sweepVerb(writer: Writer, audit: AuditLog): (ask: Sweep) => number {
  const { connection, changes, lanes } = writer
  const finished = connection.rows<[seq: number]>(
    `select seq from task where status in ('SUCCEEDED', 'CANCELLED') and ended_at < ? order by ended_at limit ?`,
  )
  const dead = connection.rows<[seq: number]>(
    `select seq from task where status = 'EXHAUSTED' and ended_at < ? order by ended_at limit ?`,
  )
  const keyOf = connection.row<[string | null]>('select idempotency_key from request where seq = ?')
  const before = connection.row<[number | null]>('select previous_id from attempt where attempt_id = ?')
  const remove = ['attempt where attempt_id', 'key where hash', 'request where seq', 'task where seq'].map(row =>
    connection.write(`delete from ${row} = ?`),
  )
  const [removeAttempt, removeKey, removeRequest, removeTask] = remove as [Remove, Remove, Remove, Remove]
  const lanesBehind = connection.rows<[laneId: number]>(
    'select lane_id from lane where lane_id > ? order by lane_id limit ?',
  )
  const anyTask = connection.row<[number]>('select 1 from task where lane_id = ? limit 1')
  const removeMemory = connection.write('delete from memory where partition = ? and lane = ?')
  /** Lanes are looked at in turn, some in each call. */
  let lastLane = 0

  const forgetTask = (seq: number): void => {
    const { laneId, status, causeId, lastAttempt } = changes.bySeq(seq)
    const lane = lanes.laneBy(laneId)
    for (let attempt = lastAttempt; attempt !== null;) {
      const [previous] = before(attempt) ?? [null]
      removeAttempt(attempt)
      attempt = previous
    }
    if (causeId !== null) changes.leaveCause(causeId)
    const key = keyOf(seq)?.[0] ?? null
    if (key !== null) removeKey(keyHashOf(laneOf(lane.key).tenant, key))
    removeRequest(seq)
    removeTask(seq)
    lanes.move(lane, status, null)
  }

  /** By the tasks themselves: a counter that is wrong must not cost a lane. */
  const forgetLanes = (limit: number): number => {
    const looked = lanesBehind(lastLane, limit)
    lastLane = looked.length < limit ? 0 : (looked.at(-1)?.[0] ?? 0)
    const empty = looked.filter(([laneId]) => anyTask(laneId) === undefined)
    for (const [laneId] of empty) {
      const lane = lanes.laneBy(laneId)
      removeMemory(lane.partition, lane.key)
      lanes.remove(lane)
    }
    return empty.length
  }

  return ({ finishedBefore, deadBefore, auditBefore, limit }) => {
    let left = limit
    for (const [read, endedBefore] of [
      [finished, finishedBefore],
      [dead, deadBefore],
    ] as const) {
      const tasks = read(endedBefore, left)
      for (const [seq] of tasks) forgetTask(seq)
      left -= tasks.length
    }
    left -= audit.sweep(auditBefore, left)
    if (left > 0) left -= forgetLanes(left)
    return limit - left
  }
}

type Remove = (value: number | Uint8Array) => void
