import type { Clock } from './ports/clock.ts'
import type { Random } from './ports/random.ts'

/**
 * One shape for every gate, so that whoever makes several can hand the same to each. A bulkhead needs no clock of its
 * own, and only a throttle and a limiter draw.
 */
export interface GateOptions {
  /** What its refusals call it. */
  readonly name?: string
  readonly clock?: Clock
  readonly random?: Random
}
