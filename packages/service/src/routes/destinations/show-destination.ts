import type { Destination } from '@secondwind/client'
import { seenBy, type Caller } from '../../access/caller.ts'
import type { KnownDestination } from '../../steering/standing-orders.ts'
import {
  documentOf,
  type HistoryStore,
  type LaneCounters,
  type LanesPage,
  type RecordStore,
} from '../../stores/store.ts'
import { laneKey, laneOf, laneOfAll } from '../../task/lane.ts'
import type { ApiContext } from '../context.ts'
import { destinationOfAll, destinationView, unusedDestination, type Records } from './destination-view.ts'
import { placeOf } from './find-destination.ts'

/** A destination as somebody sees it, with what is set for it now. */
export async function showDestination(destination: string, caller: Caller, context: ApiContext): Promise<Destination> {
  const [lanes, records] = await Promise.all([
    lanesTo([destination], caller, context.store),
    recordsOf(placeOf(destination, caller).id, context.store),
  ])
  return shownWith({ destination, lanes: lanes.get(destination)!, records }, caller, context)
}

interface Known {
  readonly destination: string
  /** None where it has had no task. */
  readonly lanes: readonly LaneCounters[]
  readonly records: Records
}

/** The same by what is known of it already. */
export function shownWith({ destination, lanes, records }: Known, caller: Caller, context: ApiContext): Destination {
  if (lanes.length > 1) return destinationOfAll(lanes, caller, context, records)
  const [counters] = lanes
  return counters === undefined
    ? unusedDestination(placeOf(destination, caller).lane, records, context.clock.now())
    : destinationView(counters, caller, context, records)
}

/** By destination, what somebody sees of each: of one tenant's the store is asked once, however many there are. */
export async function lanesTo(
  destinations: readonly string[],
  caller: Caller,
  store: Counting,
): Promise<ReadonlyMap<string, readonly LaneCounters[]>> {
  const { tenant } = seenBy(caller)
  const asks =
    tenant === undefined
      ? destinations.map(destination => ({ destination }))
      : [{ tenant, names: destinations.map(destination => laneKey({ tenant, destination })) }]
  const found = new Map<string, LaneCounters[]>(destinations.map(destination => [destination, []]))
  for (const ask of asks)
    for (const counters of await everyLane(ask, store)) found.get(laneOf(counters.lane).destination)!.push(counters)
  return found
}

type Counting = Pick<HistoryStore, 'lanes'>

const LANES_PER_PAGE = 1_000
/** Ten thousand: as many as there may be tenants. */
const MOST_PAGES = 10

async function everyLane(
  which: Omit<LanesPage, 'limit' | 'cursor'>,
  store: Counting,
): Promise<readonly LaneCounters[]> {
  const lanes: LaneCounters[] = []
  let cursor: string | undefined
  for (let page = 0; page < MOST_PAGES; page++) {
    const ask = { ...which, limit: LANES_PER_PAGE, ...(cursor !== undefined && { cursor }) }
    const { items, nextCursor } = await store.lanes(ask)
    lanes.push(...items)
    cursor = nextCursor
    if (cursor === undefined) break
  }
  return lanes
}

/** As the store has them: whoever has just changed one sees the change. */
async function recordsOf(id: string, store: Pick<RecordStore, 'record'>): Promise<Records> {
  const recordOf = async (lane: string): Promise<KnownDestination | undefined> => {
    const record = await store.record({ kind: 'destination', id: lane })
    return record && { ...record, lane, settings: documentOf(record) }
  }
  const [own, all] = await Promise.all([recordOf(id), recordOf(laneOfAll(id))])
  return { own, all }
}
