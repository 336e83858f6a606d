import { queueKey, queueOf } from '../../../task/lane.ts'
import type { Queue } from '../../../task/task.ts'
import type { Changed, Replay } from '../../task-store.ts'
import type { Standing } from '../rows/standing.ts'
import { AT, progressRow, type ProgressRow } from '../rows/task-rows.ts'
import type { LaneEntry } from '../tables/lanes.ts'
import { end } from './end.ts'
import type { Writer } from './writer.ts'

/** What an operator wants of one task, if its status allows it. */
type Operation = (task: Operated) => boolean

interface Operated {
  readonly seq: number
  readonly taskId: string
  readonly standing: Standing
}

/** Ends a waiting task; marks one that is under way. Twice is once. */
export function cancel(writer: Writer, taskId: string): Changed {
  const { leases, lanes, waiting } = writer
  return operate(writer, taskId, ({ seq, standing }) => {
    if (standing.status !== 'PENDING') return standing.status === 'CANCELLED'
    const lease = leases.find(taskId)
    if (lease !== undefined) {
      if (!lease.cancelRequested) leases.markCancelled(lease)
      return true
    }
    const { queueId, dueAt } = standing
    const [, , , version] = waiting.find(queueId, dueAt, seq)!
    waiting.remove(queueId, dueAt, seq)
    const { lane } = lanes.queueBy(queueId)
    end(writer, { seq, lane, standing, version: version + 1, from: 'PENDING', status: 'CANCELLED', reason: null })
    return true
  })
}

/** Moves a waiting task to the front of its lane. */
export function attemptNow(writer: Writer, taskId: string): Changed {
  const { leases, lanes, waiting } = writer
  return operate(writer, taskId, ({ seq, standing }) => {
    if (standing.status !== 'PENDING' || leases.find(taskId) !== undefined) return false
    const { queueId, dueAt, progress } = standing
    const [, , , version] = waiting.find(queueId, dueAt, seq)!
    waiting.remove(queueId, dueAt, seq)
    const { key, lane } = lanes.queueBy(queueId)
    const queue: Queue = { ...queueOf(key), rank: 'urgent' }
    wait(writer, { seq, lane, standing, queue, version: version + 1, progress })
    return true
  })
}

/** Begins the next generation of a dead letter that is still in the one that was read. */
export function replay(writer: Writer, { taskId, generation, progress }: Replay): Changed {
  const { dead, lanes, tasks } = writer
  return operate(writer, taskId, ({ seq, standing }) => {
    const [presentGeneration] = standing.progress
    if (standing.status !== 'EXHAUSTED' || presentGeneration !== generation) return false
    const policyId = tasks.row(seq)[AT.policyId]
    const lane = lanes.find(tasks.identityOf(seq).lane)!
    const queue: Queue = { policyId, kind: 'first', rank: 'low' }
    dead.remove(seq)
    wait(writer, { seq, lane, standing, queue, version: standing.version + 1, progress: progressRow(progress) })
    lanes.move(lane, 'EXHAUSTED', 'PENDING')
    return true
  })
}

function operate(writer: Writer, taskId: string, operation: Operation): Changed {
  const { tasks, log, whole } = writer
  const seq = tasks.seqOf(taskId)
  if (seq === undefined) return { kind: 'unknown' }
  const isChanged = operation({ seq, taskId, standing: log.standingOf(seq)! })
  return { kind: isChanged ? 'changed' : 'unchanged', task: whole.bySeq(seq)! }
}

interface Wait {
  readonly seq: number
  readonly lane: LaneEntry
  readonly standing: Standing
  readonly queue: Queue
  readonly version: number
  readonly progress: ProgressRow
}

/** Puts a task into a queue, due now. */
function wait(writer: Writer, { seq, lane, standing, queue, version, progress }: Wait): void {
  const { now, lanes, log, waiting } = writer
  const entry = lanes.queueOf(lane.key, queueKey(queue))
  const place = { queueId: entry.queueId, dueAt: now }
  const previous = standing.logId
  const logId = log.supersede(standing, {
    seq,
    at: now,
    status: 'PENDING',
    reason: null,
    ...place,
    version,
    progress,
    previous,
  })
  waiting.add(entry.queueId, [now, seq, logId, version])
  writer.hint(entry, now)
}
