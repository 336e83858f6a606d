import { addLatencies, countLatency, noLatencies, percentile, type Latencies } from './latencies.ts'
import { attemptsIn, emptyRing, readSlot, writeSlot, type AttemptCounts, type Ring, type SlotRange } from './ring.ts'
import type { Slot } from './slot.ts'

/**
 * What was sent to a destination, second by second for a quarter of an hour and minute by minute for a day.
 *
 * The slots that are over are numbers alone: 900 and 1 440 of 28 bytes, some 64 KiB in all. Latencies are counted for
 * the second and the minute under way, and become two percentiles when these end.
 */
export interface Series {
  readonly seconds: Ring
  readonly minutes: Ring
  /** The number of the second under way. */
  second: number
  readonly ofSecond: Tally
  readonly ofMinute: Tally
}

/** A slot that is not over. */
interface Tally {
  first: number
  retry: number
  succeeded: number
  failed: number
  held: number
  readonly latencies: Latencies
}

export interface Call {
  readonly isFirst: boolean
  readonly isSuccess: boolean
  /** Absent when nobody saw its end. */
  readonly durationMs: number | undefined
}

export type Resolution = keyof typeof SLOT_MS

export const RESOLUTIONS: readonly Resolution[] = ['second', 'minute']

/** How long a slot is, and how many are kept. */
export const SLOT_MS = { second: 1_000, minute: 60_000 } as const
export const SLOTS = { second: 900, minute: 1_440 } as const

export function newSeries(now: number): Series {
  return {
    seconds: emptyRing(SLOT_MS.second, SLOTS.second),
    minutes: emptyRing(SLOT_MS.minute, SLOTS.minute),
    second: Math.floor(now / SLOT_MS.second),
    ofSecond: newTally(),
    ofMinute: newTally(),
  }
}

export function countCall(series: Series, { isFirst, isSuccess, durationMs }: Call, now: number): void {
  advance(series, now)
  const { ofSecond } = series
  if (isFirst) ofSecond.first++
  else ofSecond.retry++
  if (isSuccess) ofSecond.succeeded++
  else ofSecond.failed++
  if (durationMs !== undefined) countLatency(ofSecond.latencies, durationMs)
}

export function noteHeld(series: Series, held: number, now: number): void {
  advance(series, now)
  series.ofSecond.held = Math.max(series.ofSecond.held, held)
}

/** The slots of a resolution that are over, from the number `from` until before `to`. */
export function slotsOf(series: Series, resolution: Resolution, range: SlotRange, now: number): Slot[] {
  advance(series, now)
  const ring = resolution === 'second' ? series.seconds : series.minutes
  return Array.from({ length: Math.max(0, range.to - range.from) }, (_, place) => readSlot(ring, range.from + place))
}

/** The attempts that ended in the last so many milliseconds, to the second, and in the second under way. */
export function attemptsWithin(series: Series, windowMs: number, now: number): AttemptCounts {
  advance(series, now)
  const { seconds, second, ofSecond } = series
  const over = attemptsIn(seconds, { from: second - Math.floor(windowMs / SLOT_MS.second), to: second })
  return { first: over.first + ofSecond.first, retry: over.retry + ofSecond.retry }
}

/** Closes what is over by now. A clock that stands still, or was behind, adds to the second under way. */
function advance(series: Series, now: number): void {
  const second = Math.floor(now / SLOT_MS.second)
  if (second <= series.second) return
  const { ofSecond, ofMinute } = series
  if (!isEmpty(ofSecond)) {
    writeSlot(series.seconds, series.second, slotOf(ofSecond))
    merge(ofMinute, ofSecond)
    clear(ofSecond)
  }
  const minute = minuteOf(series.second)
  if (minute !== minuteOf(second) && !isEmpty(ofMinute)) {
    writeSlot(series.minutes, minute, slotOf(ofMinute))
    clear(ofMinute)
  }
  series.second = second
}

function minuteOf(second: number): number {
  return Math.floor((second * SLOT_MS.second) / SLOT_MS.minute)
}

function newTally(): Tally {
  return { first: 0, retry: 0, succeeded: 0, failed: 0, held: 0, latencies: noLatencies() }
}

function isEmpty({ first, retry, held }: Tally): boolean {
  return first === 0 && retry === 0 && held === 0
}

function merge(sum: Tally, more: Tally): void {
  sum.first += more.first
  sum.retry += more.retry
  sum.succeeded += more.succeeded
  sum.failed += more.failed
  sum.held = Math.max(sum.held, more.held)
  addLatencies(sum.latencies, more.latencies)
}

function clear(tally: Tally): void {
  tally.latencies.fill(0)
  Object.assign(tally, { first: 0, retry: 0, succeeded: 0, failed: 0, held: 0 })
}

function slotOf({ latencies, ...counts }: Tally): Slot {
  const p50 = percentile(latencies, 0.5)
  const p99 = percentile(latencies, 0.99)
  return { ...counts, ...(p50 !== undefined && p99 !== undefined && { latencyMs: { p50, p99 } }) }
}
