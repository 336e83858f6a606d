import type { RetryPolicy } from '@secondwind/resilience'
import type { PolicyRecord } from '../../task-store.ts'

export type PolicyRow = readonly [
  tenant: string,
  policyId: string,
  version: number,
  document: string,
  createdAt: number,
]

export const POLICY_COLUMNS = 'tenant, policy_id, version, document, created_at'

export function policyOf([tenant, policyId, version, document, createdAt]: PolicyRow): PolicyRecord {
  return { tenant, policyId, version, document: JSON.parse(document) as RetryPolicy, createdAt }
}
