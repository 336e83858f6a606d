import { isDeepStrictEqual } from 'node:util'
import type { RetryPolicy } from '@secondwind/resilience'
import { isRoomFor } from '../stores/record-pages.ts'
import type { AuditLine, RecordStore } from '../stores/store.ts'
import { writtenRecord } from '../stores/written-record.ts'
import { policyOf, policyRecord, policyVersionRecord, type PolicyName, type PolicyRecord } from './policy-records.ts'

export interface NewPolicy extends PolicyName {
  readonly document: RetryPolicy
  /** The version that must be the newest; 0 when there must be none. Left out: any. */
  readonly ifVersion?: number
  readonly audit?: AuditLine
}

export type PutPolicy =
  | { readonly kind: 'created' | 'same' | 'new-version'; readonly record: PolicyRecord }
  /** Another version is the newest; `record` is that one, absent when there is none. */
  | { readonly kind: 'conflict'; readonly record?: PolicyRecord }
  /** The tenant has as many policies as it may; with a record, this policy has as many versions. */
  | { readonly kind: 'full'; readonly record?: PolicyRecord }

/** Of each tenant, and of each policy: a program that makes a policy for every task should send it with the task. */
export const MOST_POLICIES = 1_000
export const MOST_VERSIONS = 1_000

/** Of callers that write the same policy at the same moment one succeeds at each try. */
const MOST_TRIES = 20

/** The same document again changes nothing; another one becomes the next version. */
export async function putPolicy(
  store: Pick<RecordStore, 'record' | 'records' | 'write'>,
  policy: NewPolicy,
): Promise<PutPolicy> {
  const { tenant, document, ifVersion, audit } = policy
  for (let tries = 1; ; tries++) {
    const found = await store.record(policyRecord(policy))
    const newest = found && policyOf(found)
    const version = newest?.version ?? 0
    if (version !== (ifVersion ?? version) || tries > MOST_TRIES)
      return { kind: 'conflict', ...(newest && { record: newest }) }
    if (newest !== undefined && isDeepStrictEqual(newest.document, document)) return { kind: 'same', record: newest }
    if (newest !== undefined && version >= MOST_VERSIONS) return { kind: 'full', record: newest }
    if (newest === undefined && !(await isRoomFor(store, { kind: 'policy', tenant, most: MOST_POLICIES })))
      return { kind: 'full' }
    const content = { tenant, document: { ...document } }
    const written = await store.write(
      [
        { ...policyRecord(policy), ...content, ifVersion: version },
        { ...policyVersionRecord(policy, version + 1), ...content, ifVersion: 0 },
      ],
      audit,
    )
    if (written.kind === 'conflict') continue
    const record = policyOf(writtenRecord(written))
    return { kind: newest === undefined ? 'created' : 'new-version', record }
  }
}
