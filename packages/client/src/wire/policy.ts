import type { RetryPolicy, RetryPolicyInput } from '@secondwind/resilience'

/** A document with the name under which it is kept; what it leaves out is as in the service's own `default`. */
export type NamedPolicyInput = RetryPolicyInput & { readonly policyId: string }

/** A version of a policy, with every default filled in. */
export interface PolicyVersion extends RetryPolicy {
  readonly policyId: string
  /** Grows with every other document of this name. */
  readonly version: number
  readonly createdAt: number
}
