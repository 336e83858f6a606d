/**
 * Makes a task of every end that a callback must tell. The store keeps the end until its task is there. The key of the task is
 * made of the end, so that a runner which is cut off half-way, or does it twice, makes one task.
 */
import type { Clock, Random } from '@secondwind/resilience'
import type { Backlog } from '../intake/backlog.ts'
import { newTaskId } from '../task/lane.ts'
import type { PolicyBook } from '../policies/policy-book.ts'
import type { QueueStore } from '../stores/store.ts'
import { accept, type NewTask, type PolicyInForce } from '../task/accept.ts'
import { callbackOrder, callbackText, laneOfCallback, type Callback } from '../task/callback.ts'

interface CallbackRunnerOptions {
  readonly store: Pick<QueueStore, 'endsToTell' | 'endsTold' | 'enqueue'>
  readonly backlog: Pick<Backlog, 'verdict' | 'taken'>
  readonly policies: Pick<PolicyBook, 'inForce'>
  /** Those that this instance serves: it tells the ends of their tasks. */
  readonly partitions: () => readonly number[]
  readonly clock: Clock
  readonly random: Random
  /** The store's time. */
  readonly now: () => number
  readonly onProblem: (error: unknown) => void
}

/** The policy that callbacks go by. */
const POLICY_ID = 'default'

const PAGE = 200
/** A destination that takes no more holds up no other. */
const PER_LANE = 100
const LOOK_MS = 500

export class CallbackRunner {
  readonly #options: CallbackRunnerOptions
  /** How far the round through all lanes has come. */
  #cursor: string | undefined
  /** Whether this round has told any end. */
  #isWorthwhile = false

  constructor(options: CallbackRunnerOptions) {
    this.#options = options
  }

  /** Until the signal. A step that fails is tried again. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, onProblem } = this.#options
    while (!signal.aborted) {
      let isMore = false
      try {
        isMore = await this.step()
      } catch (error) {
        if (!signal.aborted) onProblem(error)
      }
      await clock.sleep(isMore ? 1 : LOOK_MS, signal).catch(() => undefined)
    }
  }

  /** One page of a round through all lanes of callbacks. Answers whether the round goes on, or the next may find more. */
  async step(): Promise<boolean> {
    const { store, partitions } = this.#options
    const cursor = this.#cursor
    const ask = { partitions: partitions(), perLane: PER_LANE, limit: PAGE, ...(cursor !== undefined && { cursor }) }
    const { items, nextCursor } = await store.endsToTell(ask)
    // Before anything can fail: one page must not hold up the others.
    this.#cursor = nextCursor
    if (cursor === undefined) this.#isWorthwhile = false
    if (await this.#tell(items)) this.#isWorthwhile = true
    return nextCursor !== undefined || this.#isWorthwhile
  }

  async #tell(ends: readonly Callback[]): Promise<boolean> {
    const { store, onProblem } = this.#options
    const ready = await this.#readyOf(ends)
    if (ready.length === 0) return false
    const { results } = await store.enqueue(ready.map(({ task }) => task))
    for (const [at, { end }] of ready.entries())
      if (results[at]?.kind === 'conflict') onProblem(new Error(`${end.taskId}: the key of its callback is taken`))
    await store.endsTold(ready.map(({ end }) => end))
    return true
  }

  /** The ends that can be told now. An end waits while its tenant has no policy to send it by, or its lane has no room. */
  async #readyOf(ends: readonly Callback[]): Promise<{ readonly end: Callback; readonly task: NewTask }[]> {
    const { backlog, policies } = this.#options
    const policyOf = new Map<string, PolicyInForce | undefined>()
    const ready = []
    for (const end of ends) {
      const { tenant } = end
      if (!policyOf.has(tenant)) policyOf.set(tenant, await policies.inForce({ tenant, policyId: POLICY_ID }))
      const policy = policyOf.get(tenant)
      if (policy === undefined || backlog.verdict(laneOfCallback(end)) !== undefined) continue
      const task = this.#taskOf(end, policy)
      backlog.taken(task)
      ready.push({ end, task })
    }
    return ready
  }

  #taskOf(end: Callback, policy: PolicyInForce): NewTask {
    const { random, now } = this.#options
    const taskId = newTaskId(laneOfCallback(end), now(), random)
    const order = callbackOrder(end, { taskId, body: Buffer.from(callbackText(end)) })
    return accept(order, policy, { now: now(), roll: random() })
  }
}
