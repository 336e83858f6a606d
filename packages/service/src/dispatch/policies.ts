import type { RetryPolicy } from '@secondwind/resilience'
import type { TaskStore } from '../stores/task-store.ts'
import type { AcceptedTask } from '../task/task.ts'
import type { StoreCalls } from './store-calls.ts'

/** Whose policy it is. */
type OfPolicy = Pick<AcceptedTask, 'tenant' | 'policyId' | 'policyVersion' | 'policy'>

/** More versions than are in use at once; the oldest are forgotten. */
const MOST_KEPT = 1_000

/** The policies of tasks. A version never changes, so that what was read once is true for ever. */
export class Policies {
  readonly #store: Pick<TaskStore, 'policy'>
  readonly #calls: Pick<StoreCalls, 'read'>
  readonly #known = new Map<string, RetryPolicy>()
  readonly #reading = new Map<string, Promise<RetryPolicy | 'missing' | undefined>>()

  constructor(store: Pick<TaskStore, 'policy'>, calls: Pick<StoreCalls, 'read'>) {
    this.#store = store
    this.#calls = calls
  }

  /** At hand, or not: the usual way costs no promise. */
  atHand(task: OfPolicy): RetryPolicy | undefined {
    return task.policy ?? this.#known.get(nameOf(task))
  }

  /** Undefined when the store gave no answer. */
  find(task: OfPolicy): Promise<RetryPolicy | 'missing' | undefined> {
    const name = nameOf(task)
    const known = this.atHand(task)
    if (known !== undefined) return Promise.resolve(known)
    let reading = this.#reading.get(name)
    if (reading === undefined) {
      reading = this.#read(task, name)
      this.#reading.set(name, reading)
    }
    return reading
  }

  async #read(task: OfPolicy, name: string): Promise<RetryPolicy | 'missing' | undefined> {
    const answer = await this.#calls
      .read(() => this.#store.policy(task, task.policyVersion))
      .finally(() => this.#reading.delete(name))
    const document = answer?.value?.document
    if (document === undefined) return answer && 'missing'
    this.#known.set(name, document)
    if (this.#known.size > MOST_KEPT) this.#known.delete(this.#known.keys().next().value!)
    return document
  }
}

function nameOf({ tenant, policyId, policyVersion }: OfPolicy): string {
  return `${policyVersion} ${tenant} ${policyId}`
}
