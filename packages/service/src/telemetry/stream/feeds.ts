import { Feed } from './feed.ts'
import type { StreamEvent } from './stream-event.ts'

export interface FeedLimits {
  /** Kept at once, over all tenants. */
  readonly events: number
  readonly bytes: number
}

/**
 * The latest events of this process: so many in all. Each tenant that was ever listened for has an equal share of the room, and
 * whatever others leave: where something has to be forgotten, it is of one that has more than its share. Tenants are made by
 * operators, and few.
 */
export class Feeds {
  readonly #instance: string
  readonly #limits: FeedLimits
  readonly #byTenant = new Map<string, Feed>()
  readonly #heard = new Set<Feed>()
  /** One that had more than its share when somebody last looked. */
  #largest: Feed | undefined
  #events = 0
  #bytes = 0

  constructor(instance: string, limits: FeedLimits) {
    this.#instance = instance
    this.#limits = limits
  }

  of(tenant: string): Feed {
    let feed = this.#byTenant.get(tenant)
    if (feed === undefined) this.#byTenant.set(tenant, (feed = new Feed(tenant, this.#instance)))
    return feed
  }

  all(): Iterable<Feed> {
    return this.#byTenant.values()
  }

  /** Somebody listens: from now on there is an id to come back with, and something is kept. */
  hear(feed: Feed): void {
    this.#heard.add(feed)
  }

  /** Of what nobody has ever listened for only the number is kept. */
  append(feed: Feed, event: () => StreamEvent): void {
    if (!this.#heard.has(feed)) return void feed.newest++
    this.#events++
    this.#bytes += feed.append(event())
    while (this.#hasTooMany || this.#hasTooMuch) {
      const largest = this.#whoGivesWay(feed)
      this.#bytes -= largest.forgetOldest()
      this.#events--
    }
  }

  get #hasTooMany(): boolean {
    return this.#events > this.#limits.events
  }

  get #hasTooMuch(): boolean {
    return this.#bytes > this.#limits.bytes
  }

  /** Nearly always the one that has just grown, or the same as last time: only then the others are looked at. */
  #whoGivesWay(grown: Feed): Feed {
    if (this.#hasMoreThanItsShare(grown)) return grown
    if (this.#largest === undefined || !this.#hasMoreThanItsShare(this.#largest))
      this.#largest = [...this.#heard].find(feed => this.#hasMoreThanItsShare(feed))!
    return this.#largest
  }

  /** Of what there is too much of. All together have more than all shares, so that there is always one. */
  #hasMoreThanItsShare({ events, bytes }: Feed): boolean {
    const shares = this.#heard.size
    return (
      (this.#hasTooMany && events * shares > this.#limits.events) ||
      (this.#hasTooMuch && bytes * shares > this.#limits.bytes)
    )
  }
}
