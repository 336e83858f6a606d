import { isDeepStrictEqual } from 'node:util'
import type { RetryPolicy } from '@secondwind/resilience'
import { cursorOf } from '../cursor.ts'
import type { Page, PageAsk, PolicyRecord, PutPolicy } from '../task-store.ts'
import { pageFrom } from './page.ts'

const POLICIES = cursorOf('policies', 'string')
const VERSIONS = cursorOf('policyVersions', 'number')

/** Every version of every policy. */
export class PolicyBook {
  /** The newest last. */
  readonly #versions = new Map<string, PolicyRecord[]>()

  put(policyId: string, document: RetryPolicy, now: number): PutPolicy {
    const versions = this.#versions.get(policyId) ?? []
    const newest = versions.at(-1)
    if (newest !== undefined && isDeepStrictEqual(newest.document, document)) return { kind: 'same', record: newest }
    const record = { policyId, version: versions.length + 1, document, createdAt: now }
    this.#versions.set(policyId, [...versions, record])
    return { kind: newest === undefined ? 'created' : 'new-version', record }
  }

  find(policyId: string, version?: number): PolicyRecord | undefined {
    const versions = this.#versions.get(policyId)
    return version === undefined ? versions?.at(-1) : versions?.[version - 1]
  }

  list(page: PageAsk): Page<PolicyRecord> {
    const newest = [...this.#versions.values()].map(versions => versions.at(-1)!)
    const byName = newest.toSorted((one, other) => (one.policyId < other.policyId ? -1 : 1))
    return pageFrom(byName, page, POLICIES, {
      placeOf: ({ policyId }): [string] => [policyId],
      isShown: ({ policyId }, [last]) => policyId <= last,
    })
  }

  versions(policyId: string, page: PageAsk): Page<PolicyRecord> {
    return pageFrom((this.#versions.get(policyId) ?? []).toReversed(), page, VERSIONS, {
      placeOf: ({ version }): [number] => [version],
      isShown: ({ version }, [last]) => version >= last,
    })
  }
}
