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
    checkOptions(options as { readonly [option: string]: unknown })
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

/** By name: what an option must be, in a few words, and the method by which it is known. */
const KINDS: { readonly [option: string]: readonly [method: string, say: string] } = {
  signal: ['addEventListener', 'an AbortSignal, not its controller'],
  budget: ['deposit', 'what createBudget(…) returned, or false'],
  breaker: ['ask', 'what createBreaker(…) returned'],
}

/** The mistakes that would otherwise come up later, as an error from inside of the library. */
function checkOptions(options: { readonly [option: string]: unknown }): void {
  for (const name in KINDS) {
    const value = options[name] as { readonly [method: string]: unknown } | false | null | undefined
    const [method, say] = KINDS[name]!
    if (value && typeof value[method] !== 'function') throw new TypeError(`the option ${name} must be ${say}`)
  }
}

/** What a call without options has. */
// oxlint-disable-next-line typescript/no-explicit-any
export const DEFAULT_SETUP: Setup<any, never> = /* @__PURE__ */ new Setup({})
