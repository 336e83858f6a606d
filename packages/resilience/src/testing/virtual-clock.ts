import { numberBetween, wholeNumber, type FieldCheck } from '../check/problems.ts'
import { AlarmHeap } from '../ports/alarm-heap.ts'
import { NOT_ARMED, type Alarm, type Clock } from '../ports/clock.ts'
import { sleepOn } from '../ports/sleep.ts'
import { refuseProblems, TestingError } from './errors.ts'
import { settled } from './settle.ts'

export interface VirtualClockOptions {
  /** Wall time at the beginning, in ms since the epoch; else the first instant of 2026. */
  readonly now?: number
}

export interface RingOptions {
  /** More alarms in one call mean a loop that never ends; 100 000 unless told. */
  readonly mostRings?: number
}

export function virtualClock(options: VirtualClockOptions = {}): VirtualClock {
  return new VirtualClock(options)
}

/** The same in every run and in no time zone's yesterday: 2026-01-01T00:00:00Z. */
const DEFAULT_NOW = 1_767_225_600_000

/** Reached in a second or so, well before a test runner loses its patience and says less. */
const DEFAULT_MOST_RINGS = 100_000

/**
 * Time that stands still until a test moves it. Elapsed time begins at 0.
 *
 *  1. An alarm rings at its own instant: `monotonic()` is its `dueAt`, or later if it was armed late.
 *  2. Alarms of one instant ring in the order in which they were armed.
 *  3. Between any two of them every promise that can settle has settled.
 */
export class VirtualClock implements Clock {
  readonly #instants = new AlarmHeap()
  readonly #instantAt = new Map<number, Instant>()
  /** By alarm and not by `dueAt`: the owner may have written the next one before it disarms. */
  readonly #instantOf = new Map<Alarm, Instant>()
  #elapsedMs = 0
  #wallStart: number
  #lastRun: Promise<void> = Promise.resolve()

  constructor({ now = DEFAULT_NOW }: VirtualClockOptions = {}) {
    check('virtualClock', 'now', now, ANY_INSTANT)
    this.#wallStart = now
  }

  /** The number of alarms that are armed, sleeps included. */
  get pending(): number {
    return this.#instantOf.size
  }

  now(): number {
    return Math.floor(this.#wallStart + this.#elapsedMs)
  }

  monotonic(): number {
    return this.#elapsedMs
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return sleepOn(this, ms, signal)
  }

  arm(alarm: Alarm): void {
    check('arm', 'dueAt', alarm.dueAt, NUMBER_OR_INFINITY)
    // The system's clock trusts its callers here; a test is where they should be found out.
    if (alarm.slot !== NOT_ARMED)
      throw new TestingError('invalid-options', 'the alarm is armed already; disarm it first')
    let instant = this.#instantAt.get(alarm.dueAt)
    if (instant === undefined) {
      instant = new Instant(this, alarm.dueAt)
      this.#instantAt.set(alarm.dueAt, instant)
      this.#instants.add(instant)
    }
    instant.alarms.add(alarm)
    this.#instantOf.set(alarm, instant)
    alarm.slot = 0
  }

  disarm(alarm: Alarm): void {
    const instant = this.#instantOf.get(alarm)
    if (instant === undefined) return
    alarm.slot = NOT_ARMED
    this.#instantOf.delete(alarm)
    instant.alarms.delete(alarm)
    if (instant.alarms.size > 0) return
    this.#instantAt.delete(instant.dueAt)
    this.#instants.remove(instant)
  }

  /** Moves time on by `ms`, alarm by alarm. Calls that overlap follow one another. */
  async advance(ms: number, { mostRings = DEFAULT_MOST_RINGS }: RingOptions = {}): Promise<void> {
    check('advance', 'ms', ms, ANY_WAIT)
    check('advance', 'mostRings', mostRings, ANY_COUNT)
    await this.#inTurn(async () => {
      const until = this.#elapsedMs + ms
      await this.#ringUntil(until, mostRings)
      this.#elapsedMs = until
    })
  }

  /** Moves time on until nothing is armed, but for what waits for ever. */
  async drain({ mostRings = DEFAULT_MOST_RINGS }: RingOptions = {}): Promise<void> {
    check('drain', 'mostRings', mostRings, ANY_COUNT)
    await this.#inTurn(() => this.#ringUntil(Number.MAX_VALUE, mostRings))
  }

  /** Somebody sets the wall clock, perhaps back; elapsed time and alarms do not notice. */
  jumpWall(ms: number): void {
    check('jumpWall', 'ms', ms, ANY_INSTANT)
    this.#wallStart += ms
  }

  #inTurn(run: () => Promise<void>): Promise<void> {
    const result = this.#lastRun.then(run)
    // Whoever asked for it hears of its failure; the next in turn runs all the same.
    this.#lastRun = result.catch(() => {})
    return result
  }

  async #ringUntil(until: number, mostRings: number): Promise<void> {
    let rings = 0
    // Also before the first: what was begun just now may be about to arm something.
    for (await settled(); this.#instants.first !== undefined && this.#instants.first.dueAt <= until; await settled()) {
      const instant = this.#instants.first
      if (++rings > mostRings) throw this.#endless(instant.dueAt, mostRings)
      this.#elapsedMs = Math.max(this.#elapsedMs, instant.dueAt)
      instant.ring()
    }
  }

  #endless(nextAt: number, mostRings: number): TestingError {
    return new TestingError(
      'endless',
      `${mostRings} alarms rang and ${this.pending} more are armed, the next for ${nextAt} ms: something seems to ` +
        'wait in an endless loop. End it, advance by less, or pass a larger mostRings',
    )
  }
}

/** The alarms of one instant, in the order in which they were armed: among equals a heap knows no order. */
class Instant implements Alarm {
  slot: number = NOT_ARMED
  readonly dueAt: number
  readonly alarms = new Set<Alarm>()
  readonly #clock: Clock

  constructor(clock: Clock, dueAt: number) {
    this.#clock = clock
    this.dueAt = dueAt
  }

  /** One of them, the first: whatever it causes may disarm the others, or arm more. */
  ring(): void {
    const [alarm] = this.alarms
    this.#clock.disarm(alarm!)
    alarm!.ring()
  }
}

/** What a date can be, in both directions. */
const ANY_INSTANT = numberBetween(-8.64e15, 8.64e15)
const ANY_WAIT = numberBetween(0, 8.64e15)
const ANY_COUNT = wholeNumber(1, Number.MAX_SAFE_INTEGER)
const NUMBER_OR_INFINITY: FieldCheck = value =>
  typeof value === 'number' && value > -Infinity ? undefined : 'an instant of the elapsed clock, in ms'

function check(where: string, at: string, is: unknown, fieldCheck: FieldCheck): void {
  const wanted = fieldCheck(is)
  if (wanted !== undefined) refuseProblems(where, [{ at, is, say: `must be ${wanted}` }])
}
