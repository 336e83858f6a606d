/** Ends leases: outcome, next state, attempt, counters and cause in one write, if the token is still the newest. */
import type { TaskStatus } from '../../task/task.ts'
import type { Next, Standing } from './changes.ts'
import type { NextRow, SettlementRow } from './rows.ts'
import type { Writer } from './writer.ts'

export type SettledWord = TaskStatus | 'lost'

export function settleVerb(writer: Writer): (settlements: readonly SettlementRow[]) => SettledWord[] {
  const { changes, lanes, stewards } = writer

  const nextOf = (task: Standing, row: NextRow | null): Next => {
    if (row === null) return { status: 'PENDING', dueAt: task.leaseDueAt, queue: lanes.queueBy(task.leaseQueueId) }
    switch (row[0]) {
      case 'PENDING':
        return { status: 'PENDING', dueAt: row[2], queue: lanes.queueOf(lanes.laneBy(task.laneId).key, row[3]) }
      case 'SUCCEEDED':
        return { status: 'SUCCEEDED' }
      case 'EXHAUSTED':
        return { status: 'EXHAUSTED', reason: row[2], ...(row[3] !== null && { held: { by: row[3], since: row[4] } }) }
    }
  }

  const settleOne = ([taskId, token, attempt, row]: SettlementRow): SettledWord => {
    const task = changes.find(taskId)
    // A settle whose answer was lost is sent again, and answered as before.
    if (task?.leaseToken === null && task.token === token) return task.settledAs ?? 'lost'
    if (task?.leaseToken !== token) return 'lost'
    // What was put back, and what would be tried again, ends here if an operator wants it cancelled.
    const isCancelled = task.cancelRequested === 1 && row?.[0] !== 'SUCCEEDED'
    const next: Next = isCancelled ? { status: 'CANCELLED' } : nextOf(task, row)
    changes.apply(task, { next, attempt, token, ...(row !== null && { progress: row[1] }) })
    // Its present steward has not made this claim, and cannot know when the task is due.
    if (next.status === 'PENDING' && stewards.hasChangedSince(next.queue.lane.partition, task.claimedAt))
      writer.hint(next.queue, next.dueAt)
    return next.status
  }

  return settlements => settlements.map(settleOne)
}
