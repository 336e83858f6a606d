import type { Backlog } from '../intake/backlog.ts'
import type { StandingOrders } from '../steering/standing-orders.ts'
import type { Store } from '../stores/store.ts'
import { isInForce } from '../task/control.ts'
import { settingsAt } from '../task/destination-settings.ts'
import type { Dispatching } from '../task/lane-view.ts'
import type { LaneReading } from './destinations.ts'
import type { ServiceReading } from './gauges.ts'
import type { LoopLag } from './loop-lag.ts'

/** All that a scrape looks at. */
interface Sources {
  readonly store: Pick<Store, 'lanes' | 'health'>
  readonly backlog: Pick<Backlog, 'tasks'>
  readonly dispatcher: Dispatched
  readonly lag: Pick<LoopLag, 'takeLongestMs'>
}

interface Dispatched extends Pick<Dispatching, 'view'> {
  readonly orders: StandingOrders
  now(): number
}

/** A scrape looks at no more lanes than this, however many there are. */
const LANES_PER_PAGE = 200
const MOST_PAGES = 50

export async function readService({ store, backlog, dispatcher, lag }: Sources): Promise<ServiceReading> {
  const lanes: LaneReading[] = []
  const now = dispatcher.now()
  const { orders } = dispatcher
  const reading = {
    lanes,
    controls: orders.controls.filter(control => isInForce(control, now)),
    pauses: [...orders.destinations].filter(({ settings }) => settingsAt(settings, now).paused !== undefined).length,
    now,
    loopLagMs: lag.takeLongestMs(),
  }
  try {
    const health = await store.health()
    let cursor: string | undefined
    for (let page = 0; page < MOST_PAGES; page++) {
      const { items, nextCursor } = await store.lanes({ limit: LANES_PER_PAGE, ...(cursor && { cursor }) })
      lanes.push(...items.map(one => ({ counters: one, view: dispatcher.view(one.lane) })))
      cursor = nextCursor
      if (cursor === undefined) break
    }
    return { ...reading, store: { tasks: backlog.tasks, health } }
  } catch {
    // A store that cannot answer is seen by its absence.
    return reading
  }
}
