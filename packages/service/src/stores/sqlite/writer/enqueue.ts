import { fullForCallback, fullScope, type FullScope } from '../../../task/backlog.ts'
import { laneOfCallback } from '../../../task/callback.ts'
import { laneKey, laneOf } from '../../../task/lane.ts'
import type { BacklogLimits, Enqueued } from '../../task-store.ts'
import { AT, type NewRow } from '../rows/task-rows.ts'
import type { Identity } from '../tables/tasks.ts'
import { attach } from './bodies.ts'
import type { Writer } from './writer.ts'

export interface EnqueueAsk {
  readonly tasks: readonly NewRow[]
  readonly limits: BacklogLimits
}

/** Takes in what is new and fits; key and task are one write. */
export function enqueue(writer: Writer, { tasks, limits }: EnqueueAsk): Enqueued[] {
  return tasks.map(task => {
    const [row, lane] = task
    const full = fullFor(writer, { lane, callbackUrl: row[AT.callbackUrl] }, limits)
    // A full store is no reason to forget what it has.
    if (full !== undefined) return existing(writer, task) ?? { kind: 'full', scope: full }
    return hasStoredBody(task)
      ? takeInWithBody(writer, task, limits)
      : (takeIn(writer, task) ?? existing(writer, task)!)
  })
}

/** What a task that is to wait finds no room in, for itself or for its end. */
export function fullFor(
  { lanes }: Writer,
  { lane, callbackUrl }: Pick<Identity, 'lane' | 'callbackUrl'>,
  limits: BacklogLimits,
): FullScope | undefined {
  const scope = fullScope(lanes.waitingBeside(lane), limits)
  if (scope !== undefined || callbackUrl === null) return scope
  const { tenant } = laneOf(lane)
  return fullForCallback(lanes.waitingBeside(laneKey(laneOfCallback({ tenant, callbackUrl }))), limits)
}

function hasStoredBody([row]: NewRow): boolean {
  return row[AT.bodyRef] !== null
}

/** Its body is there, and counted as needed, in the same write. */
function takeInWithBody(writer: Writer, task: NewRow, { bodyBytes: mostBytes = Infinity }: BacklogLimits): Enqueued {
  const [row, lane, , , , upload] = task
  const present = existing(writer, task)
  if (present !== undefined) return present
  const stored = { bodyRef: row[AT.bodyRef]!, sizeBytes: row[AT.bodyBytes]! }
  const attached = attach(writer, { tenant: laneOf(lane).tenant, ...stored, upload, mostBytes })
  if (attached.kind === 'unknown') return { kind: 'body-unknown' }
  if (attached.kind === 'full') return { kind: 'full', scope: 'bodies' }
  const { leftLocation } = attached
  return { ...takeIn(writer, task)!, ...(leftLocation !== undefined && { leftLocation }) }
}

/** Undefined when there is a task with its key or its id. */
function takeIn(writer: Writer, task: NewRow): Enqueued | undefined {
  const { lanes, tasks, waiting, spans } = writer
  const [row, laneName, queueName, dueAt] = task
  // A lane begins with its first task, not with one that is refused for its id.
  if (lanes.find(laneName) === undefined && tasks.seqOf(row[AT.taskId]) !== undefined) return undefined
  if (!tasks.isKeyFree(task)) return undefined
  const queue = lanes.queueOf(laneName, queueName)
  const seq = tasks.add(task, queue)
  if (seq === undefined) return undefined
  if (row[AT.callbackUrl] !== null) writer.callbacks.expect()
  waiting.add(queue.queueId, [dueAt, seq, 0, 1])
  spans.widen(seq, row[AT.createdAt])
  lanes.move(queue.lane, null, 'PENDING')
  writer.hint(queue, dueAt)
  return CREATED
}

const CREATED: Enqueued = { kind: 'created' }

function existing({ tasks, whole }: Writer, task: NewRow): Enqueued | undefined {
  const seq = tasks.sameAs(task)
  if (seq === undefined) return undefined
  const present = tasks.identityOf(seq)
  return isSameRequest(present, task)
    ? { kind: 'existing', task: whole.bySeq(seq)! }
    : { kind: 'conflict', taskId: present.taskId }
}

function isSameRequest(present: Identity, [row, lane, , , requestHash]: NewRow): boolean {
  const key = row[AT.idempotencyKey] ?? row[AT.taskId]
  return (
    laneOf(present.lane).tenant === laneOf(lane).tenant &&
    (present.idempotencyKey ?? present.taskId) === key &&
    present.requestHash === requestHash
  )
}
