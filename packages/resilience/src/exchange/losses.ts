import type { BudgetPolicy } from '../budget/policy.ts'
import { checkPolicy, type PipelinePolicy, type PipelinePolicyInput, type PolicyCheck } from '../pipeline/policy.ts'
import { plainDelayMs } from '../retry/backoff.ts'
import type { RetryPolicy, RetryPolicyInput } from '../retry/policy.ts'
import type { Loss } from './document.ts'

/** What can be exported: a pipeline's document, or the bare policy, which says nothing of a budget. */
export type AnyPolicyInput = RetryPolicyInput | PipelinePolicyInput

export type WholePolicy = Partial<PipelinePolicy> & { readonly retry: RetryPolicy }

/** The policy with its defaults, or what is wrong with it. */
export function completePolicy(input: AnyPolicyInput): PolicyCheck<WholePolicy> {
  const checked = checkPolicy<unknown>(input)
  if (checked.policy === undefined) return checked
  return { policy: 'retry' in checked.policy ? checked.policy : { retry: checked.policy } }
}

/** What has no place in the other document, whatever it says. */
export function lostParts(policy: WholePolicy, carried: readonly string[], whose: string): Loss[] {
  const { retry, ...parts } = policy
  const { policyId, inProcess } = retry
  const all = Object.entries({ ...parts, 'retry.policyId': policyId, 'retry.inProcess': inProcess })
  return all
    .filter(([at, is]) => is !== undefined && !carried.includes(at))
    .map(([at, is]) => ({ at, is, say: `has no counterpart in ${whose}` }))
}

/** What every kind of budget has and no proxy knows. */
export function lostBudgetFields({ whenEmpty, replicas }: BudgetPolicy, whose: string): Loss[] {
  const say = `has no counterpart in ${whose}`
  const losses: Loss[] = []
  if (whenEmpty === 'deny-calls') losses.push({ at: 'budget.whenEmpty', is: whenEmpty, say })
  if (replicas !== undefined) losses.push({ at: 'budget.replicas', is: replicas, say })
  return losses
}

export type Waits = Pick<
  RetryPolicy,
  'backoffType' | 'initialDelayMs' | 'multiplier' | 'maxDelayMs' | 'jitterType' | 'jitterRatio' | 'minDelayMs'
>

/** How the policy's waits differ from `theirs`. Judged by the waits there are, not by the name of their curve. */
export function lostWaits(policy: RetryPolicy, theirs: Waits, whose: string): Loss[] {
  if (policy.maxAttempts === 1) return []
  const losses: Loss[] = []
  const waitMs = (waits: Waits, retry: number): number => plainDelayMs({ ...policy, ...waits }, retry)
  for (let retry = 1; retry < policy.maxAttempts; retry++) {
    const [ours, becomes] = [waitMs(policy, retry), waitMs(theirs, retry)]
    // Rounded down too: jitter draws from below one and a half milliseconds as from below one, and not as from below two.
    if (Math.round(ours) === Math.round(becomes) && Math.floor(ours) === Math.floor(becomes)) continue
    const say = `waits ${shortly(ours)} ms before retry ${retry}; in ${whose} it is ${shortly(becomes)} ms`
    losses.push({ at: 'retry.backoffType', is: policy.backoffType, say })
    break
  }
  const jitter = jitterOf(theirs)
  if (jitterOf(policy) !== jitter)
    losses.push({ at: 'retry.jitterType', is: policy.jitterType, say: `is ${jitter} in ${whose}` })
  if (policy.minDelayMs > 0)
    losses.push({ at: 'retry.minDelayMs', is: policy.minDelayMs, say: `has no counterpart in ${whose}` })
  return losses
}

function shortly(ms: number): number {
  return Math.round(ms * 10) / 10
}

function jitterOf({ jitterType, jitterRatio }: Waits): string {
  return jitterType === 'PROPORTIONAL' ? `${jitterType} ${jitterRatio}` : jitterType
}
