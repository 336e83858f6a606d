import { DEFAULT_LIMITS } from './routes/context.ts'

/** What a lane costs while it is served: its state, its queues, its share, its place in the clock's heap. */
const LANE_BYTES = 4_096

/** Of the heap; the rest is for requests, bodies under way, and lanes that are at rest but not yet forgotten. */
const PART_FOR_LANES = 1 / 4

/** How many lanes may be open at once, that a process with a heap of so many bytes can serve them all. */
export function lanesWithin(heapBytes: number): number {
  return Math.min(DEFAULT_LIMITS.backlog.lanes!, Math.floor((heapBytes * PART_FOR_LANES) / LANE_BYTES))
}
