/**
 * The time of the story. A busy machine stands still now and then, and all that was due comes at once when it goes on:
 * a herd that nobody made. So a long step counts as a short one, and the story waits for the machine.
 */
export class StoryClock {
  readonly #startedAt = performance.now()
  readonly #timer = setInterval(() => this.#step(), STEP_MS)
  #last = this.#startedAt
  #now = 0

  /** Since the beginning, in ms. */
  now(): number {
    return this.#now
  }

  /** Ends the story; the answer is how long the machine stood still, all in all. */
  stop(): number {
    clearInterval(this.#timer)
    return this.#last - this.#startedAt - this.#now
  }

  #step(): void {
    const now = performance.now()
    this.#now += Math.min(now - this.#last, LONGEST_STEP_MS)
    this.#last = now
  }
}

const STEP_MS = 5
/** A few calls' worth, and what a timer may be late without anybody's fault. */
const LONGEST_STEP_MS = 40
