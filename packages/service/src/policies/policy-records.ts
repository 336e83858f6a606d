/**
 * How policies are kept: the newest version as a record whose version is the policy's, and every version as a record of its
 * own.
 */
import type { RetryPolicy } from '@secondwind/resilience'
import { documentOf, type RecordName, type StoredRecord } from '../stores/store.ts'

/** Each tenant has policies of its own. */
export interface PolicyName {
  readonly tenant: string
  readonly policyId: string
}

/** One version of a policy. */
export interface PolicyRecord extends PolicyName {
  readonly version: number
  readonly document: RetryPolicy
  readonly createdAt: number
}

/** No name holds a line break, so that no two policies share an id. */
export function policyRecord({ tenant, policyId }: PolicyName): RecordName {
  return { kind: 'policy', id: `${tenant}\n${policyId}` }
}

export function policyVersionRecord(name: PolicyName, version: number): RecordName {
  return { kind: 'policy-version', id: `${policyVersionsOf(name)}${String(version).padStart(6, '0')}` }
}

/** The ids of all versions of a policy begin so. */
export function policyVersionsOf({ tenant, policyId }: PolicyName): string {
  return `${tenant}\n${policyId}\n`
}

/** The policy of a record of either kind. The record of a version is written once. */
export function policyOf(record: StoredRecord): PolicyRecord {
  const { id, tenant, changedAt: createdAt } = record
  const [, policyId = '', version = record.version] = id.split('\n')
  return { tenant, policyId, version: Number(version), document: documentOf<RetryPolicy>(record), createdAt }
}
