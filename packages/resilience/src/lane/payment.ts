import { BUDGET_RULES, undo } from '../budget/decide.ts'
import { putBack } from '../tokens/decide.ts'
import { spend, unspend, type Moment, type Spent } from './credit.ts'
import type { LaneState, Start } from './decide.ts'
import type { LanePolicy } from './policy.ts'

/** What an attempt has cost its lane, and from what: after a change of policy a lane may have another budget or bucket. */
export interface Payment {
  readonly paidAt: number
  readonly spent: Spent
  /** How the budget counted it; an attempt by hand is free. */
  readonly counted: 'deposit' | 'withdraw' | undefined
  readonly budget: LaneState['budget']
  readonly bucket: LaneState['bucket']
}

type Paying = Pick<Start, 'kind' | 'isByHand'> & {
  /** It need not have credit. */
  readonly free: 'hand' | 'order' | undefined
}

/** The gates were asked before. */
export function pay(policy: LanePolicy, state: LaneState, paying: Paying, moment: Moment): Payment {
  const { kind, isByHand = false, free } = paying
  const { budget, bucket } = state
  const { now } = moment
  if (bucket !== undefined) bucket.tokens--
  if (free === 'hand') state.freeByHand++
  const counted = kind === 'first' ? 'deposit' : isByHand ? undefined : 'withdraw'
  if (policy.budget !== undefined && budget !== undefined) {
    const rule = BUDGET_RULES[policy.budget.kind]
    if (counted === 'deposit') rule.deposit?.(policy.budget, budget, now)
    else if (counted === 'withdraw') rule.withdraw?.(policy.budget, budget, 'transient', now)
  }
  const spent: Spent = free === undefined ? spend(policy.credit, state.credit, kind, moment) : { from: free }
  return { paidAt: now, spent, counted, budget, bucket }
}

/** The attempt was never sent. What was paid from a budget or a bucket that is no longer the lane's stays spent. */
export function payBack(policy: LanePolicy, state: LaneState, payment: Payment, now: number): void {
  const { counted, paidAt: countedAt, spent } = payment
  const { budget, bucket } = state
  endByHand(state, spent)
  unspend(state.credit, spent)
  if (policy.rateLimit !== undefined && bucket !== undefined && bucket === payment.bucket)
    putBack(policy.rateLimit, bucket, now)
  if (counted !== undefined && policy.budget !== undefined && budget !== undefined && budget === payment.budget)
    undo(policy.budget, budget, { counted, countedAt }, now)
}

/** Another attempt by hand may be sent without credit. */
export function endByHand(state: LaneState, { from }: Spent): void {
  if (from === 'hand') state.freeByHand--
}
