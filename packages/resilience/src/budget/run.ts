import { refuseProblems } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import { systemClock } from '../ports/system-clock.ts'
import { RuledBudget, type Budget } from './budget.ts'
import { BUDGET_RULES, partOf, type BudgetRule } from './decide.ts'
import { checkBudget, DEFAULT_BUDGET, type BudgetPolicy } from './policy.ts'

export interface BudgetOptions {
  readonly clock?: Clock
}

/** A budget of any kind, to be created once and shared by the calls that it should hold together. */
export function createBudget(policy: BudgetPolicy = DEFAULT_BUDGET, options: BudgetOptions = {}): Budget {
  refuseProblems(checkBudget(policy))
  const rule: BudgetRule<BudgetPolicy, unknown> = BUDGET_RULES[policy.kind]
  return new RuledBudget(Object.freeze({ ...partOf(policy) }), rule, options.clock ?? systemClock)
}
