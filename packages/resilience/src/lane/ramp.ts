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

/** A way back that somebody has ordered. */
export interface Ramp {
  readonly since: number
  /** The whole limit is there after so long; absent: it doubles at its usual pace. */
  readonly rampMs?: number
}

/** The part of a limit that a ramp gives now: from one on, by equal factors in equal times. */
export function limitUnder(ramp: Ramp, limit: number, now: number): number {
  const { since, rampMs } = ramp
  if (rampMs === undefined) return Math.min(limit, rampLimit(since, now))
  if (now >= since + rampMs) return limit
  const least = Math.max(1, Math.floor(limit ** (Math.max(0, now - since) / rampMs)))
  // A power may round to just below its whole number: the instant that was named for it decides.
  return reachesUnder(ramp, least + 1, limit) <= now ? least + 1 : least
}

/** The first instant at which a ramp gives so many of a limit. */
export function reachesUnder({ since, rampMs }: Ramp, count: number, limit: number): number {
  if (rampMs === undefined) return rampReaches(count, since)
  if (count >= limit) return since + rampMs
  return since + Math.ceil((rampMs * Math.log2(Math.max(1, count))) / Math.log2(limit) - EPSILON)
}
