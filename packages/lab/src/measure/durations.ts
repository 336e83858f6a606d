/**
 * Durations, counted in buckets that are less than one per cent wide: a percentile is right to within half of that, whatever the
 * number of samples; mean, variance and the longest are exact.
 */
export class Durations {
  count = 0
  longestMs = 0
  #mean = 0
  #squares = 0
  #buckets = new Uint32Array(64)

  add(ms: number): void {
    this.count++
    // Welford, 1962: the variance without the difference of two large numbers.
    const step = ms - this.#mean
    this.#mean += step / this.count
    this.#squares += step * (ms - this.#mean)
    if (ms > this.longestMs) this.longestMs = ms
    const bucket = bucketOf(ms)
    if (bucket >= this.#buckets.length) this.#grow(bucket)
    this.#buckets[bucket]!++
  }

  get meanMs(): number {
    return this.#mean
  }

  get variance(): number {
    return this.count < 2 ? 0 : this.#squares / (this.count - 1)
  }

  /** So many in a hundred did not take longer; 0 when there are none. */
  percentileMs(percentile: number): number {
    const rank = Math.max(1, Math.ceil((percentile / 100) * this.count))
    let seen = 0
    for (let bucket = 0; bucket < this.#buckets.length; bucket++) {
      seen += this.#buckets[bucket]!
      if (seen >= rank) return Math.min(this.longestMs, middleOf(bucket))
    }
    return 0
  }

  /** The share that took no longer than each duration, where it changes. */
  distribution(): readonly { readonly ms: number; readonly share: number }[] {
    let seen = 0
    return [...this.#buckets].flatMap((count, bucket) => {
      seen += count
      return count === 0 ? [] : [{ ms: Math.min(this.longestMs, middleOf(bucket)), share: seen / this.count }]
    })
  }

  #grow(bucket: number): void {
    const buckets = new Uint32Array(Math.max(bucket + 1, 2 * this.#buckets.length))
    buckets.set(this.#buckets)
    this.#buckets = buckets
  }
}

/** Below a microsecond all is one bucket: nobody waits for less. */
const SHORTEST_EXPONENT = -10
/** Steps from one power of two to the next. */
const STEPS = 128

const NUMBER = new Float64Array(1)
const HALVES = new Uint32Array(NUMBER.buffer)
/** The half that holds sign, exponent and the first 20 digits: the second one on every machine of today. */
const UPPER = new Uint8Array(Float64Array.of(1).buffer)[7] === 0 ? 0 : 1
const BIAS = 1_023

/** Read off the number as it is written in memory: its exponent, and the first seven digits after the leading one. */
function bucketOf(ms: number): number {
  NUMBER[0] = ms
  const place = (HALVES[UPPER]! >>> 13) - (BIAS + SHORTEST_EXPONENT) * STEPS
  return place < 0 ? 0 : place + 1
}

function middleOf(bucket: number): number {
  if (bucket === 0) return 0
  const place = bucket - 1
  return 2 ** (Math.floor(place / STEPS) + SHORTEST_EXPONENT) * (1 + ((place % STEPS) + 0.5) / STEPS)
}
