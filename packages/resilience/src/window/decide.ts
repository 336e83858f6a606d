/**
 * Counts over a sliding window, one per column: calls and retries for a budget, calls and failures for a breaker.
 * The window is cut into slices that are forgotten one by one; after a long silence all of them are, by elapsed time
 * and not by the number of times that somebody looked.
 *
 * The counts are changed in place: they are written at every call.
 */
export interface WindowCounts {
  readonly sliceMs: number
  readonly slices: readonly number[][]
  /** The sum of each column over all slices. */
  readonly sums: number[]
  /** The slice now being filled, and when it ends. */
  current: number
  endsAt: number
}

/** Finer than a tenth nobody sees; coarser, and a burst is forgotten all at once. */
const SLICES = 10

export function emptyWindow(windowMs: number, columns: number, now: number): WindowCounts {
  const zeros = (): number[] => Array.from({ length: columns }, () => 0)
  // Whole milliseconds, as all instants are: a sum of fractions would miss the very instant that was named.
  const sliceMs = Math.floor(windowMs / SLICES)
  return { sliceMs, slices: Array.from({ length: SLICES }, zeros), sums: zeros(), current: 0, endsAt: now + sliceMs }
}

export function count(window: WindowCounts, column: number, now: number): void {
  if (now >= window.endsAt) forgetOld(window, now)
  window.slices[window.current]![column]!++
  window.sums[column]!++
}

/** What was counted at that instant did not happen; what has left the window is forgotten anyway. */
export function uncount(window: WindowCounts, column: number, countedAt: number, now: number): void {
  forgetOld(window, now)
  const back = Math.max(0, Math.ceil((window.endsAt - countedAt) / window.sliceMs) - 1)
  if (back >= SLICES) return
  window.slices[(window.current + SLICES - back) % SLICES]![column]!--
  window.sums[column]!--
}

/** Drops the slices that have left the window. To be called before the sums are read. */
export function forgetOld(window: WindowCounts, now: number): void {
  if (now < window.endsAt) return
  const ended = 1 + Math.floor((now - window.endsAt) / window.sliceMs)
  for (let n = Math.min(ended, SLICES); n > 0; n--) {
    window.current = (window.current + 1) % SLICES
    const slice = window.slices[window.current]!
    for (let column = 0; column < slice.length; column++) {
      window.sums[column]! -= slice[column]!
      slice[column] = 0
    }
  }
  window.endsAt += ended * window.sliceMs
}

/** When slices end from now on: only then do sums shrink by themselves. */
export function sliceEnds({ endsAt, sliceMs }: WindowCounts): number[] {
  return Array.from({ length: SLICES }, (_, ended) => endsAt + ended * sliceMs)
}

/** The sums at a later instant, if nothing is counted until then. */
export function sumsAt({ slices, sums, current, endsAt, sliceMs }: WindowCounts, at: number): number[] {
  const ended = at < endsAt ? 0 : Math.min(SLICES, 1 + Math.floor((at - endsAt) / sliceMs))
  const dropped = Array.from({ length: ended }, (_, n) => slices[(current + 1 + n) % SLICES]!)
  return sums.map((sum, column) => dropped.reduce((left, slice) => left - slice[column]!, sum))
}
