import { DEFAULT_POLICY, delayMs, NOT_ARMED, type Alarm, type Clock, type Random } from '@secondwind/resilience'
import type { DispatchEvents } from '../telemetry/events.ts'
import type { Answer } from '../stores/store.ts'

/** No answer by then: a third of what a lease has to spare, so that whatever follows still comes in time. */
export const CALL_TIMEOUT_MS = 5_000

/** How long to leave a store alone that failed: soon enough for a hiccup, seldom enough for an outage. */
const BACKOFF = { ...DEFAULT_POLICY, initialDelayMs: 100, maxDelayMs: 5_000, jitterType: 'EQUAL' } as const

interface StoreCallOptions {
  readonly clock: Clock
  readonly random: Random
  readonly time: StoreTime
  readonly events: DispatchEvents
  /** The store's time has jumped. */
  readonly onJump: () => void
  /** It may be asked again. */
  readonly onRested: () => void
}

/**
 * Every call to the store goes through here. What fails and what gets no answer is the same to us: nobody knows whether it
 * was done. The store is then left alone for a while; each caller says what it does without an answer.
 */
export class StoreCalls implements Alarm {
  dueAt = 0
  slot: number = NOT_ARMED
  readonly #options: StoreCallOptions
  #failures = 0
  #isResting = false

  constructor(options: StoreCallOptions) {
    this.#options = options
  }

  /** The store failed lately: nothing new is begun. */
  get isResting(): boolean {
    return this.#isResting
  }

  /** The answer, or undefined when there is none. */
  ask<Reply extends Answer>(call: () => Promise<Reply>): Promise<Reply | undefined> {
    const askedAt = this.#options.clock.monotonic()
    return this.#answered(call, reply => {
      if (this.#options.time.hear(reply.now, askedAt)) this.#options.onJump()
      return reply
    })
  }

  /** For what is answered without the store's time, and may be answered with nothing. */
  read<Value>(call: () => Promise<Value>): Promise<{ readonly value: Value } | undefined> {
    return this.#answered(call, value => ({ value }))
  }

  ring(): void {
    this.#isResting = false
    this.#options.onRested()
  }

  stop(): void {
    this.#options.clock.disarm(this)
  }

  #answered<Reply, Value>(call: () => Promise<Reply>, read: (reply: Reply) => Value): Promise<Value | undefined> {
    const { clock } = this.#options
    return new Promise(resolve => {
      const patience: Alarm = {
        dueAt: clock.monotonic() + CALL_TIMEOUT_MS,
        slot: NOT_ARMED,
        ring: () => resolve(this.#failed(new Error(`no answer within ${CALL_TIMEOUT_MS} ms`))),
      }
      clock.arm(patience)
      const end = (value: Value | undefined): void => {
        clock.disarm(patience)
        resolve(value)
      }
      // Late answers are read too: they carry the time. Whoever asked has gone on without them.
      promised(call).then(
        reply => end(read(this.#succeeded(reply))),
        (error: unknown) => end(this.#failed(error)),
      )
    })
  }

  #succeeded<Reply>(reply: Reply): Reply {
    this.#failures = 0
    return reply
  }

  /** Calls that fail together are one failure. */
  #failed(error: unknown): undefined {
    const { clock, random, events } = this.#options
    if (this.#isResting) return
    this.#isResting = true
    this.#failures++
    this.dueAt = clock.monotonic() + delayMs(BACKOFF, { attempt: this.#failures, previousDelayMs: 0 }, random())
    clock.arm(this)
    const message = error instanceof Error ? error.message : String(error)
    events.warning('store-unavailable', `the store did not answer: ${message}`)
  }
}

/** A store that was closed may refuse before it promises anything. */
async function promised<Reply>(call: () => Promise<Reply>): Promise<Reply> {
  return call()
}

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
