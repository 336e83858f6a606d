import { excerptOf, skipped, type Excerpt } from './excerpt.ts'
import type { Feed } from './feed.ts'
import type { Listener } from './listener.ts'
import { frameOf, type EventFilter } from './stream-event.ts'

/** What each listener may be sent in one turn. */
export interface TurnLimits {
  readonly now: number
  readonly mostBytes: number
  /** Of somebody who comes back, and has to catch up. */
  readonly mostBytesBehind: number
}

/** Events of its tenant: an audience that is so far behind is told what is new instead, and that it missed something. */
const MOST_BEHIND = 5_000

/** Those who want to hear the same: what they are sent is put together once, and is the same bytes for all. */
export class Audience {
  readonly feed: Feed
  readonly filter: EventFilter
  readonly listeners: Set<Listener> = new Set()
  /** The number up to which those have heard who are not behind. */
  cursor: number
  #counters: object | undefined

  constructor(feed: Feed, filter: EventFilter) {
    this.feed = feed
    this.filter = filter
    this.cursor = feed.newest
  }

  wants(type: 'counters' | 'destination'): boolean {
    const { types, taskId } = this.filter
    return types === undefined ? taskId === undefined : types.includes(type)
  }

  /** Everybody hears on. */
  turn(limits: TurnLimits): void {
    const heardBefore = this.cursor
    const next = this.#next(limits.mostBytes)
    // For those alone who are not behind: its id says that they have heard everything before it.
    const bytes = bytesOf(this.#takeCounters(heardBefore) + next.text)
    this.cursor = next.cursor
    for (const listener of this.listeners)
      if (listener.isStalled(limits.now)) listener.cut()
      else this.#hear(listener, listener.cursor === heardBefore ? { ...next, bytes } : undefined, limits)
  }

  /** They are sent with the next turn, and only the newest: a write of their own would cost as much as the turn. */
  tellCounters(counters: object): void {
    this.#counters = counters
  }

  #next(mostBytes: number): Excerpt {
    const { feed, filter } = this
    const to = feed.newest
    const next = excerptOf(feed, filter, { from: this.cursor, to }, mostBytes)
    if (to - next.cursor <= MOST_BEHIND) return next
    const { text, cursor } = skipped(feed, filter, { from: next.cursor, to })
    return { text: next.text + text, cursor }
  }

  #takeCounters(heard: number): string {
    const counters = this.#counters
    this.#counters = undefined
    return counters === undefined ? '' : frameOf('counters', this.feed.idOf(heard), counters)
  }

  #hear(listener: Listener, common: Part | undefined, { now, mostBytesBehind }: TurnLimits): void {
    listener.checkLeave(now)
    if (listener.isFull) return
    const { bytes, cursor } = common ?? this.#own(listener, mostBytesBehind)
    listener.cursor = cursor
    if (bytes !== undefined) listener.write(bytes, now)
    // With an id: whoever hears little would else come back with one that is long forgotten.
    else if (listener.isSilent(now)) listener.write(Buffer.from(`: still here\nid: ${this.feed.idOf(cursor)}\n\n`), now)
  }

  /** For one who is behind, up to where the others are: from there on they hear together. */
  #own({ cursor: from }: Listener, mostBytes: number): Part {
    const { text, cursor } = excerptOf(this.feed, this.filter, { from, to: this.cursor }, mostBytes)
    return { bytes: bytesOf(text), cursor }
  }
}

interface Part {
  readonly bytes: Uint8Array | undefined
  readonly cursor: number
}

function bytesOf(text: string): Uint8Array | undefined {
  return text === '' ? undefined : Buffer.from(text)
}
