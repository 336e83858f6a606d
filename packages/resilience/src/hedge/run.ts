import { atOnce, type Budget } from '../budget/budget.ts'
import { createBudget } from '../budget/run.ts'
import type { Failure, Fault } from '../classify/outcome.ts'
import { RefusedError } from '../errors.ts'
import { expectedCallMs, recordLatency, type Latencies } from '../latency/decide.ts'
import { together, type Accompanied, type Companion, type EndedAttempt, type Gate } from '../retry/companion.ts'
import type { Attempt, CallOptions } from '../retry/options.ts'
import { hedgeBudget, hedgeDelayMs, mayHedge, type HedgeAnswer, type HedgedAttempt } from './decide.ts'
import type { HedgePolicy } from './policy.ts'
import { Race } from './race.ts'

export interface HedgeOptions {
  /** How long the recent successes took; what succeeds here is added to them. */
  readonly latencies: Latencies
  /** The retries' own: hedges and retries draw on one. */
  readonly budget: Budget | undefined
  /** What each copy must pass: limits that are charged per call. A copy never waits for one. */
  readonly gates: readonly Gate[]
  /** What was thrown, or returned; undefined for a success. */
  readonly judge: (returned: boolean, what: unknown) => Failure | undefined
  readonly discard?: ((value: unknown) => void) | undefined
}

/** Gives company to calls that are slow. One for each dependency. */
export class Hedge implements Gate {
  readonly #policy: HedgePolicy
  readonly #options: HedgeOptions

  constructor(policy: HedgePolicy, options: HedgeOptions) {
    this.#policy = policy
    this.#options = options
  }

  /** Its own limit of load, made with the clock of the first operation. */
  #load: Budget | undefined = undefined

  accompany(operation: Accompanied): Companion {
    this.#load ??= createBudget(hedgeBudget(this.#policy), { clock: operation.setup.clock })
    return new HedgeCompanion(this.#policy, this.#options, this.#load, operation)
  }
}

class HedgeCompanion implements Companion {
  readonly #policy: HedgePolicy
  readonly #options: HedgeOptions
  readonly #load: Budget
  readonly #operation: Accompanied
  #race: Race<unknown> | undefined = undefined
  #delayMs: number | undefined = undefined

  constructor(policy: HedgePolicy, options: HedgeOptions, load: Budget, operation: Accompanied) {
    this.#policy = policy
    this.#options = options
    this.#load = load
    this.#operation = operation
  }

  around<R>(call: (attempt: Attempt) => R, attempt: Attempt): R {
    this.#load.deposit()
    this.#race = undefined
    this.#delayMs = hedgeDelayMs(this.#policy, this.#options.latencies)
    // Most calls of a young client, and all that must not be repeated: they cost nothing more.
    if (this.#delayMs === undefined || !mayBeRepeated(this.#operation.call)) return call(attempt)
    const { judge, latencies, discard } = this.#options
    this.#race = new Race<unknown>({
      clock: this.#operation.setup.clock,
      mayHedge: (hedged, now) => this.#mayHedge(hedged, now),
      admit: now => this.#admit(now),
      judge,
      succeeded: durationMs => recordLatency(latencies, durationMs),
      discard,
      call,
      attempt,
    })
    return this.#race.promise as R
  }

  ended({ outcome, durationMs, error }: EndedAttempt): void {
    if (this.#race !== undefined) this.#race.end(error)
    else if (outcome.kind === 'success') recordLatency(this.#options.latencies, durationMs)
  }

  #mayHedge(hedged: HedgedAttempt, now: number): HedgeAnswer {
    return mayHedge(this.#policy, hedged, {
      now,
      delayMs: this.#delayMs,
      expectedCallMs: expectedCallMs(this.#options.latencies),
      hedgesLeft: this.#load.balance,
    })
  }

  /** All gates, then both budgets: what one refuses, no other has been charged for. */
  #admit(now: number): Companion | undefined {
    const { budget, gates } = this.#options
    const isForbidden = this.#operation.companion?.mayHedge?.() === false
    if (isForbidden || atOnce('covers', budget?.covers?.('transient')) === false) return undefined
    const companion = together([...gates.map(gate => gate.accompany(this.#operation)), new PaidPlace(budget)])
    let isAdmitted = false
    try {
      isAdmitted = companion.enter?.(now) === undefined && this.#load.tryWithdraw('transient')
    } finally {
      if (!isAdmitted) companion.over?.(undefined)
    }
    return isAdmitted ? companion : undefined
  }
}

/** A copy's share of the retries' budget. */
class PaidPlace implements Companion {
  readonly #budget: Budget | undefined
  #isPaid = false
  #fault: Fault | undefined = 'ignored'

  constructor(budget: Budget | undefined) {
    this.#budget = budget
  }

  enter(): RefusedError | undefined {
    this.#isPaid = atOnce('tryWithdraw', this.#budget?.tryWithdraw('transient')) !== false
    return this.#isPaid ? undefined : new RefusedError('budget', 'the retry budget has nothing left for company')
  }

  ended({ outcome }: EndedAttempt): void {
    this.#fault = outcome.kind === 'failure' ? outcome.fault : undefined
  }

  over(): void {
    if (this.#isPaid) this.#budget?.settle?.(this.#fault, 'transient')
    this.#isPaid = false
  }
}

function mayBeRepeated({ idempotent, idempotencyKey, once }: CallOptions): boolean {
  return once === undefined && (idempotent ?? idempotencyKey !== undefined)
}
