import type { Fault } from '../classify/outcome.ts'
import { putBack, refill, type Tokens } from '../tokens/decide.ts'
import { count, emptyWindow, forgetOld, uncount, type WindowCounts } from '../window/decide.ts'
import type { BudgetPolicy, ConcurrentBudget, QuotaBudget, RateBudget, RatioBudget, TokenBudget } from './policy.ts'

/** How one kind of budget counts. Its state is changed in place: it is written at every call. */
export interface BudgetRule<Policy, State> {
  start(policy: Policy, now: number): State
  /** A first attempt begins. */
  deposit?(policy: Policy, state: State, now: number): void
  /** What a retry after `fault` costs. */
  price(policy: Policy, fault: Fault): number
  /** What retries can be paid from: one may begin while this is not less than its price. */
  balance(policy: Policy, state: State, now: number): number
  /** A retry after `fault` begins. */
  withdraw?(policy: Policy, state: State, fault: Fault, now: number): void
  /** An attempt ended: with `fault`, or well. `paidFor` is the fault its retry was withdrawn for, if it was one. */
  settle?(policy: Policy, state: State, fault: Fault | undefined, paidFor: Fault | undefined): void
}

const CALLS = 0
const RETRIES = 1

export const ratioRule: BudgetRule<RatioBudget, WindowCounts> = {
  start: ({ windowMs }, now) => emptyWindow(windowMs, 2, now),
  deposit: (_, window, now) => count(window, CALLS, now),
  price: () => 1,
  balance(policy, window, now) {
    forgetOld(window, now)
    return ratioBalance(policy, window.sums)
  },
  withdraw: (_, window, __, now) => count(window, RETRIES, now),
}

/** What is left by the sums of a window. */
export function ratioBalance(policy: RatioBudget, sums: readonly number[]): number {
  const [calls, retries] = sums as [number, number]
  const base = policy.of === 'attempts' ? calls + retries : calls
  if (base < (policy.minCalls ?? 0)) return Infinity
  // Rounded up: a retry is allowed while the ratio is not yet reached, even if it then is by a fraction.
  return Math.ceil(Math.max(policy.minRetries, policy.ratio * base - EPSILON) + (policy.reserve ?? 0)) - retries
}

/** Ten times a tenth is a little more than one. */
const EPSILON = 1e-9

const tokenRule: BudgetRule<TokenBudget, { tokens: number }> = {
  start: ({ maxTokens }) => ({ tokens: maxTokens }),
  // Failures have paid already: a retry needs only that more than half is left.
  price: () => Number.MIN_VALUE,
  balance: ({ maxTokens }, state) => state.tokens - maxTokens / 2,
  settle(policy, state, fault) {
    if (fault === 'permanent' || fault === 'ignored') return
    const change = fault === undefined ? Math.floor(policy.tokenRatio * 1000 + EPSILON) / 1000 : -1
    // Kept in thousandths, as the ratio is: a hundred tenths are ten.
    state.tokens = clamp(Math.round((state.tokens + change) * 1000) / 1000, policy.maxTokens)
  },
}

const quotaRule: BudgetRule<QuotaBudget, { available: number }> = {
  start: ({ capacity }) => ({ available: capacity }),
  price: (policy, fault) => (fault === 'throttled' ? policy.throttledCost : policy.retryCost),
  balance: (_, state) => state.available,
  withdraw(policy, state, fault) {
    state.available -= quotaRule.price(policy, fault)
  },
  settle(policy, state, fault, paidFor) {
    if (fault !== undefined) return
    const gain = paidFor === undefined ? policy.successGain : quotaRule.price(policy, paidFor)
    state.available = clamp(state.available + gain, policy.capacity)
  },
}

const rateRule: BudgetRule<RateBudget, Tokens> = {
  start: ({ burst }, now) => ({ tokens: burst, countedAt: now }),
  price: () => 1,
  balance(policy, state, now) {
    refill(policy, state, now)
    return state.tokens
  },
  withdraw(_, state) {
    state.tokens -= 1
  },
}

const concurrentRule: BudgetRule<ConcurrentBudget, { calls: number; retries: number }> = {
  start: () => ({ calls: 0, retries: 0 }),
  deposit(_, state) {
    state.calls++
  },
  price: () => 1,
  balance: (policy, state) => Math.floor(Math.max(policy.minRetries, policy.ratio * state.calls)) - state.retries,
  withdraw(_, state) {
    state.calls++
    state.retries++
  },
  settle(_, state, __, paidFor) {
    state.calls--
    if (paidFor !== undefined) state.retries--
  },
}

/** By kind. Each rule sees only policies and states of its own kind; the compiler cannot know that. */
// oxlint-disable-next-line typescript/no-explicit-any
export const BUDGET_RULES: { readonly [kind in BudgetPolicy['kind']]: BudgetRule<any, any> } = {
  ratio: ratioRule,
  tokens: tokenRule,
  quota: quotaRule,
  rate: rateRule,
  concurrent: concurrentRule,
}

/** How a budget counted an attempt, and when. */
export interface Counted {
  readonly counted: 'deposit' | 'withdraw'
  readonly countedAt: number
}

/** It was never sent. Only lanes ask, with the kinds that they have: no verb of the rules, which every bundle carries whole. */
export function undo(
  policy: RatioBudget | RateBudget,
  state: WindowCounts | Tokens,
  { counted, countedAt }: Counted,
  now: number,
): void {
  if (policy.kind === 'ratio') uncount(state as WindowCounts, counted === 'deposit' ? CALLS : RETRIES, countedAt, now)
  else if (counted === 'withdraw') putBack(policy, state as Tokens, now)
}

/**
 * One process's part of a budget that is meant for several. What is in proportion to its own calls stays as it is; the
 * rest is divided, rounded up, and never less than one retry costs: nothing could ever be paid from less.
 */
export function partOf(policy: BudgetPolicy): BudgetPolicy {
  const { replicas = 1 } = policy
  const part = (whole: number, least = 0): number => Math.max(least, Math.ceil(whole / replicas))
  switch (policy.kind) {
    case 'ratio':
      return {
        ...policy,
        minRetries: part(policy.minRetries),
        reserve: part(policy.reserve ?? 0),
        minCalls: part(policy.minCalls ?? 0),
      }
    case 'quota':
      return { ...policy, capacity: part(policy.capacity, Math.max(policy.retryCost, policy.throttledCost)) }
    case 'rate':
      return { ...policy, perSecond: policy.perSecond / replicas, burst: Math.max(1, policy.burst / replicas) }
    case 'concurrent':
      return { ...policy, minRetries: part(policy.minRetries) }
    case 'tokens':
      return policy
  }
}

function clamp(value: number, most: number): number {
  return Math.max(0, Math.min(most, value))
}
