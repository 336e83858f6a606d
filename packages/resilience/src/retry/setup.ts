import { atOnce, defaultBudget, type Budget } from '../budget/budget.ts'
import type { Fault, Outcome } from '../classify/outcome.ts'
import type { Clock } from '../ports/clock.ts'
import { systemRandom, type Random } from '../ports/random.ts'
import { systemClock } from '../ports/system-clock.ts'
import type { Gate } from './companion.ts'
import type { CompiledPolicy } from './compile.ts'
import { decide, type Decision, type RetryState } from './decide.ts'
import type { RetryOptions } from './options.ts'
import type { RetryPolicy } from './policy.ts'
import { reporter } from './report.ts'

/** A policy and its surroundings, settled: what any number of operations can have in common. */
export class Setup<T, A> {
  // Declared, and set by the constructor alone: one is made by every call that brings options.
  /** The whole document, as it would be handed over, and its share in this process. */
  declare readonly document: RetryPolicy
  declare readonly policy: RetryPolicy
  declare readonly options: RetryOptions<T, A>
  declare readonly clock: Clock
  declare readonly random: Random
  declare readonly budget: Budget | undefined
  /** A reading of the clock may be handed on only to a budget that counts by the same one. */
  readonly #sharesClock: boolean
  declare readonly gates: readonly Gate[] | undefined

  constructor(compiled: CompiledPolicy, options: RetryOptions<T, A>) {
    checkOptions(options)
    const { ports, budget } = options
    this.document = compiled.document
    this.policy = compiled.policy
    this.options = options
    this.clock = ports?.clock ?? systemClock
    this.random = ports?.random ?? systemRandom
    this.budget = budget === false ? undefined : (budget ?? defaultBudget(this.clock))
    this.#sharesClock = this.budget?.clock === this.clock
    this.gates = gatesOf(options)
  }

  decide(state: RetryState, outcome: Outcome, now: number, expectedCallMs?: number): Decision {
    const { lastAttempt, curve, usualCallMs } = this.options
    const callMs = lastAttempt === 'always' ? 0 : (expectedCallMs ?? usualCallMs?.() ?? 0)
    return decide(this.policy, state, outcome, { now, roll: this.random(), expectedCallMs: callMs }, curve)
  }

  /** An attempt begins: a retry after `fault` is withdrawn from the budget, a first one is a deposit. */
  pay(fault: Fault | undefined, now: number): boolean {
    if (this.budget === undefined) return true
    const at = this.#sharesClock ? now : undefined
    if (fault === undefined) return atOnce('deposit', this.budget.deposit(at)) !== false
    return atOnce('tryWithdraw', this.budget.tryWithdraw(fault, at))
  }

  /** Whether a retry after `fault` could be paid for at this moment: if not, nobody need wait for it. */
  couldPay(fault: Fault, now: number): boolean {
    return atOnce('covers', this.budget?.covers?.(fault, this.#sharesClock ? now : undefined)) !== false
  }
}

/** What calls without options have in common, made by the first of them. */
// oxlint-disable-next-line typescript/no-explicit-any
export function bareSetup(compiled: CompiledPolicy): Setup<any, never> {
  return (compiled.setup ??= new Setup(compiled, {}))
}

function gatesOf<T, A>({ breaker, gates, telemetry }: RetryOptions<T, A>): readonly Gate[] | undefined {
  // Most calls with options of their own have none of these, and need no list.
  if (!breaker && !gates?.length && !telemetry) return undefined
  return [...(breaker ? [breaker] : []), ...(gates ?? []), ...(telemetry ? [reporter(telemetry)] : [])]
}

/** No deadline of today lies before it, and no duration after. */
const YEAR_2001 = 1e12

/** The mistakes that would otherwise come up later, as an error from inside of the library. */
function checkOptions<T, A>({ signal, budget, breaker, deadlineAt }: RetryOptions<T, A>): void {
  if (signal) must(signal, 'addEventListener', 'signal must be an AbortSignal, not its controller')
  if (deadlineAt !== undefined && !(typeof deadlineAt === 'number' && deadlineAt > YEAR_2001))
    throw new TypeError('the option deadlineAt must be wall time in ms since the epoch, as Date.now() + 5_000')
  if (budget) must(budget, 'deposit', 'budget must be what createBudget(…) returned, or false')
  if (breaker) must(breaker, 'accompany', 'breaker must be what createBreaker(…) returned')
}

function must<Option extends object>(option: Option, method: keyof Option, say: string): void {
  if (typeof option[method] !== 'function') throw new TypeError(`the option ${say}`)
}
