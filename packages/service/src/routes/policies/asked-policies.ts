import { nearPolicies, type NearPolicies } from './near-policies.ts'
import type { PolicyBook } from '../../policies/policy-book.ts'

/** The policies of a tenant, for one request. */
export interface AskedPolicies {
  /** At once where it is at hand; undefined when there is none of this name. */
  readonly named: (policyId: string) => Look
  readonly near: NearPolicies
}

type Look = ReturnType<PolicyBook['inForce']>
type Policies = Pick<PolicyBook, 'inForce' | 'names'>

/** For a request that names one. */
export function askedPolicy(policies: Policies, tenant: string): AskedPolicies {
  return {
    named: policyId => policies.inForce({ tenant, policyId }),
    near: policyId => nearPolicies(policies, tenant)(policyId),
  }
}

/** Each name is looked for once. A batch may have a name a thousand times, and the book remembers none that is unknown. */
export function askedPolicies(policies: Policies, tenant: string): AskedPolicies {
  const looks = new Map<string, Look>()
  return {
    named: policyId => {
      const look = looks.get(policyId) ?? policies.inForce({ tenant, policyId })
      looks.set(policyId, look)
      return look
    },
    near: nearPolicies(policies, tenant),
  }
}
