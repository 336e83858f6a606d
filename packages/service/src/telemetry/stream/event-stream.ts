/**
 * What happens, told to whoever listens. The latest events are kept once, in the feeds; a listener is a connection and a
 * number in its feed, and hears on several times a second. Nobody is waited for, and for nobody anything is piled up: whoever is
 * slow reads later, whoever was away for too long is told that something is missing, whoever takes nothing is cut off.
 */
import { NOT_ARMED, type Alarm, type Clock } from '@secondwind/resilience'
import { EVERY_TENANT } from '../../task/lane.ts'
import type { TaskChange } from '../../task/task-change.ts'
import { Audience } from './audience.ts'
import { gapFrame } from './excerpt.ts'
import type { Feed } from './feed.ts'
import { Feeds, type FeedLimits } from './feeds.ts'
import { Listener, type ListenerOptions } from './listener.ts'
import { taskEvent, type EventFilter, type StreamEvent } from './stream-event.ts'

export interface EventStreamOptions {
  readonly clock: Clock
  /** The store's time. */
  readonly now: () => number
  /** This process; letters and digits. An id of another one stands for nothing here. */
  readonly instance: string
  readonly limits?: Partial<StreamLimits>
}

export interface StreamLimits extends FeedLimits {
  readonly listeners: number
}

export const DEFAULT_STREAM_LIMITS: StreamLimits = {
  events: 10_000, // a minute of a service at work, for those whose connection broke
  bytes: 8_388_608,
  listeners: 500,
}

/** Of all slots, those that only operators take: an operator has to see what the tenants do. */
const PART_OF_OPERATORS = 0.04

/** Who wants to listen. */
export interface Hearer {
  /** Of whom: `*` is everybody. */
  readonly tenant: string
  readonly isOperator: boolean
}

export interface Listen extends Hearer, Pick<ListenerOptions, 'outlet' | 'isStillAllowed'> {
  readonly filter: EventFilter
  /** The id of the last event that it has heard; absent: what comes from now on. */
  readonly since?: string | undefined
}

/** What the rest of the service tells: an event without its instant, of one tenant or, without one, for everybody. */
export interface Told extends Omit<StreamEvent, 'at'> {
  readonly tenant?: string
}

/**
 * What listening costs is bounded, however many listen: two hundred writes and 1 MiB in a second are shared out among
 * all of them. Where few listen each hears ten times a second, and as much as it can read.
 */
const LEAST_TURN_MS = 100
const MOST_TURN_MS = 1_000
const WRITES_PER_SECOND = 200
const BYTES_PER_SECOND = 1_048_576
const MOST_BYTES = 65_536

export class EventStream implements Alarm {
  dueAt = 0
  slot: number = NOT_ARMED
  readonly #clock: Clock
  readonly #now: () => number
  readonly #limits: StreamLimits
  readonly #feeds: Feeds
  /** For operators who name no tenant. */
  readonly #ofAll: Feed
  /** By tenant, then by what they want to hear. */
  readonly #audiences = new Map<string, Map<string, Audience>>()
  #listeners = 0
  #isClosed = false

  constructor({ clock, now, instance, limits }: EventStreamOptions) {
    this.#clock = clock
    this.#now = now
    this.#limits = { ...DEFAULT_STREAM_LIMITS, ...limits }
    this.#feeds = new Feeds(instance, this.#limits)
    this.#ofAll = this.#feeds.of(EVERY_TENANT)
  }

