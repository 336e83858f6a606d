import type { RetryPolicy } from '@secondwind/resilience'
import type { PolicyRecord } from '../../task-store.ts'

export type PolicyRow = readonly [policyId: string, version: number, document: string, createdAt: number]

export const POLICY_COLUMNS = 'policy_id, version, document, created_at'

export function policyOf([policyId, version, document, createdAt]: PolicyRow): PolicyRecord {
  return { policyId, version, document: JSON.parse(document) as RetryPolicy, createdAt }
}
