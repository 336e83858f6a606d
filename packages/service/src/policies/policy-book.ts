/**
 * The policies: the newest version is a record whose version is the policy's, and each version is a record of its own.
 */
import type { Clock, RetryPolicy } from '@secondwind/resilience'
import {
  documentOf,
  type AuditLine,
  type Page,
  type PageAsk,
  type RecordName,
  type RecordStore,
  type StoredRecord,
} from '../stores/store.ts'
import type { PolicyInForce } from '../task/accept.ts'
import type { AcceptedTask } from '../task/task.ts'
import { isDeepStrictEqual } from 'node:util'
import { isRoomFor } from '../stores/record-pages.ts'
import { writtenRecord } from '../stores/written-record.ts'

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

/** Another instance may have written a newer version: this one sees it so much later at most. */
const FRESH_MS = 1_000

/** More policies, versions and tenants than are in use at once. The oldest are forgotten. */
const MOST_KNOWN = 1_000

/** Names that a hint is looked for among. */
const MOST_NAMES = 200

type PolicyStore = Pick<RecordStore, 'record' | 'records' | 'write'>

/** The parts of a task that name its policy. */
type OfPolicy = Pick<AcceptedTask, 'tenant' | 'policyId' | 'policyVersion' | 'policy'>

/** What was read, and when. */
interface Reading<Value> {
  readonly value: Value
  readonly at: number
}

/**
 * The policies at hand, for intake and attempts. To ask the store for every task would double its way. The newest version
 * is read again after a second. A version never changes, so that it is read once.
 */
export class PolicyBook {
  readonly #store: PolicyStore
  readonly #clock: Clock
  /** The newest versions, by the ids of their records. */
  readonly #newest = new Map<string, Reading<PolicyInForce>>()
  /** Documents, by the ids of the records of their versions. */
  readonly #versions = new Map<string, RetryPolicy>()
  /** By tenant. */
  readonly #names = new Map<string, Reading<readonly string[]>>()

  constructor(store: PolicyStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** The newest version, at once where it is at hand; undefined when there is no policy of this name. */
  inForce(name: PolicyName): PolicyInForce | Promise<PolicyInForce | undefined> {
    const known = this.#newest.get(policyRecord(name).id)
    return this.#isFresh(known) ? known.value : this.#readNewest(name)
  }

  /** The document of a task's policy if it is at hand: most tasks wait for no promise. */
  atHand(task: OfPolicy): RetryPolicy | undefined {
    return task.policy ?? this.#versions.get(policyVersionRecord(task, task.policyVersion).id)
  }

  /** The document of a task's policy; rejects when the store fails. */
  async find(task: OfPolicy): Promise<RetryPolicy | 'missing'> {
    return task.policy ?? (await this.documentOf(task, task.policyVersion)) ?? 'missing'
  }

  /** The document of a version; undefined when there is no such version. */
  async documentOf(name: PolicyName, version: number): Promise<RetryPolicy | undefined> {
    const { kind, id } = policyVersionRecord(name, version)
    const known = this.#versions.get(id)
    if (known !== undefined) return known
    const record = await this.#store.record({ kind, id })
    const document = record && policyOf(record).document
    if (document !== undefined) remember(this.#versions, id, document)
    return document
  }

  /** The newest version, always exact. */
  async newest(name: PolicyName): Promise<PolicyRecord | undefined> {
    const record = await this.#store.record(policyRecord(name))
    return record && policyOf(record)
  }

  async put(policy: NewPolicy): Promise<PutPolicy> {
    const put = await putPolicy(this.#store, policy)
    this.#names.delete(policy.tenant)
    if (put.record !== undefined) this.#keep(put.record)
    return put
  }

  /** The newest version of every policy of a tenant, by name. */
  async list(ask: PageAsk & Pick<PolicyName, 'tenant'>): Promise<Page<PolicyRecord>> {
    return pageOf(await this.#store.records({ kind: 'policy', ...ask }))
  }

  /** All versions of a policy, the newest first. */
  async versions({ tenant, policyId, ...page }: PageAsk & PolicyName): Promise<Page<PolicyRecord>> {
    const which = { kind: 'policy-version', tenant, prefix: policyVersionsOf({ tenant, policyId }) } as const
    return pageOf(await this.#store.records({ ...which, order: 'newest-first', ...page }))
  }

  /** Some of a tenant's names, for a caller that mistyped one. A program mistypes it with every task. */
  async names(tenant: string): Promise<readonly string[]> {
    const known = this.#names.get(tenant)
    if (this.#isFresh(known)) return known.value
    const at = this.#clock.monotonic()
    const { items } = await this.list({ tenant, limit: MOST_NAMES })
    const value = items.map(({ policyId }) => policyId)
    remember(this.#names, tenant, { value, at })
    return value
  }

  #isFresh<Value>(reading: Reading<Value> | undefined): reading is Reading<Value> {
    return reading !== undefined && this.#clock.monotonic() - reading.at < FRESH_MS
  }

  async #readNewest(name: PolicyName): Promise<PolicyInForce | undefined> {
    const record = await this.newest(name)
    return record && this.#keep(record)
  }

  #keep(record: PolicyRecord): PolicyInForce {
    const { policyId, version, document } = record
    const { id } = policyRecord(record)
    const known = this.#newest.get(id)?.value
    // A read that was under way while a newer version was written brings the older one.
    const value =
      known !== undefined && known.version > version ? known : { policyId, version, document, isInline: false }
    remember(this.#newest, id, { value, at: this.#clock.monotonic() })
    remember(this.#versions, policyVersionRecord(record, version).id, document)
    return value
  }
}

function pageOf({ items, nextCursor }: Page<StoredRecord>): Page<PolicyRecord> {
  return { items: items.map(policyOf), ...(nextCursor !== undefined && { nextCursor }) }
}

function remember<Value>(known: Map<string, Value>, name: string, value: Value): void {
  known.delete(name)
  known.set(name, value)
  const [oldest] = known.keys()
  if (known.size > MOST_KNOWN && oldest !== undefined) known.delete(oldest)
}

/** No name holds a line break, so that no two policies share an id. */
export function policyRecord({ tenant, policyId }: PolicyName): RecordName {
  return { kind: 'policy', id: `${tenant}\n${policyId}` }
}

export function policyVersionRecord(name: PolicyName, version: number): RecordName {
  return { kind: 'policy-version', id: `${policyVersionsOf(name)}${String(version).padStart(6, '0')}` }
}

/** The ids of all versions of a policy begin so. */
function policyVersionsOf({ tenant, policyId }: PolicyName): string {
  return `${tenant}\n${policyId}\n`
}

/** The policy of a record of either kind. The record of a version is written once. */
function policyOf(record: StoredRecord): PolicyRecord {
  const { id, tenant, changedAt: createdAt } = record
  const [, policyId = '', version = record.version] = id.split('\n')
  return { tenant, policyId, version: Number(version), document: documentOf<RetryPolicy>(record), createdAt }
}

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
