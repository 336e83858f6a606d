import type { Destination } from '@secondwind/client'
import { seenBy, type Caller } from '../../access/caller.ts'
import type { KnownDestination } from '../../steering/standing-orders.ts'
import { documentOf, type LaneCounters, type TaskStore } from '../../stores/task-store.ts'
import { laneKey, laneOfAll } from '../../task/lane.ts'
import type { ApiContext } from '../context.ts'
import { destinationOfAll, destinationView, unusedDestination, type Records } from './destination-view.ts'
import { placeOf } from './find-destination.ts'

/** A destination as somebody sees it, with what is set for it now. */
export async function showDestination(
  destination: string,
  caller: Caller,
  context: ApiContext,
  given?: Records,
): Promise<Destination> {
  const { id, lane } = placeOf(destination, caller)
  const [lanes, { own, all }] = await Promise.all([
    lanesOf(destination, caller, context.storeFor(caller)),
    given ?? recordsOf(id, context.store),
  ])
  const records = { own, all }
  if (lanes.length > 1) return destinationOfAll(lanes, caller, context, records)
  const [counters] = lanes
  return counters === undefined
    ? unusedDestination(lane, records, context.clock.now())
    : destinationView(counters, caller, context, records)
}

const LANES_PER_PAGE = 1_000
/** Ten thousand: as many as there may be tenants. */
const MOST_PAGES = 10

async function lanesOf(
  destination: string,
  caller: Caller,
  store: Pick<TaskStore, 'laneCounters'>,
): Promise<readonly LaneCounters[]> {
  const { tenant } = seenBy(caller)
  const which = tenant === undefined ? { destination } : { lane: laneKey({ tenant, destination }) }
  const lanes: LaneCounters[] = []
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const ask = { ...which, limit: LANES_PER_PAGE, ...(cursor !== undefined && { cursor }) }
    const { items, nextCursor } = await store.laneCounters(ask)
    lanes.push(...items)
    cursor = nextCursor
    if (cursor === undefined) break
  }
  return lanes
}

/** As the store has them: whoever has just changed one sees the change. */
async function recordsOf(id: string, store: TaskStore): Promise<Records> {
  const recordOf = async (lane: string): Promise<KnownDestination | undefined> => {
    const record = await store.record({ kind: 'destination', id: lane })
    return record && { ...record, lane, settings: documentOf(record) }
  }
  const [own, all] = await Promise.all([recordOf(id), recordOf(laneOfAll(id))])
  return { own, all }
}
