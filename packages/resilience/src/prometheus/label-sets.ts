import { emptySeries, type Series } from './series.ts'

/** Where names go for which there is no room any more. */
export const OTHER = 'other'

/**
 * The series of every client and op. Their names may come from users: when there is no room for another pair, an op is
 * counted as `other` of its client, and a client that has no op yet as `other` too. So there is at most one `other` more
 * for each client.
 */
export class LabelSets {
  readonly #byClient = new Map<string, Map<string, Series>>()
  readonly #most: number
  #size = 0

  constructor(most: number) {
    this.#most = most
  }

  seriesOf(client: string, op: string): Series {
    const known = this.#byClient.get(client)?.get(op)
    if (known !== undefined) return known
    if (this.#size++ < this.#most) return this.#add(client, op)
    const place = this.#byClient.has(client) ? client : OTHER
    return this.#byClient.get(place)?.get(OTHER) ?? this.#add(place, OTHER)
  }

  all(): Series[] {
    return Array.from(this.#byClient.values(), byOp => [...byOp.values()]).flat()
  }

  clear(): void {
    this.#byClient.clear()
    this.#size = 0
  }

  #add(client: string, op: string): Series {
    const byOp = this.#byClient.get(client) ?? new Map<string, Series>()
    const series = emptySeries({ client, op })
    this.#byClient.set(client, byOp.set(op, series))
    return series
  }
}
