import type { PolicyName, PolicyRecord } from '../../task-store.ts'
import type { Connection } from '../file/connection.ts'
import { policyOf, POLICY_COLUMNS, type PolicyRow } from '../rows/policy-rows.ts'

export interface Policies {
  /** The newest version unless another is named. */
  read(name: PolicyName, version?: number): PolicyRecord | undefined
  write(record: PolicyRecord): void
}

export function createPolicies(connection: Connection): Policies {
  const newest = connection.row<PolicyRow>(
    `select ${POLICY_COLUMNS} from policy where tenant = ? and policy_id = ? order by version desc limit 1`,
  )
  const named = connection.row<PolicyRow>(
    `select ${POLICY_COLUMNS} from policy where tenant = ? and policy_id = ? and version = ?`,
  )
  const insert = connection.write(`insert into policy (${POLICY_COLUMNS}) values (?, ?, ?, ?, ?)`)
  return {
    read({ tenant, policyId }, version) {
      const row = version === undefined ? newest(tenant, policyId) : named(tenant, policyId, version)
      return row && policyOf(row)
    },
    write: ({ tenant, policyId, version, document, createdAt }) =>
      void insert(tenant, policyId, version, JSON.stringify(document), createdAt),
  }
}
