/** Twice as many every two seconds: from one to a hundred in a quarter of a minute, and each step is a small one. */
const DOUBLING_MS = 2_000

/** More than any limit; and far from what a number cannot hold. */
const MOST = 2 ** 30

/** How many may be under way in a lane that began again with one at `since`. Time alone makes it grow. */
export function rampLimit(since: number, now: number): number {
  return Math.floor(Math.min(MOST, 2 ** (Math.max(0, now - since) / DOUBLING_MS)))
}

/** The first instant at which so many may be under way. */
export function rampReaches(count: number, since: number): number {
  return since + Math.ceil(DOUBLING_MS * Math.log2(Math.max(1, count)) - EPSILON)
}

/** Three doublings are a little more than six seconds. */
const EPSILON = 1e-6
