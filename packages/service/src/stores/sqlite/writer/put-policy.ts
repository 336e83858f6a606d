import { isDeepStrictEqual } from 'node:util'
import type { NewPolicy, PutPolicy } from '../../task-store.ts'
import type { Writer } from './writer.ts'

const NO_BOUND = { policies: Infinity, versions: Infinity }

/** The same document again changes nothing; another becomes the next version. */
export function putPolicy({ now, policies, audit }: Writer, ask: NewPolicy): PutPolicy {
  const { tenant, policyId, document, ifVersion, most = NO_BOUND } = ask
  const present = policies.read(ask)
  if (ifVersion !== undefined && ifVersion !== (present?.version ?? 0))
    return { kind: 'conflict', ...(present && { record: present }) }
  // As it would be read again: a field that is undefined is none.
  const kept: unknown = JSON.parse(JSON.stringify(document))
  if (present !== undefined && isDeepStrictEqual(present.document, kept)) return { kind: 'same', record: present }
  if (present !== undefined && present.version >= most.versions) return { kind: 'full', record: present }
  if (present === undefined && most !== NO_BOUND && policies.count(tenant) >= most.policies) return { kind: 'full' }
  const record = { tenant, policyId, version: (present?.version ?? 0) + 1, document, createdAt: now }
  policies.write(record)
  if (ask.audit !== undefined) audit.add(ask.audit, now)
  return { kind: present === undefined ? 'created' : 'new-version', record }
}
