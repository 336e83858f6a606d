import type { Recall } from '../../recall.ts'
import type { Writer } from './writer.ts'

/** Makes waiting tasks due earlier, each in the queue in which it waits. The steward itself asks, so it gets no hint. */
export function recall(writer: Writer, { partition, steward, tasks }: Recall): string[] {
  if (!writer.stewards.isSteward(partition, steward)) return []
  const recalled: string[] = []
  for (const { taskId, dueAt } of tasks) if (hasRecalled(writer, partition, taskId, dueAt)) recalled.push(taskId)
  return recalled
}

function hasRecalled(writer: Writer, partition: number, taskId: string, dueAt: number): boolean {
  const { now: at, lanes, log, tasks, waiting } = writer
  const seq = tasks.seqOf(taskId)
  const standing = seq === undefined ? undefined : log.standingOf(seq)
  if (seq === undefined || standing?.status !== 'PENDING' || standing.dueAt <= dueAt) return false
  const { queueId, progress, logId: previous } = standing
  if (lanes.queueBy(queueId).lane.partition !== partition) return false
  const row = waiting.find(queueId, standing.dueAt, seq)
  // Without a row in its queue the task is under way; the log does not show that.
  if (row === undefined) return false
  const [, , , versionBefore] = row
  const version = versionBefore + 1
  waiting.remove(queueId, standing.dueAt, seq)
  const state = { status: 'PENDING', reason: null, heldBy: null, queueId, dueAt } as const
  const logId = log.supersede(standing, { seq, at, ...state, version, progress, previous })
  waiting.add(queueId, [dueAt, seq, logId, version])
  return true
}
