import type { BudgetRule, PipelinePolicyInput, RatioBudget } from '@secondwind/resilience'
import type { Counted } from '../engine/pipeline.ts'

/** Others have measured retries without a budget: this one never runs out, and lets a zero delay pass. */
export const UNLIMITED: RatioBudget = { kind: 'ratio', ratio: 10, windowMs: 1_000, minRetries: 1e9 }

/** Longer than anything here lasts. */
export const NEVER_MS = 1e11

/** Again at once, so often, and nothing else. */
export function immediately(
  name: string,
  maxAttempts: number,
  attemptTimeoutMs: number = NEVER_MS,
): PipelinePolicyInput {
  return {
    name,
    retry: {
      maxAttempts,
      initialDelayMs: 0,
      maxDelayMs: 0,
      jitterType: 'NONE',
      attemptTimeoutMs,
      totalBudgetMs: NEVER_MS,
    },
    budget: UNLIMITED,
  }
}

/** A bucket of five, a tenth for each first try, one for each retry while there is more than one (Brooker, 2022). */
const bucketRule: BudgetRule<RatioBudget, { tokens: number }> = {
  start: () => ({ tokens: 5 }),
  deposit(_, state) {
    state.tokens = Math.min(5, state.tokens + 0.1)
  },
  price: () => 1,
  balance: (_, state) => (state.tokens > 1 ? 1 : 0),
  withdraw(_, state) {
    state.tokens -= 1
  },
}

/** The same as it is told: a tenth for each success instead. */
const bucketBySuccessRule: typeof bucketRule = {
  ...bucketRule,
  deposit: () => undefined,
  settle(_, state, fault) {
    if (fault === undefined) state.tokens = Math.min(5, state.tokens + 0.1)
  },
}

/** No retries while more than a tenth has failed, of all first tries since the beginning (Brooker, 2022). */
const failureShareRule: BudgetRule<RatioBudget, { calls: number; failures: number }> = {
  start: () => ({ calls: 0, failures: 0 }),
  deposit(_, state) {
    state.calls++
  },
  price: () => 1,
  balance: (_, state) => (state.failures / state.calls > 0.1 ? 0 : 1),
  settle(_, state, fault) {
    if (fault !== undefined) state.failures++
  },
}

export const PUBLISHED_BUCKET: Counted = { policy: UNLIMITED, rule: bucketRule }
export const TOLD_BUCKET: Counted = { policy: UNLIMITED, rule: bucketBySuccessRule }
export const PUBLISHED_FAILURE_SHARE: Counted = { policy: UNLIMITED, rule: failureShareRule }
