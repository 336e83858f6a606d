import { laneOf } from '../../../task/lane.ts'
import type { TaskFilter } from '../../task-store.ts'
import type { Connection } from '../file/connection.ts'
import type { RowsOfTasks } from '../rows/rows-of-tasks.ts'
import { readStandings } from '../rows/standing.ts'
import { readWholeTasks } from '../rows/whole-tasks.ts'

/** Whether a task is one of those asked for; what is cheap to read is read first. */
export function createMatcher(connection: Connection, rows: RowsOfTasks): (seq: number, filter: TaskFilter) => boolean {
  const readBrief = connection.row<[lane: string, policyId: string, key: string, createdAt: number]>(
    `select lane.key, policy_id, coalesce(idempotency_key, task_id), created_at
     from task join lane using (lane_id) where seq = ?`,
  )
  // It stands behind the body: read where it is asked for, and not otherwise.
  const readMaker = connection.row<[string | null]>('select created_by from task where seq = ?')
  const readLease = connection.row<[number]>('select 1 from lease where seq = ?')
  const standingOf = readStandings(connection, rows)
  const whole = readWholeTasks(connection, rows)

  const isAccepted = (seq: number, filter: TaskFilter): boolean => {
    const [lane, policyId, key, createdAt] = readBrief(seq)!
    const { createdFrom = -Infinity, createdTo = Infinity } = filter
    return (
      isOf(lane, filter) &&
      (filter.policyId === undefined || policyId === filter.policyId) &&
      (filter.idempotencyKey === undefined || key === filter.idempotencyKey) &&
      createdAt >= createdFrom &&
      createdAt < createdTo &&
      (filter.createdBy === undefined || readMaker(seq)![0] === filter.createdBy)
    )
  }
  return (seq, filter) => {
    if (!isAccepted(seq, filter)) return false
    const { status, reason, attemptFrom = 0, errorCode, endedFrom = -Infinity, endedTo = Infinity } = filter
    const standing = standingOf(seq)!
    const [, attemptNumber] = standing.progress
    // The log says PENDING of what is under way, too.
    const isStatus = (): boolean =>
      status === 'PENDING' || status === 'IN_FLIGHT'
        ? standing.status === 'PENDING' && (readLease(seq) !== undefined) === (status === 'IN_FLIGHT')
        : status === undefined || standing.status === status
    return (
      attemptNumber >= attemptFrom &&
      (reason === undefined || standing.reason === reason) &&
      isStatus() &&
      standing.at >= endedFrom &&
      standing.at < endedTo &&
      (errorCode === undefined || whole.attemptEnd(standing.attemptId)?.errorCode === errorCode)
    )
  }
}

function isOf(lane: string, { tenant, destination }: TaskFilter): boolean {
  const is = laneOf(lane)
  return is.tenant === (tenant ?? is.tenant) && is.destination === (destination ?? is.destination)
}
