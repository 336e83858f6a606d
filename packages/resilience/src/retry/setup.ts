import { defaultBudget, type Budget } from '../budget/budget.ts'
import type { Clock } from '../ports/clock.ts'
import { systemRandom, type Random } from '../ports/random.ts'
import { systemClock } from '../ports/system-clock.ts'
import type { RetryOptions } from './options.ts'

/** The options of a call with time, chance and budget settled. */
export class Setup<T, A> {
  readonly options: RetryOptions<T, A>
  readonly clock: Clock
  readonly random: Random
  readonly budget: Budget | false
  /** A reading of the clock may be handed on only to a budget that counts by the same one. */
  readonly sharesClock: boolean
  readonly expectedCallMs: number
  /** Nobody watches the call, nobody can end it, nobody judges what it returns. */
  readonly isPlain: boolean

  constructor(options: RetryOptions<T, A>) {
    const { ports, signal, deadlineAt, breaker, classifyResult, telemetry } = options
    this.options = options
    this.clock = ports?.clock ?? systemClock
    this.random = ports?.random ?? systemRandom
    this.budget = options.budget ?? defaultBudget(this.clock)
    this.sharesClock = this.budget !== false && this.budget.clock === this.clock
    this.expectedCallMs = options.lastAttempt === 'always' ? 0 : (options.expectedCallMs ?? 0)
    this.isPlain = (signal ?? deadlineAt ?? breaker ?? classifyResult ?? telemetry) === undefined
  }
}

/** What a call without options has. */
// oxlint-disable-next-line typescript/no-explicit-any
export const DEFAULT_SETUP: Setup<any, never> = /* @__PURE__ */ new Setup({})
