import type { Fault } from '../classify/outcome.ts'
import { InvalidAnswerError } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import { ratioRule, type BudgetRule } from './decide.ts'
import { DEFAULT_BUDGET, type BudgetPolicy, type RatioBudget } from './policy.ts'

/**
 * What `retry` asks before it calls again. One budget may serve several policies, and anything with these verbs can
 * take its place, for instance a counter shared by several machines. All of them answer at once, never with a promise.
 */
export interface Budget {
  /** A first attempt begins; false when even new calls are denied. `now` spares the budget a look at its own clock. */
  deposit(now?: number): boolean | void
  /** A retry after `fault` wants to begin: true, and it is paid for, or false. */
  tryWithdraw(fault: Fault, now?: number): boolean
  /** Whether it could be paid for at this moment: if not, nobody need wait for it. */
  covers?(fault: Fault, now?: number): boolean
  /** An attempt ended, with `fault` or well; `paidFor` is the fault its retry was withdrawn for, if it was one. */
  settle?(fault: Fault | undefined, paidFor: Fault | undefined): void
  /** Retries left; for quotas, what they are paid from. */
  readonly balance: number
  /** The clock it counts by: only a caller on the same one may pass its `now`. */
  readonly clock?: Clock
}

/** What a budget answered to one of its verbs. A promise is refused: it would pass for true, and every retry with it. */
export function atOnce<Answer extends boolean | void>(
  verb: 'deposit' | 'covers' | 'tryWithdraw',
  answer: Answer,
): Answer {
  if (typeof answer === 'object')
    throw new InvalidAnswerError(`${verb} of the budget`, answer, 'true or false at once, from a count kept in memory')
  return answer
}

/** A rule, its state and a clock. */
export class RuledBudget<Policy extends BudgetPolicy, State> implements Budget {
  readonly clock: Clock
  readonly #policy: Policy
  readonly #rule: BudgetRule<Policy, State>
  readonly #state: State

  constructor(policy: Policy, rule: BudgetRule<Policy, State>, clock: Clock, state?: State) {
    this.clock = clock
    this.#policy = policy
    this.#rule = rule
    this.#state = state ?? rule.start(policy, clock.monotonic())
  }

  /** Other numbers for what has been counted so far, by both from now on; undefined when it cannot be counted so. */
  under(policy: BudgetPolicy): Budget | undefined {
    const isSameKind = policy.kind === this.#policy.kind
    const isSameWindow = (policy as RatioBudget).windowMs === (this.#policy as Partial<RatioBudget>).windowMs
    return isSameKind && isSameWindow
      ? new RuledBudget(policy as Policy, this.#rule, this.clock, this.#state)
      : undefined
  }

  get balance(): number {
    return Math.max(0, this.#rule.balance(this.#policy, this.#state, this.clock.monotonic()))
  }

  deposit(now: number = this.clock.monotonic()): boolean {
    if (this.#policy.whenEmpty === 'deny-calls' && !this.covers('transient', now)) return false
    this.#rule.deposit?.(this.#policy, this.#state, now)
    return true
  }

  covers(fault: Fault, now: number = this.clock.monotonic()): boolean {
    return this.#rule.balance(this.#policy, this.#state, now) >= this.#rule.price(this.#policy, fault)
  }

  tryWithdraw(fault: Fault, now: number = this.clock.monotonic()): boolean {
    const isCovered = this.covers(fault, now)
    if (isCovered) this.#rule.withdraw?.(this.#policy, this.#state, fault, now)
    return isCovered
  }

  settle(fault: Fault | undefined, paidFor: Fault | undefined): void {
    this.#rule.settle?.(this.#policy, this.#state, fault, paidFor)
  }
}

const defaults = /* @__PURE__ */ new WeakMap<Clock, Budget>()

/** The budget that all bare calls of a process share; one for each clock, so that a test has its own. */
export function defaultBudget(clock: Clock): Budget {
  const known = defaults.get(clock) ?? new RuledBudget(DEFAULT_BUDGET, ratioRule, clock)
  defaults.set(clock, known)
  return known
}
