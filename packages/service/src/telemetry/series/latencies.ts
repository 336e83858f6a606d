/**
 * How long calls took, counted in a fixed number of steps: one for each millisecond up to sixteen, then eight for each
 * doubling. What is read from them is at most a sixteenth off, whatever was counted.
 */

/** Beyond the longest attempt there is. */
const LONGEST_MS = 2 ** 19 - 1
const STEPS_PER_DOUBLING = 8
/** 2³ is where a doubling first has eight whole milliseconds. */
const FIRST_DOUBLING = 3

const STEPS = stepOf(LONGEST_MS) + 1

/** So many calls in each step. */
export type Latencies = Uint32Array

export function noLatencies(): Latencies {
  return new Uint32Array(STEPS)
}

export function countLatency(latencies: Latencies, ms: number): void {
  latencies[stepOf(Math.min(LONGEST_MS, Math.max(0, Math.round(ms))))]!++
}

export function addLatencies(sum: Latencies, more: Latencies): void {
  for (let step = 0; step < STEPS; step++) sum[step]! += more[step]!
}

/** The latency that this share of the calls did not exceed; undefined when nobody called. */
export function percentile(latencies: Latencies, share: number): number | undefined {
  let left = Math.ceil(share * latencies.reduce((sum, count) => sum + count, 0))
  if (left === 0) return undefined
  for (let step = 0; step < STEPS; step++) {
    left -= latencies[step]!
    if (left <= 0) return middleOf(step)
  }
  return LONGEST_MS
}

function stepOf(ms: number): number {
  if (ms < STEPS_PER_DOUBLING) return ms
  const doubling = 31 - Math.clz32(ms)
  const within = (ms >> (doubling - FIRST_DOUBLING)) % STEPS_PER_DOUBLING
  return (doubling - FIRST_DOUBLING + 1) * STEPS_PER_DOUBLING + within
}

function middleOf(step: number): number {
  if (step < STEPS_PER_DOUBLING) return step
  const width = 2 ** (Math.floor(step / STEPS_PER_DOUBLING) - 1)
  const lowest = (STEPS_PER_DOUBLING + (step % STEPS_PER_DOUBLING)) * width
  return Math.round(lowest + (width - 1) / 2)
}
