import type { Clock } from '@secondwind/resilience'

/** A moment on both clocks of this machine, to measure a lease from. */
export interface Mark {
  readonly elapsedAt: number
  readonly wallAt: number
}

/** A jump that waits must be reckoned anew for; what is smaller is the way of an answer. */
const JUMP_MS = 100

/**
 * What time it is in the store, whose clock alone says what is due. Between its answers we count elapsed time, and an
 * answer corrects the count only as far as it proves it wrong: it was given somewhere between the ask and its arrival.
 */
export class StoreTime {
  readonly #clock: Clock
  /** The store's clock at an instant of our elapsed one. */
  #store: number
  #storeAt: number
  /** The same for what we call now. */
  #now = -Infinity
  #nowAt: number
  #isHeard = false

  constructor(clock: Clock) {
    this.#clock = clock
    this.#store = clock.now()
    this.#storeAt = this.#nowAt = clock.monotonic()
  }

  /** An answer to what was asked at `askedAt` carried this instant. True when the store's time is not what we thought. */
  hear(storeNow: number, askedAt: number): boolean {
    const at = this.#clock.monotonic()
    const thought = this.#store + (at - this.#storeAt)
    const latest = storeNow + (at - askedAt)
    const known = this.#isHeard ? Math.min(Math.max(thought, storeNow), latest) : storeNow
    this.#isHeard = true
    this.#store = known
    this.#storeAt = at
    return Math.abs(known - thought) > JUMP_MS
  }

  /** The store's clock, as far as we know: for what is due. It may step back when the store's does. */
  storeNow(): number {
    return this.#store + (this.#clock.monotonic() - this.#storeAt)
  }

  /** Never runs back: if the store's clock falls behind, it goes on at half speed until met. For decisions and gates. */
  now(): number {
    const at = this.#clock.monotonic()
    const store = this.#store + (at - this.#storeAt)
    this.#now = Math.max(store, this.#now + (at - this.#nowAt) / 2)
    this.#nowAt = at
    return Math.floor(this.#now)
  }

  mark(): Mark {
    return { elapsedAt: this.#clock.monotonic(), wallAt: this.#clock.now() }
  }

  /** The larger of both: the elapsed clock stands still while a machine sleeps, and the wall clock can be set back. */
  passedSince({ elapsedAt, wallAt }: Mark): number {
    return Math.max(this.#clock.monotonic() - elapsedAt, this.#clock.now() - wallAt)
  }
}
