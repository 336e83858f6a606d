import type { GiveUpReason } from '@secondwind/resilience'
import { causeIdOf } from '../../cause-id.ts'
import { laneOf } from '../../../task/lane.ts'
import type { GateReason } from '../../../task/lane-view.ts'
import type { AttemptEnd } from '../../../task/task.ts'
import type { Connection } from '../file/connection.ts'
import type { LaneEntry } from './lanes.ts'
import type { Spans } from './spans.ts'

/** Tasks that were given up, and how many of them died of what. */
export interface DeadLetters {
  add(death: DeadLetter): void
  remove(seq: number): void
}

export interface DeadLetter {
  readonly seq: number
  readonly lane: LaneEntry
  readonly reason: GiveUpReason
  readonly heldBy: GateReason | null
  readonly lastAttempt: AttemptEnd | undefined
  readonly at: number
}

export function createDeadLetters(connection: Connection, spans: Spans): DeadLetters {
  const insert = connection.write('insert into dead (seq, lane_id, cause_id) values (?, ?, ?)')
  const countUp = connection.write(
    `insert into cause (cause_id, lane_id, tenant, reason, held_by, response_status, error_code, error_message, tasks,
       first_at, last_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, 1, ?9, ?9)
     on conflict do update set tasks = tasks + 1, last_at = ?9`,
  )
  const remove = connection.row<[causeId: string]>('delete from dead where seq = ? returning cause_id')
  const countDown = connection.row<[tasks: number]>(
    'update cause set tasks = tasks - 1 where cause_id = ? returning tasks',
  )
  const removeCause = connection.write('delete from cause where cause_id = ?')
  return {
    add({ seq, lane, reason, heldBy, lastAttempt, at }) {
      const { tenant, destination } = laneOf(lane.key)
      const held = heldBy === null ? undefined : { by: heldBy }
      const causeId = causeIdOf({ tenant, destination, reason, held, lastAttempt })
      const { responseStatus = null, errorCode = null, errorMessage = null } = lastAttempt ?? {}
      insert(seq, lane.laneId, causeId)
      countUp(causeId, lane.laneId, tenant, reason, heldBy, responseStatus, errorCode, errorMessage, at)
      spans.noteDeath(seq, at)
    },
    remove(seq) {
      const row = remove(seq)
      if (row === undefined) return
      const [causeId] = row
      if (countDown(causeId)![0] === 0) removeCause(causeId)
    },
  }
}
