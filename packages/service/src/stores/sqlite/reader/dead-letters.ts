import type { RetryPolicy } from '@secondwind/resilience'
import { laneOf } from '../../../task/lane.ts'
import type { DeadLetter } from '../../../task/replay/dead-letter.ts'
import type { DeadLettersPage } from '../../task-store.ts'
import type { Connection } from '../file/connection.ts'
import type { RowsOfTasks } from '../rows/rows-of-tasks.ts'
import type { From, Slice } from '../rows/slice.ts'
import { readStandings } from '../rows/standing.ts'
import { progressOf } from '../rows/task-rows.ts'
import { createWalk } from './walk.ts'

export type DeadLetters = (ask: From<DeadLettersPage, [seq: number]>) => Slice<DeadLetter, [number]>

/** Dead letters as they arrived, the oldest first, without their bodies. */
export function createDeadLetterList(connection: Connection, rows: RowsOfTasks): DeadLetters {
  const walk = createWalk(connection, rows, 'oldest-first')
  const standingOf = readStandings(connection, rows)
  const readBrief = connection.row<[string, string, string, number, string | null]>(
    'select lane.key, task_id, policy_id, policy_version, policy from task join lane using (lane_id) where seq = ?',
  )
  const deadLetterOf = (seq: number): DeadLetter => {
    const [lane, taskId, policyId, policyVersion, policy] = readBrief(seq)!
    const { reason, at: endedAt, progress } = standingOf(seq)!
    const accepted = { taskId, ...laneOf(lane), policyId, policyVersion }
    const own = policy === null ? {} : { policy: JSON.parse(policy) as RetryPolicy }
    return { ...accepted, ...own, progress: progressOf(progress), reason: reason!, endedAt }
  }
  return ({ filter, ...page }) => {
    const { items, next } = walk({ ...page, filter: { ...filter, status: 'EXHAUSTED' } })
    return { items: items.map(deadLetterOf), next }
  }
}
