import type { Connection } from '../file/connection.ts'
import type { Writer } from './writer.ts'

/**
 * Counts anew what two processes at once have counted wrong; a number below zero shows it. This looks at every task, and so
 * only then.
 */
export function recount({ connection, lanes }: Writer): void {
  if (!isBelowZero(connection)) return
  connection.exec(RECOUNT)
  lanes.forget()
  lanes.recall()
}

const COUNTERS = ['pending', 'in_flight', 'succeeded', 'exhausted', 'cancelled']

function isBelowZero(connection: Connection): boolean {
  const least = `min(${COUNTERS.join(', ')})`
  const isWrong = connection.row<[number]>(
    `select exists (select 1 from lane where ${least} < 0) or exists (select 1 from store where ${least} < 0)`,
  )
  return isWrong()![0] === 1
}

const ended = (status: string): string =>
  `(select count(*) from task where task.lane_id = lane.lane_id and '${status}' =
     (select status from log where log.seq = task.seq order by log_id desc limit 1))`

const standingIn = (table: string): string =>
  `(select count(*) from queue join ${table} using (queue_id) where queue.lane_id = lane.lane_id)`

const RECOUNT = `
  update lane set
    pending = ${standingIn('due')},
    in_flight = ${standingIn('lease')},
    succeeded = ${ended('SUCCEEDED')},
    exhausted = ${ended('EXHAUSTED')},
    cancelled = ${ended('CANCELLED')};
  update store set (${COUNTERS.join(', ')}) =
    (select ${COUNTERS.map(counter => `coalesce(sum(lane.${counter}), 0)`).join(', ')} from lane);
`
