import os from 'node:os'
import type { Clock } from '@secondwind/resilience'

/**
 * The clock of a store that has no server to ask: wall time when it was opened, and from then on time that passed. Whoever
 * sets the wall clock changes `skewMs` and nothing else: nothing becomes due in a storm, and nothing is kept waiting.
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

/** What an operator has to know of the two clocks, in a sentence; undefined while they agree. */
export function saySkew(skewMs: number): string | undefined {
  if (Math.abs(skewMs) <= MOST_SKEW_MS) return undefined
  const seconds = Math.round(Math.abs(skewMs) / 1_000)
  const place = skewMs < 0 ? 'behind' : 'ahead of'
  return `the wall clock is ${seconds} s ${place} the store's, by which tasks are dated and due; one of them was wrong when the store was opened: set the wall clock right, and compare instants with clockSkewMs in mind`
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
    return Math.floor(openedAt + (monotonic - monotonicAtOpen) + suspendedMs)
  }
  return { now, skewMs: () => clock.now() - now() }
}
