import type { PolicyInForce } from '../../task/accept.ts'
import { nearPolicies, type NearPolicies } from './near-policies.ts'
import type { PolicyBook } from './policy-book.ts'

/** The policies of a tenant, for one request. */
export interface AskedPolicies {
  /** Undefined when there is none of this name. */
  readonly named: (policyId: string) => Promise<PolicyInForce | undefined>
  readonly near: NearPolicies
}

/** Each name is looked for once: a batch may have it a thousand times, and nobody remembers one that is none. */
export function askedPolicies(policies: Pick<PolicyBook, 'inForce' | 'names'>, tenant: string): AskedPolicies {
  const looks = new Map<string, Promise<PolicyInForce | undefined>>()
  return {
    named: policyId => {
      const look = looks.get(policyId) ?? policies.inForce({ tenant, policyId })
      looks.set(policyId, look)
      return look
    },
    near: nearPolicies(policies, tenant),
  }
}
