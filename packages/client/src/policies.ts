import { onVersion, type Call, type Caller, type ChangeCall } from './caller.ts'
import { POLICY_ID, refuse, refuseUnless } from './check/fields.ts'
import { problemsOfPolicy } from './check/task.ts'
import { listing, type Listing } from './listing.ts'
import type { Page } from './wire/page.ts'
import type { NamedPolicyInput, PolicyVersion } from './wire/policy.ts'

/** `/retry-policies`. */
export interface Policies {
  /** Keeps a document under its name: another one becomes the next version, the same one changes nothing. */
  put(policy: NamedPolicyInput, call?: ChangeCall): Promise<PolicyVersion>
  /** The newest version. */
  get(policyId: string, call?: Call): Promise<PolicyVersion>
  /** The newest version of each, by name. */
  list(call?: Call): Listing<PolicyVersion>
  /** All versions of one, the newest first. */
  versions(policyId: string, call?: Call): Listing<PolicyVersion>
}

const PATH = '/retry-policies'

export function policiesOf(caller: Caller): Policies {
  return {
    async put(policy, { signal, ifVersion } = {}) {
      const wanted = POLICY_ID(policy?.policyId)
      refuse('the policy cannot be kept', [
        ...(wanted === undefined ? [] : [{ at: 'policyId', is: policy?.policyId, say: `must be ${wanted}` }]),
        ...problemsOfPolicy(policy),
      ])
      return caller.ask({ method: 'POST', mark: 'policyId', path: PATH, body: policy, ...onVersion(ifVersion), signal })
    },
    get: async (policyId, { signal } = {}) =>
      caller.ask({ method: 'GET', mark: 'policyId', path: pathOf(policyId), signal }),
    list: ({ signal } = {}) =>
      listing(query => caller.ask<Page<PolicyVersion>>({ method: 'GET', mark: 'items', path: PATH, query, signal })),
    versions(policyId, { signal } = {}) {
      const path = `${pathOf(policyId)}/versions`
      return listing(query => caller.ask<Page<PolicyVersion>>({ method: 'GET', mark: 'items', path, query, signal }))
    },
  }
}

function pathOf(policyId: string): string {
  refuseUnless(POLICY_ID, 'policyId', policyId, 'there is no such policy')
  return `${PATH}/${policyId}`
}
