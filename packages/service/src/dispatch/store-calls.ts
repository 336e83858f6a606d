import { DEFAULT_POLICY, delayMs, NOT_ARMED, type Alarm, type Clock, type Random } from '@secondwind/resilience'
import type { DispatchEvents } from '../telemetry/events.ts'
import type { Answer } from '../stores/store.ts'
import type { StoreTime } from './store-time.ts'

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
