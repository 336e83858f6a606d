import type { RatePoint } from '../scenario/scenario.ts'

/** A load that changes: straight lines between points; before the first and after the last it stays as it is. */
export class RateCurve {
  readonly #atMs: readonly number[]
  readonly #perMs: readonly number[]

  constructor(points: readonly RatePoint[]) {
    this.#atMs = points.map(({ atMs }) => atMs)
    this.#perMs = points.map(({ perSecond }) => perSecond / 1_000)
  }

  /** The instant by which `area` arrivals are to be expected after `from`; infinity when there will never be so many. */
  after(from: number, area: number): number {
    // The usual case: a load that does not change.
    if (this.#atMs.length === 1) return from + area / this.#perMs[0]!
    let [now, left] = [from, area]
    // Ends: each round leaves one point behind.
    for (;;) {
      const end = this.#atMs.find(at => at > now) ?? Infinity
      const rate = this.#rateAt(now)
      const slope = end === Infinity ? 0 : (this.#rateBefore(end) - rate) / (end - now)
      const available = end === Infinity ? Infinity : (end - now) * (rate + (slope * (end - now)) / 2)
      if (available >= left && (rate > 0 || slope > 0)) return now + waitFor(left, rate, slope)
      if (end === Infinity) return Infinity
      left -= available
      now = end
    }
  }

  /** At an instant with two points the load jumps: to the later of them. */
  #rateAt(now: number): number {
    const next = this.#atMs.findIndex(at => at > now)
    if (next === 0) return this.#perMs[0]!
    if (next < 0) return this.#perMs.at(-1)!
    const [fromAt, toAt] = [this.#atMs[next - 1]!, this.#atMs[next]!]
    const share = (now - fromAt) / (toAt - fromAt)
    return this.#perMs[next - 1]! + share * (this.#perMs[next]! - this.#perMs[next - 1]!)
  }

  #rateBefore(end: number): number {
    return this.#perMs[this.#atMs.indexOf(end)]!
  }
}

/** How long until `area` has passed under a line that begins at `rate`: the root of its parabola, without cancellation. */
function waitFor(area: number, rate: number, slope: number): number {
  return (2 * area) / (rate + Math.sqrt(Math.max(0, rate * rate + 2 * slope * area)))
}
