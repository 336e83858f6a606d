import type { Slot } from './slot.ts'

/** The latest slots of one length, the oldest overwritten by the newest. */
export interface Ring {
  readonly slotMs: number
  /** So many are kept. */
  readonly size: number
  /** The number of the newest that was written: since the epoch, in slots. */
  newest: number
  /** Absent until there is something to keep. */
  values: Uint32Array | undefined
}

/** Slots by number, from `from` until before `to`. */
export interface SlotRange {
  readonly from: number
  readonly to: number
}

export type AttemptCounts = Pick<Slot, 'first' | 'retry'>

/** A slot in a ring: seven numbers. */
const WIDTH = 7
/** No latency is that long. */
const NONE = 2 ** 32 - 1

export function emptyRing(slotMs: number, size: number): Ring {
  return { slotMs, size, newest: -Infinity, values: undefined }
}

/** Slots come in order; those in between had nothing. */
export function writeSlot(ring: Ring, number: number, slot: Slot): void {
  ring.values ??= new Uint32Array(ring.size * WIDTH)
  const firstEmpty = Math.max(ring.newest + 1, number - ring.size + 1)
  for (let empty = firstEmpty; empty < number; empty++) ring.values.set(EMPTY, placeOf(ring, empty))
  ring.values.set(valuesOf(slot), placeOf(ring, number))
  ring.newest = number
}

export function readSlot({ values, newest, size }: Ring, number: number): Slot {
  if (values === undefined || number > newest || number <= newest - size) return slotOf(EMPTY)
  const place = (number % size) * WIDTH
  return slotOf(values.subarray(place, place + WIDTH))
}

/** How many attempts ended in these slots; no slot is built for each, since a page asks this of every destination. */
export function attemptsIn({ values, newest, size }: Ring, range: SlotRange): AttemptCounts {
  const counts = { first: 0, retry: 0 }
  if (values === undefined) return counts
  const to = Math.min(range.to, newest + 1)
  for (let number = Math.max(range.from, newest - size + 1); number < to; number++) {
    const place = (number % size) * WIDTH
    counts.first += values[place]!
    counts.retry += values[place + 1]!
  }
  return counts
}

function placeOf({ size }: Ring, number: number): number {
  return (number % size) * WIDTH
}

const EMPTY = [0, 0, 0, 0, 0, NONE, NONE]

function valuesOf({ first, retry, succeeded, failed, held, latencyMs }: Slot): number[] {
  return [first, retry, succeeded, failed, held, latencyMs?.p50 ?? NONE, latencyMs?.p99 ?? NONE]
}

function slotOf(values: ArrayLike<number>): Slot {
  const [first, retry, succeeded, failed, held, p50, p99] = Array.from(values) as [...Counts, number, number]
  return { first, retry, succeeded, failed, held, ...(p50 !== NONE && { latencyMs: { p50, p99 } }) }
}

type Counts = [first: number, retry: number, succeeded: number, failed: number, held: number]
