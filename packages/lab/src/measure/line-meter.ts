import { GIVE_UP_REASONS } from '@secondwind/resilience'
import { Durations } from './durations.ts'
import { Series } from './series.ts'

const BEGUN = 0
const GOOD = 1
const BAD = 2
const PLANNED = 3

interface StepClock {
  readonly now: number
  readonly step: number
}

/** Counts operations as their caller sees them. */
export class LineMeter {
  readonly name: string
  readonly #series = new Series(4)
  readonly #clock: StepClock
  #reasons = new Float64Array(GIVE_UP_REASONS.length)
  #attempts = 0
  succeeded: Durations = new Durations()
  failed: Durations = new Durations()
  lastEndAtMs = 0

  constructor(name: string, clock: StepClock) {
    this.name = name
    this.#clock = clock
  }

  beginStep(step: number): void {
    this.#series.begin(step)
  }

  /** What came before was the warm-up. */
  forget(): void {
    this.#reasons = new Float64Array(GIVE_UP_REASONS.length)
    this.#attempts = 0
    this.succeeded = new Durations()
    this.failed = new Durations()
  }

  begun(): void {
    this.#series.add(this.#clock.step, BEGUN, 1)
  }

  /** A retry was decided upon; it is sent after its wait, unless something comes between. */
  planned(): void {
    this.#series.add(this.#clock.step, PLANNED, 1)
  }

  /** `reason` by its number; below zero: none, it went well. */
  ended(reason: number, elapsedMs: number, attempts: number): void {
    this.#attempts += attempts
    this.lastEndAtMs = this.#clock.now
    if (reason < 0) {
      this.#series.add(this.#clock.step, GOOD, 1)
      this.succeeded.add(elapsedMs)
    } else {
      this.#series.add(this.#clock.step, BAD, 1)
      this.#reasons[reason]!++
      this.failed.add(elapsedMs)
    }
  }

  get begunPerStep(): number[] {
    return this.#series.column(BEGUN)
  }

  get goodPerStep(): number[] {
    return this.#series.column(GOOD)
  }

  get badPerStep(): number[] {
    return this.#series.column(BAD)
  }

  get plannedPerStep(): number[] {
    return this.#series.column(PLANNED)
  }

  /** Attempts of the operations that have ended. */
  get attempts(): number {
    return this.#attempts
  }

  get reasons(): { readonly [reason: string]: number } {
    const counted = GIVE_UP_REASONS.map((reason, code) => [reason, this.#reasons[code]!] as const)
    return Object.fromEntries(counted.filter(([, count]) => count > 0))
  }
}
