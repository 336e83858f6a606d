import { withoutUndefined } from '../check/problems.ts'
import { checkRetryPolicy, DEFAULT_POLICY, type RetryPolicy, type RetryPolicyInput } from '../retry/policy.ts'

/** How often one looks where nobody notifies: soon at first, then every second, for half a minute. */
export const DEFAULT_WAIT: RetryPolicy = {
  ...DEFAULT_POLICY,
  initialDelayMs: 50, // most locks are held for less; a tenth of a second would be felt
  maxDelayMs: 1_000, // a look a second is no load, and nobody waits much longer than they must
  jitterType: 'EQUAL', // spread, but never at once: a look that follows a look sees the same
}

/** The ends of the range that nobody named make room for the other, as in every policy. */
export function withWaitDefaults(input: RetryPolicyInput): RetryPolicyInput {
  // What is wrong is refused as it was written, without what would follow from it.
  if (checkRetryPolicy(input).problems !== undefined) return input
  const policy = { ...DEFAULT_WAIT, ...withoutUndefined(input) }
  const { maxDelayMs = Math.max(policy.maxDelayMs, policy.initialDelayMs, ...(policy.delaysMs ?? [])) } = input
  const { initialDelayMs = Math.min(policy.initialDelayMs, maxDelayMs) } = input
  return { ...policy, maxDelayMs, initialDelayMs }
}
