import { queueKey, queueOf } from '../../../task/lane.ts'
import type { Queue } from '../../../task/task.ts'
import type { Changed, Operating, Replay } from '../../task-store.ts'
import type { Standing } from '../rows/standing.ts'
import { progressRow, type ProgressRow } from '../rows/task-rows.ts'
import type { LaneEntry } from '../tables/lanes.ts'
import { end } from './end.ts'
import { fullFor } from './enqueue.ts'
import type { Writer } from './writer.ts'

/** A task that somebody does something to. */
export interface OperatedTask extends Operating {
  readonly taskId: string
}

export interface ReplayManyAsk extends Pick<Replay, 'limits'> {
  readonly asks: readonly Replay[]
}

/** What an operator wants of one task, if its status allows it. */
type Operation = (task: Operated) => 'changed' | 'unchanged' | 'full'

interface Operated {
  readonly seq: number
  readonly standing: Standing
}

/** Ends a waiting task; marks one that is under way. Twice is once. */
export function cancel(writer: Writer, ask: OperatedTask): Changed {
  const { leases, lanes, waiting } = writer
  const { taskId } = ask
  return operate(writer, ask, ({ seq, standing }) => {
    if (standing.status !== 'PENDING') return standing.status === 'CANCELLED' ? 'changed' : 'unchanged'
    const lease = leases.find(taskId)
    if (lease !== undefined) {
      if (!lease.cancelRequested) leases.markCancelled(lease)
      return 'changed'
    }
    const { queueId, dueAt } = standing
    const [, , , version] = waiting.find(queueId, dueAt, seq)!
    waiting.remove(queueId, dueAt, seq)
    const { lane } = lanes.queueBy(queueId)
    end(writer, { seq, lane, standing, version: version + 1, from: 'PENDING', status: 'CANCELLED', reason: null })
    return 'changed'
  })
}

/** Moves a waiting task to the front of its lane. */
export function attemptNow(writer: Writer, ask: OperatedTask): Changed {
  const { now, leases, lanes, waiting } = writer
  return operate(writer, ask, ({ seq, standing }) => {
    if (standing.status !== 'PENDING' || leases.find(ask.taskId) !== undefined) return 'unchanged'
    const { queueId, dueAt, progress } = standing
    const [, , , version] = waiting.find(queueId, dueAt, seq)!
    waiting.remove(queueId, dueAt, seq)
    const { key, lane } = lanes.queueBy(queueId)
    const queue: Queue = { ...queueOf(key), rank: 'urgent' }
    wait(writer, { seq, lane, standing, queue, version: version + 1, progress, dueAt: now })
    return 'changed'
  })
}

/** Begins the next generation of a dead letter that is still in the one that was read. */
export function replay(writer: Writer, ask: Replay): Changed {
  return operate(writer, ask, task => bringBack(writer, ask, task))
}

export function replayMany(writer: Writer, { asks, ...rest }: ReplayManyAsk): Changed['kind'][] {
  return asks.map(ask => operateOn(writer, ask, task => bringBack(writer, { ...ask, ...rest }, task)))
}

function bringBack(
  writer: Writer,
  { generation, limits, ...ask }: Replay,
  { seq, standing }: Operated,
): ReturnType<Operation> {
  const { now, dead, lanes, replays, tasks } = writer
  const [presentGeneration] = standing.progress
  if (standing.status !== 'EXHAUSTED' || presentGeneration !== generation) return 'unchanged'
  const identity = tasks.identityOf(seq)
  if (limits !== undefined && fullFor(writer, identity, limits) !== undefined) return 'full'
  const { policyId } = identity
  const lane = lanes.find(identity.lane)!
  const queue: Queue = { policyId, kind: 'first', rank: 'low' }
  const dueAt = Math.max(now, ask.dueAt ?? now)
  const progress = progressRow(ask.progress)
  dead.remove(seq)
  wait(writer, { seq, lane, standing, queue, version: standing.version + 1, progress, dueAt })
  lanes.move(lane, 'EXHAUSTED', 'PENDING')
  replays.countMoved(ask.progress.replayId ?? null)
  return 'changed'
}

function operate(writer: Writer, ask: OperatedTask, operation: Operation): Changed {
  const kind = operateOn(writer, ask, operation)
  return kind === 'unknown' ? { kind } : { kind, task: writer.whole.byId(ask.taskId)! }
}

function operateOn(writer: Writer, { taskId, ifVersion }: OperatedTask, operation: Operation): Changed['kind'] {
  const { tasks, log, whole } = writer
  const seq = tasks.seqOf(taskId)
  if (seq === undefined) return 'unknown'
  if (ifVersion !== undefined && whole.byId(taskId)!.version !== ifVersion) return 'conflict'
  return operation({ seq, standing: log.standingOf(seq)! })
}

interface Wait {
  readonly seq: number
  readonly lane: LaneEntry
  readonly standing: Standing
  readonly queue: Queue
  readonly version: number
  readonly progress: ProgressRow
  readonly dueAt: number
}

/** Puts a task into a queue. */
function wait(writer: Writer, { seq, lane, standing, queue, version, progress, dueAt }: Wait): void {
  const { now: at, lanes, log, waiting } = writer
  const entry = lanes.queueOf(lane.key, queueKey(queue))
  const { queueId } = entry
  const previous = standing.logId
  const state = { status: 'PENDING', reason: null, heldBy: null, queueId, dueAt } as const
  const logId = log.supersede(standing, { seq, at, ...state, version, progress, previous })
  waiting.add(queueId, [dueAt, seq, logId, version])
  writer.hint(entry, dueAt)
}
