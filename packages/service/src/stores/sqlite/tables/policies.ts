import type { PolicyName, PolicyRecord } from '../../task-store.ts'
import type { Connection } from '../file/connection.ts'
import { policyOf, POLICY_COLUMNS, type PolicyRow } from '../rows/policy-rows.ts'

export interface Policies {
  /** The newest version unless another is named. */
  read(name: PolicyName, version?: number): PolicyRecord | undefined
  /** How many of a tenant's there are, whatever the number of their versions. */
  count(tenant: string): number
  write(record: PolicyRecord): void
}

export function createPolicies(connection: Connection): Policies {
  const newest = connection.row<PolicyRow>(
    `select ${POLICY_COLUMNS} from policy where tenant = ? and policy_id = ? order by version desc limit 1`,
  )
  const named = connection.row<PolicyRow>(
    `select ${POLICY_COLUMNS} from policy where tenant = ? and policy_id = ? and version = ?`,
  )
  // From name to name, each by one seek: versions may be a thousand times as many.
  const count = connection.row<[number]>(`
    with recursive named(policy_id) as (
      select min(policy_id) from policy where tenant = ?1
      union all
      select (select min(policy_id) from policy where tenant = ?1 and policy_id > named.policy_id)
      from named where policy_id is not null
    )
    select count(policy_id) from named`)
  const insert = connection.write(`insert into policy (${POLICY_COLUMNS}) values (?, ?, ?, ?, ?)`)
  return {
    read({ tenant, policyId }, version) {
      const row = version === undefined ? newest(tenant, policyId) : named(tenant, policyId, version)
      return row && policyOf(row)
    },
    count: tenant => count(tenant)![0],
    write: ({ tenant, policyId, version, document, createdAt }) =>
      insert(tenant, policyId, version, JSON.stringify(document), createdAt),
  }
}
