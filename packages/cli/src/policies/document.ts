import type { NamedPolicyInput, PolicyVersion } from '@secondwind/client'

/** The document alone, without what the service has written beside it. */
export function documentOf(policy: PolicyVersion): NamedPolicyInput {
  const own = Object.entries(policy).filter(([field]) => field !== 'version' && field !== 'createdAt')
  return Object.fromEntries(own) as unknown as NamedPolicyInput
}
