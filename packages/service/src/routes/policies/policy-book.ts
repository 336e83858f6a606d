import type { Clock, RetryPolicy } from '@secondwind/resilience'
import type { NewPolicy, PolicyName, PolicyRecord, PutPolicy, TaskStore } from '../../stores/task-store.ts'
import type { PolicyInForce } from '../../task/accept.ts'
import { LARGEST_PAGE } from '../schemas/fields.ts'

/** Another instance may have written a newer version: it is seen this much later at most. */
const FRESH_MS = 1_000
const MOST_KNOWN = 1_000

type PolicyStore = Pick<TaskStore, 'policy' | 'policies' | 'putPolicy'>

interface Entry {
  readonly policy: PolicyInForce
  readonly readAt: number
}

interface Names {
  readonly names: readonly string[]
  readonly readAt: number
}

/** The policies that tasks are accepted under, at hand: asking the store for every task would double its way. */
export class PolicyBook {
  readonly #store: PolicyStore
  readonly #clock: Clock
  readonly #known = new Map<string, Entry>()
  /** By tenant. */
  readonly #names = new Map<string, Names>()

  constructor(store: PolicyStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** The newest version, at once where it is at hand; undefined when there is no policy of this name. */
  inForce(name: PolicyName): PolicyInForce | Promise<PolicyInForce | undefined> {
    const known = this.#known.get(nameOf(name))
    return this.#isFresh(known) ? known.policy : this.#read(name)
  }

  /** What a task was accepted under. */
  async documentOf(name: PolicyName, version: number): Promise<RetryPolicy | undefined> {
    return (await this.#store.policy(name, version))?.document
  }

  async put(policy: NewPolicy): Promise<PutPolicy> {
    const put = await this.#store.putPolicy(policy)
    this.#names.delete(policy.tenant)
    if (put.record !== undefined) this.#remember(put.record)
    return put
  }

  /** Some of the names there are, for whoever mistyped one; a program does so with every task. */
  async names(tenant: string): Promise<readonly string[]> {
    const known = this.#names.get(tenant)
    if (this.#isFresh(known)) return known.names
    const readAt = this.#clock.monotonic()
    const { items } = await this.#store.policies({ tenant, limit: LARGEST_PAGE })
    const names = items.map(({ policyId }) => policyId)
    this.#names.delete(tenant)
    this.#names.set(tenant, { names, readAt })
    if (this.#names.size > MOST_KNOWN) this.#names.delete(this.#names.keys().next().value!)
    return names
  }

  #isFresh<Known extends { readonly readAt: number }>(known: Known | undefined): known is Known {
    return known !== undefined && this.#clock.monotonic() - known.readAt < FRESH_MS
  }

  async #read(name: PolicyName): Promise<PolicyInForce | undefined> {
    const record = await this.#store.policy(name)
    return record === undefined ? undefined : this.#remember(record)
  }

  #remember(record: PolicyRecord): PolicyInForce {
    const { policyId, version, document } = record
    const name = nameOf(record)
    const known = this.#known.get(name)?.policy
    // A read that was under way while a newer version was written brings the older one.
    const policy =
      known !== undefined && known.version > version ? known : { policyId, version, document, isInline: false }
    this.#known.delete(name)
    this.#known.set(name, { policy, readAt: this.#clock.monotonic() })
    if (this.#known.size > MOST_KNOWN) this.#known.delete(this.#known.keys().next().value!)
    return policy
  }
}

/** No tenant holds a space. */
function nameOf({ tenant, policyId }: PolicyName): string {
  return `${tenant} ${policyId}`
}
