import { isDeepStrictEqual } from 'node:util'
import type { RetryPolicy } from '@secondwind/resilience'
import type { PutPolicy } from '../../task-store.ts'
import type { Writer } from './writer.ts'

export interface PutPolicyAsk {
  readonly policyId: string
  readonly document: RetryPolicy
}

/** The same document again changes nothing; another becomes the next version. */
export function putPolicy({ now, policies }: Writer, { policyId, document }: PutPolicyAsk): PutPolicy {
  const present = policies.read(policyId)
  // As it would be read again: a field that is undefined is none.
  const kept: unknown = JSON.parse(JSON.stringify(document))
  if (present !== undefined && isDeepStrictEqual(present.document, kept)) return { kind: 'same', record: present }
  const record = { policyId, version: (present?.version ?? 0) + 1, document, createdAt: now }
  policies.write(record)
  return { kind: present === undefined ? 'created' : 'new-version', record }
}
