import { HEDGE, RETRY } from '../engine/call-marks.ts'
import { Series } from './series.ts'

const FIRST = 0
const RETRIES = 1
const HEDGES = 2
const REFUSED = 3
const QUEUE = 4
const WORK_MS = 5
const VAIN_MS = 6
const SERVED = 7

/** Counts calls as the dependency sees them; one meter for all of its replicas. */
export class StationMeter {
  readonly #series = new Series(8)
  readonly #clock: { readonly step: number }

  constructor(clock: { readonly step: number }) {
    this.#clock = clock
  }

  beginStep(step: number, waiting: number): void {
    this.#series.begin(step)
    this.#series.raise(step, QUEUE, waiting)
  }

  arrived(marks: number): void {
    const column = (marks & HEDGE) !== 0 ? HEDGES : (marks & RETRY) !== 0 ? RETRIES : FIRST
    this.#series.add(this.#clock.step, column, 1)
  }

  queued(length: number): void {
    this.#series.raise(this.#clock.step, QUEUE, length)
  }

  refused(): void {
    this.#series.add(this.#clock.step, REFUSED, 1)
  }

  /** A server was busy for so long; in vain when nobody waited for it any more. */
  worked(ms: number, isInVain: boolean, isGood: boolean): void {
    this.#series.add(this.#clock.step, WORK_MS, ms)
    if (isInVain) this.#series.add(this.#clock.step, VAIN_MS, ms)
    if (isGood) this.#series.add(this.#clock.step, SERVED, 1)
  }

  get perStep(): StepCounts {
    const column = (place: number): number[] => this.#series.column(place)
    return {
      first: column(FIRST),
      retries: column(RETRIES),
      hedges: column(HEDGES),
      refused: column(REFUSED),
      queue: column(QUEUE),
      workMs: column(WORK_MS),
      vainMs: column(VAIN_MS),
      served: column(SERVED),
    }
  }
}

/** For each step of time. */
export interface StepCounts {
  readonly first: readonly number[]
  readonly retries: readonly number[]
  readonly hedges: readonly number[]
  readonly refused: readonly number[]
  /** The longest in the step. */
  readonly queue: readonly number[]
  /** What servers worked, in ms; of it, in vain. */
  readonly workMs: readonly number[]
  readonly vainMs: readonly number[]
  /** Calls that were worked on and went well. */
  readonly served: readonly number[]
}
