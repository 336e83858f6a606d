import { ResilienceError } from '../errors.ts'
import { NOT_ARMED, type Alarm, type Clock } from '../ports/clock.ts'
import { systemClock } from '../ports/system-clock.ts'
import type { HeaderSource } from '../retry/retry-after.ts'
import { askedTimeoutMs, DEFAULT_RESERVE_MS, trimmedMs } from './decide.ts'

/**
 * The instant by which an answer is of use, to be handed from function to function. Kept in elapsed time: once it is
 * made, no step of the wall clock moves it.
 */
export interface Deadline {
  /** Wall time, in ms since the epoch: what `deadlineAt` takes. */
  readonly at: number
  /** Never negative. */
  readonly remainingMs: number
  /** Aborts at the deadline. Made when it is read; from then on the clock waits for it, until `release`. */
  readonly signal: AbortSignal
  /** An earlier one, for a part of the work: `reserveMs` are kept for what follows it. */
  child(reserveMs: number): Deadline
  /** The work is done: the signal will not abort any more. */
  release(): void
}

/** In so many ms from now, or at an instant of wall time. */
export type DeadlineInput = { readonly inMs: number } | { readonly at: number }

export function deadline(input: DeadlineInput, clock: Clock = systemClock): Deadline {
  const inMs = 'inMs' in input ? input.inMs : input.at - clock.now()
  if (typeof inMs !== 'number' || Number.isNaN(inMs))
    throw new TypeError('deadline({ inMs }) takes milliseconds, and deadline({ at }) an instant in ms since the epoch')
  return new ElapsedDeadline(clock, clock.monotonic() + inMs)
}

export interface ArrivalOptions {
  /** Kept back for the way of the answer; 10 unless told. */
  readonly reserveMs?: number
  readonly clock?: Clock
}

/** The deadline of a request that has just arrived; undefined when its headers name none. */
export function deadlineFrom(headers: HeaderSource, options: ArrivalOptions = {}): Deadline | undefined {
  const { reserveMs = DEFAULT_RESERVE_MS, clock = systemClock } = options
  const askedMs = askedTimeoutMs(headers, clock.now())
  return askedMs === undefined ? undefined : deadline({ inMs: trimmedMs(askedMs, reserveMs) }, clock)
}

/** The one that leaves less time; undefined when there is none. */
export function earlier(one: Deadline | undefined, other: Deadline | undefined): Deadline | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return other.remainingMs < one.remainingMs ? other : one
}

class ElapsedDeadline implements Deadline, Alarm {
  readonly dueAt: number
  slot: number = NOT_ARMED
  behind: Alarm | undefined = undefined
  readonly #clock: Clock
  #controller: AbortController | undefined = undefined
  /** Before it had come: a signal that is first read afterwards never aborts. */
  #isReleased = false

  constructor(clock: Clock, dueAt: number) {
    this.#clock = clock
    this.dueAt = dueAt
  }

  get at(): number {
    return this.#clock.now() + this.dueAt - this.#clock.monotonic()
  }

  get remainingMs(): number {
    return Math.max(0, this.dueAt - this.#clock.monotonic())
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (!this.#isReleased) this.#await()
    }
    return this.#controller.signal
  }

  child(reserveMs: number): Deadline {
    // Less than nothing cannot be kept back: a part would have more time than the whole.
    return new ElapsedDeadline(this.#clock, reserveMs > 0 ? this.dueAt - reserveMs : this.dueAt)
  }

  release(): void {
    this.#isReleased ||= this.remainingMs > 0
    this.#clock.disarm(this)
  }

  ring(): void {
    this.#controller?.abort(new ResilienceError('deadline', 'the deadline has passed'))
  }

  #await(): void {
    if (this.remainingMs === 0) this.ring()
    else if (this.dueAt < Infinity) this.#clock.arm(this)
  }
}
