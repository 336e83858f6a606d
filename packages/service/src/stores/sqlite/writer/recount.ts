import type { Connection } from '../file/connection.ts'
import { IS_OPEN } from '../tables/lanes.ts'
import type { Writer } from './writer.ts'

/**
 * Counts anew what two processes at once have counted wrong; a number below zero shows it. This looks at every task, and so
 * only then. Open lanes are counted in any case: a file of an earlier version has no number of them.
 */
export function recount({ connection, lanes }: Writer): void {
  if (isBelowZero(connection)) {
    connection.exec(RECOUNT)
    lanes.forget()
  }
  connection.exec(RECOUNT_OPEN)
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

/** The end of every task that has one, counted by lane. */
const ENDED = `
  with newest as (select max(log_id) as log_id from log group by seq),
    ended as materialized (
      select task.lane_id, status, count(*) as tasks from newest join log using (log_id) join task using (seq) group by 1, 2)`

const endedAs = (status: string): string =>
  `coalesce((select tasks from ended where ended.lane_id = lane.lane_id and status = '${status}'), 0)`

const standingIn = (table: string): string =>
  `(select count(*) from queue join ${table} using (queue_id) where queue.lane_id = lane.lane_id)`

const RECOUNT_OPEN = `
  with counted (open_lanes) as (select count(*) from lane where ${IS_OPEN})
  update store set open_lanes = counted.open_lanes from counted where store.open_lanes <> counted.open_lanes;
`

const RECOUNT = `
  ${ENDED}
  update lane set
    pending = ${standingIn('due')},
    in_flight = ${standingIn('lease')},
    succeeded = ${endedAs('SUCCEEDED')},
    exhausted = ${endedAs('EXHAUSTED')},
    cancelled = ${endedAs('CANCELLED')};
  update store set (${COUNTERS.join(', ')}) =
    (select ${COUNTERS.map(counter => `coalesce(sum(lane.${counter}), 0)`).join(', ')} from lane);
`
