import type { Clock, RetryPolicy } from '@secondwind/resilience'
import type { PolicyRecord, PutPolicy, TaskStore } from '../../stores/task-store.ts'
import type { PolicyInForce } from '../../task/accept.ts'
import { LARGEST_PAGE } from '../schemas/fields.ts'

/** Another instance may have written a newer version: it is seen this much later at most. */
const FRESH_MS = 1_000
const MOST_KNOWN = 1_000

interface Entry {
  readonly policy: PolicyInForce
  readonly readAt: number
}

/** The policies that tasks are accepted under, at hand: asking the store for every task would double its way. */
export class PolicyBook {
  readonly #store: TaskStore
  readonly #clock: Clock
  readonly #known = new Map<string, Entry>()

  constructor(store: TaskStore, clock: Clock) {
    this.#store = store
    this.#clock = clock
  }

  /** The newest version; undefined when there is no policy of this name. */
  async inForce(policyId: string): Promise<PolicyInForce | undefined> {
    const known = this.#known.get(policyId)
    if (known !== undefined && this.#clock.monotonic() - known.readAt < FRESH_MS) return known.policy
    const record = await this.#store.policy(policyId)
    return record === undefined ? undefined : this.#remember(record)
  }

  /** What a task was accepted under. */
  async documentOf(policyId: string, version: number): Promise<RetryPolicy | undefined> {
    return (await this.#store.policy(policyId, version))?.document
  }

  async put(policyId: string, document: RetryPolicy): Promise<PutPolicy> {
    const put = await this.#store.putPolicy(policyId, document)
    this.#remember(put.record)
    return put
  }

  /** Some of the names there are, for whoever mistyped one. */
  async names(): Promise<string[]> {
    const { items } = await this.#store.policies({ limit: LARGEST_PAGE })
    return items.map(({ policyId }) => policyId)
  }

  #remember({ policyId, version, document }: PolicyRecord): PolicyInForce {
    const known = this.#known.get(policyId)?.policy
    // A read that was under way while a newer version was written brings the older one.
    const policy =
      known !== undefined && known.version > version ? known : { policyId, version, document, isInline: false }
    this.#known.delete(policyId)
    this.#known.set(policyId, { policy, readAt: this.#clock.monotonic() })
    if (this.#known.size > MOST_KNOWN) this.#known.delete(this.#known.keys().next().value!)
    return policy
  }
}
