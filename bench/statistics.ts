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

/** The value that a share of all values does not exceed; `sorted` ascends. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN
}

/** `median` is the ratio of the medians, `min` and `max` are the spread of the ratios within each round. */
export interface Ratio extends Summary {
  /** Best lap ÷ best lap: neighbours can only slow us down, so this is what a quiet machine would come nearest to. */
  readonly best: number
}

/** How many times `theirs` is `ours`. Both have one value per round, in their order. */
export function compare(ours: readonly number[], theirs: readonly number[], moreIsBetter = false): Ratio {
  const [mine, other] = [summarize(ours), summarize(theirs)]
  const { min, max } = summarize(ours.map((value, round) => value / theirs[round]!))
  const best = moreIsBetter ? mine.max / other.max : mine.min / other.min
  return { median: mine.median / other.median, min, max, best }
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
