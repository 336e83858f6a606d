import { shares } from '@secondwind/resilience/rules'
import { laneKey, laneOf } from '../../task/lane.ts'
import type { AttemptEnd } from '../../task/task.ts'
import { OTHER } from '../destinations.ts'
import type { AttemptEnded } from '../events.ts'
import type { AttemptCounts, SlotRange } from './ring.ts'
import {
  attemptsWithin,
  countCall,
  newSeries,
  noteHeld,
  SLOT_MS,
  SLOTS,
  slotsOf,
  type Call,
  type Resolution,
  type Series,
} from './series.ts'
import { sumOf, type Slot } from './slot.ts'

export interface SeriesBookOptions {
  /** The store's time. */
  readonly now: () => number
  /** So many destinations of a tenant have a series of their own; the rest are `other`. */
  readonly mostPerTenant?: number
  /** So many over all tenants, in fair shares: a tenth of what is free is kept for who may come. */
  readonly mostInAll?: number
}

/** A thousand series of 64 KiB: no more, whatever is called. */
const DEFAULT_SERIES_BOOK = { mostPerTenant: 200, mostInAll: 1_000 } as const

export interface SeriesAsk {
  /** Left out: all together. */
  readonly tenant?: string | undefined
  /** All of them, unless one is named. */
  readonly destination?: string | undefined
  readonly resolution: Resolution
  /** Instants; what is kept, unless they are given. */
  readonly from?: number | undefined
  readonly to?: number | undefined
}

export interface SeriesAnswer {
  readonly resolution: Resolution
  /** Whose they are: absent for all together, `other` for one that has no series of its own. */
  readonly destination?: string
  /** The oldest first, without holes; none that is not over. */
  readonly slots: readonly (Slot & { readonly at: number })[]
}

/** What is to be added up: more than one where it is of all tenants. */
interface Found {
  readonly destination?: string
  readonly series: readonly Series[]
}

/** The series of one tenant. */
interface Shelf {
  readonly all: Series
  readonly own: Map<string, Series>
  other: Series | undefined
}

interface OfLane {
  readonly all: Series
  readonly own: Series
  lastFailure?: LastFailure
}

/** The newest attempt that did not succeed. */
export interface LastFailure extends AttemptEnd {
  readonly at: number
  readonly taskId: string
  readonly attemptNumber: number
}

const DAY_MS = 86_400_000
const LOOK_AGAIN_MS = 60_000

/** What was sent where, while this process has been running. */
export class SeriesBook {
  readonly #options: Required<SeriesBookOptions>
  readonly #shelves = new Map<string, Shelf>()
  /** By lane, those that have a series of their own: most calls need not look further. */
  readonly #ofLane = new Map<string, OfLane>()
  /** Of all tenants together. */
  #everybody: Series | undefined
  #since: number | undefined
  /** Before then nobody looks for series that could be given away. */
  #lookAgainAt = -Infinity

  constructor(options: SeriesBookOptions) {
    this.#options = { ...DEFAULT_SERIES_BOOK, ...options }
  }

