import { isDeepStrictEqual } from 'node:util'
import { cursorOf } from '../cursor.ts'
import type { NewPolicy, Page, PoliciesPage, PolicyName, PolicyRecord, PutPolicy, VersionsPage } from '../task-store.ts'
import type { AuditBook } from './audit-book.ts'
import { pageFrom } from './page.ts'

const POLICIES = cursorOf('policies', 'string')
const VERSIONS = cursorOf('policyVersions', 'number')

const NO_BOUND = { policies: Infinity, versions: Infinity }

/** Every version of every policy. */
export class PolicyBook {
  /** The newest last. */
  readonly #versions = new Map<string, PolicyRecord[]>()
  readonly #audit: AuditBook

  constructor(audit: AuditBook) {
    this.#audit = audit
  }

  put({ tenant, policyId, document, ifVersion, most = NO_BOUND, audit }: NewPolicy, now: number): PutPolicy {
    const name = nameOf({ tenant, policyId })
    const versions = this.#versions.get(name) ?? []
    const newest = versions.at(-1)
    if (ifVersion !== undefined && ifVersion !== versions.length)
      return { kind: 'conflict', ...(newest && { record: newest }) }
    if (newest !== undefined && isDeepStrictEqual(newest.document, document)) return { kind: 'same', record: newest }
    if (versions.length >= most.versions) return { kind: 'full', record: newest! }
    if (newest === undefined && this.#newestOf(tenant).length >= most.policies) return { kind: 'full' }
    const record = { tenant, policyId, version: versions.length + 1, document, createdAt: now }
    this.#versions.set(name, [...versions, record])
    if (audit !== undefined) this.#audit.add(audit, now)
    return { kind: newest === undefined ? 'created' : 'new-version', record }
  }

  find(name: PolicyName, version?: number): PolicyRecord | undefined {
    const versions = this.#versions.get(nameOf(name))
    return version === undefined ? versions?.at(-1) : versions?.[version - 1]
  }

  list({ tenant, ...page }: PoliciesPage): Page<PolicyRecord> {
    const byName = this.#newestOf(tenant).toSorted((one, other) => (one.policyId < other.policyId ? -1 : 1))
    return pageFrom(byName, page, POLICIES, {
      placeOf: ({ policyId }): [string] => [policyId],
      isShown: ({ policyId }, [last]) => policyId <= last,
    })
  }

  #newestOf(tenant: string): PolicyRecord[] {
    return [...this.#versions.values()].map(versions => versions.at(-1)!).filter(one => one.tenant === tenant)
  }

  versions({ tenant, policyId, ...page }: VersionsPage): Page<PolicyRecord> {
    const versions = this.#versions.get(nameOf({ tenant, policyId })) ?? []
    return pageFrom(versions.toReversed(), page, VERSIONS, {
      placeOf: ({ version }): [number] => [version],
      isShown: ({ version }, [last]) => version >= last,
    })
  }
}

/** No tenant holds a space. */
function nameOf({ tenant, policyId }: PolicyName): string {
  return `${tenant} ${policyId}`
}
