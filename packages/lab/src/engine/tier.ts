import type { Core } from './core.ts'
import type { Line } from './line.ts'
import { BIRTH, EXPIRES_AT, OUTCOME, PENDING, STEP, WIDTH } from './rows.ts'
import { SUCCESS, TRANSIENT } from './outcomes.ts'

export interface TierStep {
  readonly line: () => Line
  readonly processes: number
  readonly passesDeadline: boolean
}

export interface TierSpec {
  /** Every single call that is made, in order. */
  readonly steps: readonly TierStep[]
  readonly isParallel: boolean
  readonly returned: (call: number, isWell: boolean) => void
}

/** What a station calls itself, for each call that it works on. */
export class Tier {
  readonly #core: Core
  readonly #spec: TierSpec
  #turn = 0

  constructor(core: Core, spec: TierSpec) {
    this.#core = core
    this.#spec = spec
  }

  begin(call: number): void {
    const { data } = this.#core.calls
    const { steps, isParallel } = this.#spec
    const row = call * WIDTH
    data[row + OUTCOME] = SUCCESS
    data[row + STEP] = 0
    data[row + PENDING] = isParallel ? steps.length : 1
    const together = isParallel ? steps.length : 1
    const birth = data[row + BIRTH]!
    // A call that is refused at once may be the end of the whole while others are still to begin.
    for (let step = 0; step < together && this.#core.calls.data[row + BIRTH] === birth; step++) this.#call(call, step)
  }

  /** One of its calls has ended, after all its retries. */
  ended(call: number, isWell: boolean): void {
    const { data } = this.#core.calls
    const { steps, isParallel, returned } = this.#spec
    const row = call * WIDTH
    if (!isWell) data[row + OUTCOME] = TRANSIENT
    const step = ++data[row + STEP]!
    if (!isParallel && isWell && step < steps.length) return this.#call(call, step)
    if (isParallel && --data[row + PENDING]! > 0) return
    returned(call, data[row + OUTCOME] === SUCCESS)
  }

  #call(call: number, place: number): void {
    const { data } = this.#core.calls
    const { line, processes, passesDeadline } = this.#spec.steps[place]!
    const row = call * WIDTH
    const process = this.#turn++ % processes
    const deadlineAt = passesDeadline ? data[row + EXPIRES_AT]! : Infinity
    line().begin(process, -1, call, data[row + BIRTH]!, deadlineAt)
  }
}
