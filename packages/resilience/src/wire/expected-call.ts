/** The newest durations show how things are; more of them would only remember how they were. */
const KEPT_DURATIONS = 64

/** Fewer are no custom: the first call of all pays for name, connection and cold caches. */
const FEWEST_DURATIONS = 5

/** More origins than a program usually calls; those not called for longest are forgotten. */
const KEPT_ORIGINS = 256

/** How long calls to each origin usually take: the median of its latest successes. */
export class ExpectedCalls {
  readonly #durationsOf = new Map<string, RecentDurations>()

  /** 0 when too little is known. */
  expectedMs(origin: string): number {
    return this.#durationsOf.get(origin)?.medianMs ?? 0
  }

  add(origin: string, durationMs: number): void {
    const durations = this.#durationsOf.get(origin) ?? new RecentDurations()
    durations.add(durationMs)
    // A map keeps the order of insertion: taken out and put back, the origin is the newest.
    this.#durationsOf.delete(origin)
    this.#durationsOf.set(origin, durations)
    if (this.#durationsOf.size > KEPT_ORIGINS) this.#durationsOf.delete(this.#durationsOf.keys().next().value!)
  }
}

/** The latest durations twice: in order of arrival, to know which leaves; in order of size, to read the middle. */
class RecentDurations {
  readonly #arrived: number[] = []
  readonly #sorted: number[] = []
  #oldest = 0

  get medianMs(): number {
    const sorted = this.#sorted
    if (sorted.length < FEWEST_DURATIONS) return 0
    const middle = sorted.length >> 1
    return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
  }

  add(durationMs: number): void {
    if (this.#arrived.length === KEPT_DURATIONS)
      this.#sorted.splice(this.#sorted.indexOf(this.#arrived[this.#oldest]!), 1)
    this.#arrived[this.#oldest] = durationMs
    this.#oldest = (this.#oldest + 1) % KEPT_DURATIONS
    const larger = this.#sorted.findIndex(known => known > durationMs)
    this.#sorted.splice(larger < 0 ? this.#sorted.length : larger, 0, durationMs)
  }
}
