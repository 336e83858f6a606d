import { BUDGET_RULES, undo } from '../budget/decide.ts'
import { putBack } from '../tokens/decide.ts'
import type { LaneState, StartKind } from './decide.ts'
import type { LanePolicy } from './policy.ts'

/** What an attempt has cost its lane, and from what: after a change of policy a lane may have another budget or bucket. */
export interface Payment {
  readonly paidAt: number
  /** How the budget counted it; a retry that is a probe is free. */
  readonly counted: 'deposit' | 'withdraw' | undefined
  readonly budget: LaneState['budget']
  readonly bucket: LaneState['bucket']
}

interface Paying {
  readonly kind: StartKind
  readonly isProbe: boolean
}

/** What the rate and the budget have was asked before. */
export function pay(policy: LanePolicy, { budget, bucket }: LaneState, paying: Paying, now: number): Payment {
  const { kind, isProbe } = paying
  const rule = BUDGET_RULES[policy.budget.kind]
  const counted = kind === 'first' ? 'deposit' : isProbe ? undefined : 'withdraw'
  if (bucket !== undefined) bucket.tokens--
  if (counted === 'deposit') rule.deposit?.(policy.budget, budget, now)
  else if (counted === 'withdraw') rule.withdraw?.(policy.budget, budget, 'transient', now)
  return { paidAt: now, counted, budget, bucket }
}

/** The attempt was never sent. What was paid from a budget or a bucket that is no longer the lane's stays spent. */
export function payBack(policy: LanePolicy, { budget, bucket }: LaneState, payment: Payment, now: number): void {
  const { counted, paidAt: countedAt } = payment
  if (policy.rateLimit !== undefined && bucket !== undefined && bucket === payment.bucket)
    putBack(policy.rateLimit, bucket, now)
  if (counted !== undefined && budget === payment.budget) undo(policy.budget, budget, { counted, countedAt }, now)
}
