import { statusOf } from '../classify/classify-error.ts'
import { isObject } from '../classify/marks.ts'
import type { Clock } from '../ports/clock.ts'
import { inTime } from '../ports/in-time.ts'
import type { Companion, Gate } from '../retry/companion.ts'
import type { Attempt } from '../retry/options.ts'

export interface RefreshOptions {
  /** Renews the token, the session, the address: whatever the calls are refused for. */
  readonly run: () => unknown
  /** Whether what was thrown or returned asks for it; a status of 401 unless told. */
  readonly isExpired?: (failure: unknown) => boolean
}

/** Shared by all calls of a pipeline: however many are refused at the same time, there is one renewal. */
export class Refresher implements Gate {
  readonly #run: () => unknown
  readonly #clock: Clock
  /** No call waits longer for a renewal than for an answer; one that hangs is forgotten, and the next may try again. */
  readonly #longestMs: number
  readonly isExpired: (failure: unknown) => boolean
  /** Renewals that succeeded: a call that began before the latest needs none of its own. */
  generation = 0
  #running: Promise<boolean> | undefined = undefined

  constructor(refresh: RefreshOptions | (() => unknown), clock: Clock, longestMs: number) {
    this.#clock = clock
    this.#longestMs = longestMs
    const { run, isExpired = isUnauthorized } = typeof refresh === 'function' ? { run: refresh } : refresh
    this.#run = run
    this.isExpired = isExpired
  }

  accompany(): Companion {
    return new RefreshCompanion(this)
  }

  /** True when what the call began with has been renewed since. */
  async renew(begunWith: number): Promise<boolean> {
    if (this.generation > begunWith) return true
    this.#running ??= this.#renewOnce()
    return this.#running
  }

  async #renewOnce(): Promise<boolean> {
    try {
      const isRenewed = await inTime(this.#runOnce(), { clock: this.#clock, ms: this.#longestMs })
      if (isRenewed === true) this.generation++
      return isRenewed === true
    } catch {
      // What the call was refused with says more to its caller than that the remedy failed too.
      return false
    } finally {
      this.#running = undefined
    }
  }

  async #runOnce(): Promise<true> {
    await this.#run()
    return true
  }
}

/** Once per operation: who is refused again after a renewal is refused for another reason. */
class RefreshCompanion implements Companion {
  readonly #refresher: Refresher
  #isSpent = false

  constructor(refresher: Refresher) {
    this.#refresher = refresher
  }

  around<R>(call: (attempt: Attempt) => R, attempt: Attempt): R {
    return this.#isSpent ? call(attempt) : (this.#callTwice(call, attempt) as R)
  }

  async #callTwice(call: (attempt: Attempt) => unknown, attempt: Attempt): Promise<unknown> {
    const { generation } = this.#refresher
    try {
      const value = await call(attempt)
      return (await this.#isRenewed(value, generation, attempt)) ? await call(attempt) : value
    } catch (error) {
      if (!(await this.#isRenewed(error, generation, attempt))) throw error
      return call(attempt)
    }
  }

  async #isRenewed(failure: unknown, generation: number, attempt: Attempt): Promise<boolean> {
    if (this.#isSpent || !this.#refresher.isExpired(failure)) return false
    this.#isSpent = true
    // While it was renewed the attempt may have been given up: then nobody waits for another call.
    return (await this.#refresher.renew(generation)) && !attempt.signal.aborted
  }
}

function isUnauthorized(failure: unknown): boolean {
  return isObject(failure) && statusOf(failure) === 401
}
