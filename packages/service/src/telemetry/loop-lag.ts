import { NOT_ARMED, type Alarm, type Clock } from '@secondwind/resilience'

/** How late the event loop is. Leases run out behind a loop that stands still, so it is watched like a destination. */
export interface LoopLag {
  /** The longest since it was asked before, in ms. */
  takeLongestMs(): number
  stop(): void
}

/** Often enough to meet every stall that could cost a lease, seldom enough to cost nothing. */
const EVERY_MS = 500

export function watchLoopLag(clock: Clock): LoopLag {
  return new LagWatch(clock)
}

class LagWatch implements LoopLag, Alarm {
  dueAt = 0
  slot: number = NOT_ARMED
  readonly #clock: Clock
  #longestMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
    this.#arm()
  }

  ring(): void {
    this.#longestMs = Math.max(this.#longestMs, this.#clock.monotonic() - this.dueAt)
    this.#arm()
  }

  takeLongestMs(): number {
    const longestMs = this.#longestMs
    this.#longestMs = 0
    return longestMs
  }

  stop(): void {
    this.#clock.disarm(this)
  }

  #arm(): void {
    this.dueAt = this.#clock.monotonic() + EVERY_MS
    this.#clock.arm(this)
  }
}
