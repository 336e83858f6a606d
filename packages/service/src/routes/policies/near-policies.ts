import { didYouMean } from '../requests/near-words.ts'
import type { PolicyBook } from '../../policies/policy-book.ts'

/** `; did you mean …?` when a policy of the tenant has a name like this one, else nothing. */
export type NearPolicies = (policyId: string) => Promise<string>

/** No reader needs more hints in one answer, and each costs as much as comparing a page of names. */
const MOST_HINTS = 10

/** For one request: a batch may name thousands of policies that are none. */
export function nearPolicies(policies: Pick<PolicyBook, 'names'>, tenant: string): NearPolicies {
  const hints = new Map<string, string>()
  let names: Promise<readonly string[]> | undefined
  return async policyId => {
    const known = hints.get(policyId)
    if (known !== undefined || hints.size >= MOST_HINTS) return known ?? ''
    names ??= policies.names(tenant)
    const hint = didYouMean(policyId, await names)
    hints.set(policyId, hint)
    return hint
  }
}
