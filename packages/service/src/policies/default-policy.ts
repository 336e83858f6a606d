import assert from 'node:assert/strict'
import { presets } from '@secondwind/resilience'
import type { RecordStore } from '../stores/store.ts'
import { putPolicy } from './policy-book.ts'

/** What tasks without a policy of their own get. Where the tenant has a version of it, that one stays. */
export async function seedDefaultPolicy(
  store: Pick<RecordStore, 'record' | 'records' | 'write'>,
  tenant: string,
): Promise<void> {
  const document = presets.service.retry
  const { policyId } = document
  assert(policyId !== undefined, 'the preset has a name')
  await putPolicy(store, { tenant, policyId, document, ifVersion: 0 })
}
