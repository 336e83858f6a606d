/**
 * Figures without an event of their own, read once a second: how many tasks a gate holds, which gates have opened or shut, and how many
 * tasks there are, for those who listen.
 */
import { NOT_ARMED, type Alarm, type Clock } from '@secondwind/resilience'
import type { HistoryStore, LaneCounters } from '../stores/store.ts'
import { EVERY_TENANT, laneOf } from '../task/lane.ts'
import type { Dispatching, HoldReason, LaneView } from '../task/lane-view.ts'
import { TASK_STATUSES, type TaskStatus } from '../task/task.ts'
import type { LaneReading } from './destinations.ts'
import type { Live } from './events.ts'
import type { Slot } from './series/slot.ts'

export interface SamplingOptions extends Live {
  readonly clock: Clock
  /** The store's time. */
  readonly now: () => number
  readonly store: Pick<HistoryStore, 'lanes'>
  readonly dispatching: Pick<Dispatching, 'view'>
  /** What else is looked at once a second. */
  readonly onLook?: () => void
}

/** How many there are, and what happened last, for one audience. */
export interface Counters {
  readonly at: number
  readonly tasks: { readonly [status in TaskStatus]: number }
  /** False when there are more destinations than were counted. */
  readonly isExact: boolean
  readonly lastSecond: Slot
}

const EVERY_MS = 1_000
const LANES_PER_PAGE = 200
/** In a second; the next one goes on from there. */
const PAGES_PER_LOOK = 5
/** Of one tenant. */
const PAGES_OF_TENANT = 10

export class Sampling implements Alarm {
  dueAt = 0
  slot: number = NOT_ARMED
  readonly #options: SamplingOptions
  /** What was told last of lanes whose gates are not simply open. */
  readonly #gates = new Map<string, string>()
  #cursor: string | undefined
  #isLooking = false

  constructor(options: SamplingOptions) {
    this.#options = options
  }

  start(): void {
    this.#arm()
  }

  stop(): void {
    this.#options.clock.disarm(this)
  }

  ring(): void {
    this.#arm()
    this.#options.onLook?.()
    // A store that takes longer than a second is not asked twice at once.
    if (!this.#isLooking) void this.#look()
  }

  async #look(): Promise<void> {
    this.#isLooking = true
    try {
      const heard = await this.#lanesOfListeners()
      this.#note([...heard.values(), await this.#lanesInTurn()])
      this.#tellCounters(heard)
    } catch {
      // A store that cannot answer is told of elsewhere; here a second is missing.
    } finally {
      this.#isLooking = false
    }
  }

  /** A listener gets news of its own lanes at once, however many lanes others have. */
  async #lanesOfListeners(): Promise<ReadonlyMap<string, Page>> {
    const lanesOf = new Map<string, Page>()
    for (const { feed } of this.#options.stream.wanting(['destination', 'counters']))
      if (!lanesOf.has(feed.tenant))
        lanesOf.set(feed.tenant, await this.#read({ pages: PAGES_OF_TENANT, ...heardOf(feed) }))
    return lanesOf
  }

  /** Some of all, where the last look ended. */
  async #lanesInTurn(): Promise<Page> {
    const page = await this.#read({ pages: PAGES_PER_LOOK, cursor: this.#cursor })
    this.#cursor = page.nextCursor
    return page
  }

  #note(pages: readonly Page[]): void {
    const { dispatching, series, now } = this.#options
    const lanes = new Map(pages.flatMap(({ items }) => items).map(counters => [counters.lane, counters]))
    const readings = [...lanes.values()].map(counters => ({ counters, view: dispatching.view(counters.lane) }))
    series.held(readings.flatMap(reading => heldOf(reading, now()) ?? []))
    for (const { view } of readings) if (view !== undefined) this.#tellGates(view)
  }

  #tellGates(view: LaneView): void {
    const { lane, breaker, hold } = view
    const lasting = hold !== undefined && !FLEETING.has(hold.reason) ? hold : undefined
    const gates = breaker === 'closed' && lasting === undefined ? undefined : `${breaker} ${lasting?.reason}`
    if (this.#gates.get(lane) === gates) return
    if (gates === undefined) this.#gates.delete(lane)
    else this.#gates.set(lane, gates)
    const { tenant, destination } = laneOf(lane)
    const data = { destination, breaker, ...(lasting !== undefined && { hold: lasting }) }
    this.#options.stream.tell({ tenant, type: 'destination', destination, data })
  }

  #tellCounters(lanesOf: ReadonlyMap<string, Page>): void {
    const { stream, series, now } = this.#options
    for (const audience of stream.wanting(['counters'])) {
      const lanes = lanesOf.get(audience.feed.tenant)
      // Who came while the lanes were read hears them in the next second.
      if (lanes === undefined) continue
      const { destination } = audience.filter
      const lastSecond = series.lastSecond({ ...heardOf(audience.feed), destination })
      const counters: Counters = { at: now(), ...sumOf(lanes, destination), lastSecond }
      audience.tellCounters(counters)
    }
  }

  async #read({ pages, tenant, cursor }: LanesAsk): Promise<Page> {
    const items: LaneCounters[] = []
    let nextCursor = cursor
    for (let page = 0; page < pages; page++) {
      const answer = await this.#options.store.lanes({
        limit: LANES_PER_PAGE,
        ...(tenant !== undefined && { tenant }),
        ...(nextCursor !== undefined && { cursor: nextCursor }),
      })
      items.push(...answer.items)
      nextCursor = answer.nextCursor
      if (nextCursor === undefined) break
    }
    return { items, nextCursor }
  }

  #arm(): void {
    const { clock } = this.#options
    this.dueAt = clock.monotonic() + EVERY_MS
    clock.arm(this)
  }
}

function heardOf({ tenant }: { readonly tenant: string }): { readonly tenant?: string } {
  return tenant === EVERY_TENANT ? {} : { tenant }
}

interface LanesAsk {
  readonly pages: number
  readonly tenant?: string
  readonly cursor?: string | undefined
}

interface Page {
  readonly items: readonly LaneCounters[]
  readonly nextCursor: string | undefined
}

/** Gates that open and shut many times in a second, while all is well. */
const FLEETING: ReadonlySet<HoldReason> = new Set(['concurrency', 'rate-limited', 'credit', 'budget', 'slots'])

/** Undefined when nothing that is due is kept waiting. */
function heldOf({ counters, view }: LaneReading, now: number): { lane: string; held: number } | undefined {
  const isHeld =
    view !== undefined && (view.hold ?? view.kindHolds) !== undefined && (view.oldestDueAt ?? now + 1) <= now
  return isHeld && counters.pending > 0 ? { lane: counters.lane, held: counters.pending } : undefined
}

function sumOf({ items, nextCursor }: Page, destination: string | undefined): Pick<Counters, 'tasks' | 'isExact'> {
  const counted =
    destination === undefined ? items : items.filter(({ lane }) => laneOf(lane).destination === destination)
  const sums = TASK_STATUSES.map(status => [status, counted.reduce((sum, lane) => sum + lane[COUNTED_AS[status]], 0)])
  return { tasks: Object.fromEntries(sums) as Counters['tasks'], isExact: nextCursor === undefined }
}

const COUNTED_AS = {
  PENDING: 'pending',
  IN_FLIGHT: 'inFlight',
  SUCCEEDED: 'succeeded',
  EXHAUSTED: 'exhausted',
  CANCELLED: 'cancelled',
} as const satisfies { readonly [status in TaskStatus]: keyof LaneCounters }