  attemptEnded(event: AttemptEnded): void {
    const { lane, attemptNumber, outcome, errorCode, durationMs } = event
    const call: Call = {
      isFirst: attemptNumber === 1,
      isSuccess: outcome === 'success',
      // How long a lease was says nothing about the destination.
      durationMs: errorCode === 'lost' ? undefined : durationMs,
    }
    const now = this.#now()
    const { all, own } = this.#seriesOf(lane, now)
    countCall(all, call, now)
    countCall(own, call, now)
    countCall((this.#everybody ??= newSeries(now)), call, now)
    const known = this.#ofLane.get(lane)
    if (known !== undefined && !call.isSuccess) known.lastFailure = failureOf(event, now)
  }

  /** So many tasks of each of these lanes wait behind a closed gate. */
  held(lanes: Iterable<{ readonly lane: string; readonly held: number }>): void {
    const now = this.#now()
    const sums = new Map<Series, number>()
    const add = (series: Series, held: number): unknown => sums.set(series, (sums.get(series) ?? 0) + held)
    for (const { lane, held } of lanes) {
      const { all, own } = this.#seriesOf(lane, now)
      add(all, held)
      add(own, held)
      add((this.#everybody ??= newSeries(now)), held)
    }
    for (const [series, held] of sums) noteHeld(series, held, now)
  }

  read({ tenant, destination, resolution, from = 0, to = Infinity }: SeriesAsk): SeriesAnswer {
    const now = this.#now()
    const found = this.#find(tenant, destination)
    const slotMs = SLOT_MS[resolution]
    const running = Math.floor(now / slotMs)
    const first = Math.max(running - SLOTS[resolution], Math.floor(this.#since! / slotMs), Math.ceil(from / slotMs))
    const range = { from: first, to: Math.min(running, Math.ceil(to / slotMs)) }
    return {
      resolution,
      ...(found.destination !== undefined && { destination: found.destination }),
      slots: this.#slots(found.series, resolution, range).map((slot, place) => ({
        at: (first + place) * slotMs,
        ...slot,
      })),
    }
  }

  /** What happened in the last second that is over. */
  lastSecond({ tenant, destination }: Pick<SeriesAsk, 'tenant' | 'destination'>): Slot {
    const running = Math.floor(this.#now() / SLOT_MS.second)
    const { series } = this.#find(tenant, destination)
    return this.#slots(series, 'second', { from: running - 1, to: running })[0]!
  }

  /** What was sent to one destination lately; undefined where it has no series of its own. */
  attemptsWithin(lane: string, windowMs: number): AttemptCounts | undefined {
    const own = this.#ofLane.get(lane)?.own
    return own && attemptsWithin(own, windowMs, this.#now())
  }

  /** Of one destination; undefined where nothing failed, or where it has no series of its own. */
  lastFailure(lane: string): LastFailure | undefined {
    return this.#ofLane.get(lane)?.lastFailure
  }

  #now(): number {
    const now = this.#options.now()
    this.#since ??= now
    return now
  }

  #slots([first, ...others]: readonly Series[], resolution: Resolution, range: SlotRange): readonly Slot[] {
    const now = this.#now()
    const slots = slotsOf(first ?? newSeries(now), resolution, range, now)
    return others.reduce(
      (sums, series) => slotsOf(series, resolution, range, now).map((slot, place) => sumOf(sums[place]!, slot)),
      slots,
    )
  }

  /** A destination without a series of its own is looked for among the others, once there are others. */
  #find(tenant: string | undefined, destination: string | undefined): Found {
    const shelves = [...this.#shelves].filter(([owner]) => owner === (tenant ?? owner))
    if (destination === undefined)
      return { series: tenant === undefined ? [this.#everybody ?? []].flat() : shelves.map(([, { all }]) => all) }
    const own = shelves.flatMap(([owner, shelf]) => shelf.own.get(laneKey({ tenant: owner, destination })) ?? [])
    const others = shelves.flatMap(([, { other }]) => other ?? [])
    return own.length > 0 || others.length === 0 ? { destination, series: own } : { destination: OTHER, series: others }
  }

  #seriesOf(lane: string, now: number): { readonly all: Series; readonly own: Series } {
    const known = this.#ofLane.get(lane)
    if (known !== undefined) return known
    const shelf = this.#shelfOf(laneOf(lane).tenant, now)
    if (!this.#hasRoom(shelf, now)) return { all: shelf.all, own: (shelf.other ??= newSeries(now)) }
    const own = newSeries(now)
    shelf.own.set(lane, own)
    this.#ofLane.set(lane, { all: shelf.all, own })
    return { all: shelf.all, own }
  }

  #shelfOf(tenant: string, now: number): Shelf {
    let shelf = this.#shelves.get(tenant)
    if (shelf === undefined) {
      shelf = { all: newSeries(now), own: new Map(), other: undefined }
      this.#shelves.set(tenant, shelf)
    }
    return shelf
  }

  #hasRoom(shelf: Shelf, now: number): boolean {
    const { mostPerTenant, mostInAll } = this.#options
    const hasRoom = (): boolean => {
      const ofTenant = shelf.own.size
      const free = mostInAll - this.#ofLane.size
      return ofTenant < mostPerTenant && shares.mostFor({ free, ofTenant, ofLane: 0 }) > 0
    }
    if (hasRoom()) return true
    if (now < this.#lookAgainAt) return false
    this.#lookAgainAt = now + LOOK_AGAIN_MS
    this.#giveAway(now)
    return hasRoom()
  }

  /** A series in which nothing has happened for a day is empty: whoever's it was, somebody else can use the place. */
  #giveAway(now: number): void {
    for (const { own } of this.#shelves.values())
      for (const [lane, { second }] of own)
        if (now - second * SLOT_MS.second > DAY_MS) {
          own.delete(lane)
          this.#ofLane.delete(lane)
        }
  }
}

function failureOf(event: AttemptEnded, at: number): LastFailure {
  const { taskId, attemptNumber, outcome, responseStatus, errorCode, errorMessage } = event
  return {
    at,
    taskId,
    attemptNumber,
    outcome,
    ...(responseStatus !== undefined && { responseStatus }),
    ...(errorCode !== undefined && { errorCode }),
    ...(errorMessage !== undefined && { errorMessage }),
  }
}
