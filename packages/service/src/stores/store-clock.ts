import os from 'node:os'
import type { Clock } from '@secondwind/resilience'

/**
 * The clock of a store that has no server to ask: wall time when it was opened, and from then on time that passed.
 *
 *  1. It never runs back, and never leaps: whoever sets the wall clock makes nothing due in a storm.
 *  2. Ahead of the wall clock it goes at half speed until the two have met. A wall clock that was wrong once, at a start,
 *     would else leave all instants wrong for ever.
 *  3. Behind the wall clock it stays: what it would leap over might be the time that a task had left.
 */
export interface StoreClock {
  /** In whole ms since the epoch; never runs back. */
  now(): number
  /** How far the wall clock has gone from it. */
  skewMs(): number
}

export interface StoreClockOptions {
  readonly clock: Pick<Clock, 'now' | 'monotonic'>
  /** Time since the machine was started, suspends included; left out, suspends go unseen. */
  readonly bootMs?: () => number
  /** The last instant that an earlier process wrote: a wall clock that was set back meanwhile does not reach behind it. */
  readonly lastWrittenAt?: number
}

/** Clocks that nobody set differ by less. */
const MOST_SKEW_MS = 60_000

/** The store's clock is well ahead: by what it says, things look older than they are. */
export function isFarAhead(skewMs: number): boolean {
  return skewMs < -MOST_SKEW_MS
}

/** Less is the way of an answer, and the reading of two clocks one after the other. */
const LEAST_SKEW_MS = 1_000

/** One instant on the store's clock and on the wall clock. */
export interface BothClocks {
  readonly now: number
  readonly wallNow: number
}

/** What the store's clock will say when the wall clock shows `wallAt`, if nobody sets it until then. */
export function storeTimeAt(wallAt: number, { now, wallNow }: BothClocks): number {
  if (Math.abs(wallNow - now) < LEAST_SKEW_MS) return wallAt
  const inMs = wallAt - wallNow
  if (now < wallNow || inMs < 0) return now + inMs
  return Math.max(wallAt, now + inMs / 2)
}

/** What an operator has to know of the two clocks, in a sentence; undefined while they agree. */
export function saySkew(skewMs: number): string | undefined {
  if (Math.abs(skewMs) <= MOST_SKEW_MS) return undefined
  const seconds = Math.round(Math.abs(skewMs) / 1_000)
  const place = skewMs < 0 ? 'behind' : 'ahead of'
  const next =
    skewMs < 0
      ? 'if the wall clock is right, the store goes at half speed until they meet, and sweeps nothing before'
      : 'if the wall clock is right, start the service again'
  return `the wall clock is ${seconds} s ${place} the store's, by which tasks are dated and due; ${next}`
}

/** Where the machine itself says so; coarse, and read from a file on Linux, so that it is asked seldom. */
export function uptimeMs(): number {
  return os.uptime() * 1_000
}

/** Shorter ones cannot be told from a coarse reading; they add up until they can. */
const SHORTEST_SUSPEND_MS = 1_000

export function createStoreClock({
  clock,
  bootMs = () => clock.monotonic(),
  lastWrittenAt = -Infinity,
}: StoreClockOptions): StoreClock {
  const openedAt = Math.max(clock.now(), lastWrittenAt)
  const monotonicAtOpen = clock.monotonic()
  const bootAtOpen = bootMs()
  let suspendedMs = 0
  /** What passed until the last look, and what of it was left out at half speed. */
  let passedMs = 0
  let heldBackMs = 0
  let lastLeadMs = clock.now() - monotonicAtOpen

  /** After a suspend the wall clock is ahead of elapsed time; so it is after a step, and only the machine knows which. */
  const lookForSuspend = (monotonic: number): void => {
    const leadMs = clock.now() - monotonic
    if (Math.abs(leadMs - lastLeadMs) < SHORTEST_SUSPEND_MS) return
    lastLeadMs = leadMs
    const missedMs = bootMs() - bootAtOpen - (monotonic - monotonicAtOpen)
    if (missedMs - suspendedMs >= SHORTEST_SUSPEND_MS) suspendedMs = missedMs
  }

  const now = (): number => {
    const monotonic = clock.monotonic()
    lookForSuspend(monotonic)
    const sinceLookMs = monotonic - monotonicAtOpen + suspendedMs - passedMs
    passedMs += sinceLookMs
    const aheadMs = openedAt + passedMs - heldBackMs - clock.now()
    if (aheadMs > 0) heldBackMs += Math.min(aheadMs, sinceLookMs / 2)
    return Math.floor(openedAt + passedMs - heldBackMs)
  }
  return { now, skewMs: () => clock.now() - now() }
}
