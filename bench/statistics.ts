export interface Summary {
  readonly median: number
  readonly min: number
  readonly max: number
}

export function summarize(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const median = sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
  return { median, min: sorted[0]!, max: sorted.at(-1)! }
}

/** `median` is the ratio of the medians, `min` and `max` are the spread of the ratios within each lap. */
export interface Ratio extends Summary {
  /** Best lap ÷ best lap: neighbours can only add to a cost, so this is what a quiet machine would come nearest to. */
  readonly best: number
}

/** How many times `theirs` is `ours`. Both have one value per lap, in the order of the laps; less is better. */
export function compare(ours: readonly number[], theirs: readonly number[]): Ratio {
  const [mine, other] = [summarize(ours), summarize(theirs)]
  const { min, max } = summarize(ours.map((value, lap) => value / theirs[lap]!))
  return { median: mine.median / other.median, min, max, best: mine.min / other.min }
}

/** A seeded source of chance (mulberry32), so that the order of a run can be had again. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

export function shuffle<T>(items: readonly T[], random: () => number): T[] {
  const shuffled = [...items]
  for (let last = shuffled.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    ;[shuffled[last], shuffled[other]] = [shuffled[other]!, shuffled[last]!]
  }
  return shuffled
}
