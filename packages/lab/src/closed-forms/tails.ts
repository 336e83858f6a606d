/**
 * Latencies by their survival functions: `survival(ms)` is the share of calls that take longer. Independent calls
 * multiply, which is all the algebra that hedging and fan-out need (J. Dean and L. A. Barroso, The Tail at Scale, 2013).
 */

export type Survival = (ms: number) => number

/** Hedges per call when a second call follows after `delayMs` without an answer: 1 − F(d). */
export function hedgeShare(survival: Survival, delayMs: number): number {
  return survival(delayMs)
}

/** The faster of a call and its hedge, sent `delayMs` later to an independent replica. */
export function hedged(survival: Survival, delayMs: number): Survival {
  return ms => survival(ms) * (ms > delayMs ? survival(ms - delayMs) : 1)
}

/** The slowest of so many independent calls. */
export function fannedOut(survival: Survival, calls: number): Survival {
  return ms => anyOf(survival(ms), calls)
}

/** At least one of so many independent chances: 1 − (1 − p)^n, exact also where p is tiny. */
export function anyOf(probability: number, count: number): number {
  if (count === 0) return 0
  return -Math.expm1(count * Math.log1p(-probability))
}

/** The exponential latency of M/M/1 and of many a model. */
export function exponential(meanMs: number): Survival {
  return ms => Math.exp(-Math.max(0, ms) / meanMs)
}

/** Halvings of the search: after so many a double has no digits left. */
const HALVINGS = 200

/** The time within which this share of calls has its answer; undefined if it is more than `withinMs`. */
export function quantileMs(survival: Survival, share: number, withinMs: number): number | undefined {
  const isReached = (ms: number): boolean => survival(ms) <= 1 - share
  if (!isReached(withinMs)) return undefined
  let [tooEarly, reached] = [0, withinMs]
  for (let halving = 0; halving < HALVINGS; halving++) {
    const middle = (tooEarly + reached) / 2
    if (isReached(middle)) reached = middle
    else tooEarly = middle
  }
  return reached
}
