import { HEDGE } from './call-marks.ts'
import type { Core } from './core.ts'
import type { Pipeline } from './pipeline.ts'
import type { Process } from './process.ts'
import { COPIES, DEADLINE_AT, ENDS_AT, HEDGE_AT, WIDTH } from './rows.ts'
import type { Target } from './target.ts'

/** Gives company to attempts that are slow, as the library's hedge does. */
export class Company {
  readonly #core: Core
  readonly #pipeline: Pipeline
  readonly #target: Target

  constructor(core: Core, pipeline: Pipeline, target: Target) {
    this.#core = core
    this.#pipeline = pipeline
    this.#target = target
  }

  /** An attempt begins: when is it to be asked about? */
  plan(row: number, process: Process): void {
    process.depositCall(this.#core.clock.now)
    this.#planNext(row, process)
  }

  /** The time without company is over. */
  ask(operation: number, process: Process): void {
    const { clock, operations } = this.#core
    const { data } = operations
    const row = operation * WIDTH
    const { now } = clock
    data[row + HEDGE_AT] = Infinity
    const attempt = { extraCalls: data[row + COPIES]!, latestAt: now, endsAt: data[row + ENDS_AT]! }
    // The delay has passed: it is only asked whether one more may begin.
    if (process.mayHedge(attempt, 0, now).kind !== 'yes' || this.#core.isHedgingKilled(this.#pipeline.name)) return
    if (!process.admitCopy(now, data[row + DEADLINE_AT]!)) return
    data[row + COPIES]!++
    this.#target.send(operation, process, HEDGE, process.inFlight)
    this.#planNext(row, process)
  }

  #planNext(row: number, process: Process): void {
    const { clock, operations } = this.#core
    const { data } = operations
    const { now } = clock
    const delayMs = process.hedgeDelayMs
    if (delayMs === undefined) return
    const asked = { extraCalls: data[row + COPIES]!, latestAt: now, endsAt: data[row + ENDS_AT]! }
    const answer = process.mayHedge(asked, delayMs, now)
    // An instant that has come already is met by an event all the same.
    if (answer.kind !== 'no') data[row + HEDGE_AT] = answer.kind === 'wait' ? answer.at : now
  }
}
