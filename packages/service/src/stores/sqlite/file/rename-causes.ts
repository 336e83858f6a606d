import type { GiveUpReason } from '@secondwind/resilience'
import { laneOf } from '../../../task/lane.ts'
import { causeIdOf } from '../../cause-id.ts'
import type { Connection } from './connection.ts'

type CauseRow = [
  causeId: string,
  lane: string,
  reason: GiveUpReason,
  responseStatus: number | null,
  errorCode: string | null,
  errorMessage: string | null,
]

/** Names of causes were once written in other characters; left so, what died since would be another cause. */
export function renameCauses(connection: Connection): void {
  const read = connection.rows<CauseRow>(
    `select cause_id, lane.key, reason, response_status, error_code, error_message
     from cause join lane using (lane_id)`,
  )
  const rename = renamer(connection)
  for (const row of read()) {
    const [before] = row
    const causeId = idOf(row)
    if (causeId !== before) rename(before, causeId)
  }
}

function idOf([, lane, reason, responseStatus, errorCode, errorMessage]: CauseRow): string {
  const lastAttempt = {
    ...(responseStatus !== null && { responseStatus }),
    ...(errorCode !== null && { errorCode }),
    ...(errorMessage !== null && { errorMessage }),
  }
  return causeIdOf({ ...laneOf(lane), reason, lastAttempt })
}

/** Where both names are there already, one takes the other's dead letters over. */
function renamer(connection: Connection): (before: string, causeId: string) => void {
  const move = connection.write(
    `insert into cause (cause_id, lane_id, tenant, reason, response_status, error_code, error_message, tasks, first_at,
       last_at)
     select ?2, lane_id, tenant, reason, response_status, error_code, error_message, tasks, first_at, last_at
     from cause where cause_id = ?1
     on conflict do update set tasks = tasks + excluded.tasks, first_at = min(first_at, excluded.first_at),
       last_at = max(last_at, excluded.last_at)`,
  )
  const remove = connection.write('delete from cause where cause_id = ?')
  const moveDead = connection.write('update dead set cause_id = ?2 where cause_id = ?1')
  const movePlans = connection.write(
    `update record set document = json_replace(document, '$.filter.causeId', ?2)
     where kind = 'replay' and document ->> '$.filter.causeId' = ?1`,
  )
  return (before, causeId) => {
    move(before, causeId)
    remove(before)
    moveDead(before, causeId)
    movePlans(before, causeId)
  }
}
