import type { StandingOrders } from '../steering/standing-orders.ts'
import type { TaskStore } from '../stores/task-store.ts'
import { isInForce } from '../task/control.ts'
import { settingsAt } from '../task/destination-settings.ts'
import type { Dispatching } from '../task/lane-view.ts'
import type { LaneReading } from './destinations.ts'
import type { ServiceReading } from './gauges.ts'
import type { LoopLag } from './loop-lag.ts'

/** What a scrape asks of the dispatcher. */
interface Dispatched extends Pick<Dispatching, 'view'> {
  readonly orders: StandingOrders
  now(): number
}

/** A scrape looks at no more lanes than this, however many there are. */
const LANES_PER_PAGE = 200
const MOST_PAGES = 50

export async function readService(store: TaskStore, dispatcher: Dispatched, lag: LoopLag): Promise<ServiceReading> {
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
    const [counters, health] = await Promise.all([store.counters(), store.health()])
    let cursor: string | undefined
    for (let page = 0; page < MOST_PAGES; page++) {
      const { items, nextCursor } = await store.laneCounters({ limit: LANES_PER_PAGE, ...(cursor && { cursor }) })
      lanes.push(...items.map(one => ({ counters: one, view: dispatcher.view(one.lane) })))
      cursor = nextCursor
      if (cursor === undefined) break
    }
    return { ...reading, store: { counters, health } }
  } catch {
    // A store that cannot answer is seen by its absence.
    return reading
  }
}