  /** Tasks change tens of thousands of times a second, mostly unheard: the event is made once somebody keeps it. */
  taskChanged(tenant: string, change: () => TaskChange): void {
    let event: StreamEvent | undefined
    const once = (): StreamEvent => (event ??= taskEvent(change(), this.#now()))
    this.#feeds.append(this.#feeds.of(tenant), once)
    this.#feeds.append(this.#ofAll, once)
  }

  tell({ tenant, data, ...told }: Told): void {
    const event = { ...told, at: this.#now(), data: tenant === undefined ? data : { tenant, ...data } }
    const feeds = tenant === undefined ? [...this.#feeds.all()] : [this.#feeds.of(tenant), this.#ofAll]
    for (const feed of feeds) this.#feeds.append(feed, () => event)
  }

  /** Whether one more may listen. A tenant has no more places than it leaves free: there is room for the next. */
  hasRoom({ tenant, isOperator }: Hearer): boolean {
    if (this.#isClosed) return false
    const free = this.#limits.listeners - this.#listeners
    if (isOperator) return free > 0
    let own = 0
    for (const { listeners } of this.#audiences.get(tenant)?.values() ?? []) own += listeners.size
    return own < free - Math.ceil(PART_OF_OPERATORS * this.#limits.listeners)
  }

  /** From now on, until the function that is returned is called. Undefined when as many listen as may. */
  listen({ tenant, isOperator, filter, since, outlet, isStillAllowed }: Listen): (() => void) | undefined {
    if (!this.hasRoom({ tenant, isOperator })) return undefined
    const feed = this.#feeds.of(tenant)
    this.#feeds.hear(feed)
    const audience = this.#audienceOf(feed, filter)
    const heard = since === undefined ? audience.cursor : feed.numberOf(since)
    const now = this.#clock.monotonic()
    const listener = new Listener({ outlet, cursor: heard ?? audience.cursor, now, isStillAllowed })
    listener.write(Buffer.from(greeting(feed, listener.cursor, heard !== undefined)), now)
    audience.listeners.add(listener)
    if (this.#listeners++ === 0) this.#arm()
    return () => this.#leave(audience, listener)
  }

  /** Who waits for what is looked at once a second. */
  wanting(types: readonly ('counters' | 'destination')[]): readonly Audience[] {
    const all = [...this.#audiences.values()].flatMap(audiences => [...audiences.values()])
    return all.filter(audience => types.some(type => audience.wants(type)))
  }

  ring(): void {
    this.#turn()
    this.#arm()
  }

  /** Everybody hears what has happened so far, and then that this is all. */
  close(): void {
    this.#isClosed = true
    this.#turn()
    for (const audiences of this.#audiences.values())
      for (const { listeners } of audiences.values()) for (const listener of listeners) listener.end()
    this.#clock.disarm(this)
  }

  #turn(): void {
    const share = (BYTES_PER_SECOND * this.#turnMs) / 1_000 / this.#listeners
    const limits = {
      now: this.#clock.monotonic(),
      mostBytes: Math.min(MOST_BYTES, share),
      mostBytesBehind: MOST_BYTES,
    }
    for (const audiences of this.#audiences.values()) for (const audience of audiences.values()) audience.turn(limits)
  }

  #audienceOf(feed: Feed, filter: EventFilter): Audience {
    let audiences = this.#audiences.get(feed.tenant)
    if (audiences === undefined) this.#audiences.set(feed.tenant, (audiences = new Map()))
    const name = nameOf(filter)
    let audience = audiences.get(name)
    if (audience === undefined) audiences.set(name, (audience = new Audience(feed, filter)))
    return audience
  }

  #leave(audience: Audience, listener: Listener): void {
    if (!audience.listeners.delete(listener)) return
    this.#listeners--
    const { tenant } = audience.feed
    if (audience.listeners.size === 0) this.#audiences.get(tenant)?.delete(nameOf(audience.filter))
    if (this.#audiences.get(tenant)?.size === 0) this.#audiences.delete(tenant)
    if (this.#listeners === 0) this.#clock.disarm(this)
  }

  get #turnMs(): number {
    const turnMs = (1_000 * this.#listeners) / WRITES_PER_SECOND
    return Math.min(MOST_TURN_MS, Math.max(LEAST_TURN_MS, turnMs))
  }

  #arm(): void {
    this.dueAt = this.#clock.monotonic() + this.#turnMs
    this.#clock.arm(this)
  }
}

function nameOf({ destination = '', taskId = '', types = [] }: EventFilter): string {
  return JSON.stringify([destination, taskId, types])
}

/** The id comes first of all: whoever breaks off before the first event can still come back without a loss. */
function greeting(feed: Feed, cursor: number, isKnown: boolean): string {
  const gap = isKnown ? '' : gapFrame(feed, cursor, { because: 'restart' })
  return `: listening\nid: ${feed.idOf(cursor)}\n\n${gap}`
}
