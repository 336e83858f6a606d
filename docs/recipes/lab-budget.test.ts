import assert from 'node:assert/strict'
import { it } from 'vitest'
// #region import
import { runScenario, SCENARIOS, type Counted } from '@secondwind/lab'
import { DEFAULT_BUDGET, type BudgetRule, type RatioBudget } from '@secondwind/resilience'
// #endregion

it('a budget of another kind is tried in the world of the lab', () => {
  // #region rule
  // Ten tokens to begin with. Each retry takes one, and each success puts a tenth of one back.
  const bucket: BudgetRule<RatioBudget, { tokens: number }> = {
    start: () => ({ tokens: 10 }),
    price: () => 1,
    balance: (_, state) => state.tokens,
    withdraw: (_, state) => void (state.tokens -= 1),
    settle: (_, state, fault) => void (state.tokens = Math.min(10, state.tokens + (fault === undefined ? 0.1 : 0))),
  }
  const counted: Counted = { policy: DEFAULT_BUDGET, rule: bucket }
  // #endregion
  // #region compare
  const outage = SCENARIOS['outage']!
  const retriesWith = (budgets: { [pipeline: string]: Counted }) =>
    runScenario(outage, { seed: 1, budgets }).dependencies['dependency']!.retries

  const [ours, theirs] = [retriesWith({}), retriesWith({ policy: counted })] // by the name of the pipeline
  assert.deepEqual([ours, theirs], [615, 30])
  // #endregion
})
