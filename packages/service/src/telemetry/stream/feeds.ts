import { Deque } from './deque.ts'
import { Feed } from './feed.ts'
import type { StreamEvent } from './stream-event.ts'

export interface FeedLimits {
  /** Kept at once, over all tenants. */
  readonly events: number
  readonly bytes: number
}

/** The latest events of this process: so many in all, whoever's they are. Tenants are made by operators, and few. */
export class Feeds {
  readonly #instance: string
  readonly #limits: FeedLimits
  readonly #byTenant = new Map<string, Feed>()
  /** Whose each of them is, in the order in which they came: the oldest of all is the oldest of its feed. */
  readonly #order = new Deque<Feed>()
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

  append(feed: Feed, event: StreamEvent): void {
    if (!feed.isHeard) return void feed.newest++
    this.#bytes += feed.append(event)
    this.#order.push(feed)
    while (this.#order.size > this.#limits.events || this.#bytes > this.#limits.bytes)
      this.#bytes -= this.#order.shift().forgetOldest()
  }
}
