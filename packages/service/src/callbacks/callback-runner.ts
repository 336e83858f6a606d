/**
 * Makes a task of every end that somebody wants to hear of. The store keeps the end until its task is there; the task's key
 * is made of what ended, so that whoever is cut off half-way, or does it twice, makes one.
 */
import type { Clock, Random } from '@secondwind/resilience'
import { newTaskId } from '../new-task-id.ts'
import type { BacklogLimits, TaskStore } from '../stores/task-store.ts'
import { accept, type NewTask } from '../task/accept.ts'
import { callbackOrder, callbackText, type Callback } from '../task/callback.ts'
import { destinationOf } from '../task/destination.ts'

interface CallbackRunnerOptions {
  readonly store: TaskStore
  readonly clock: Clock
  readonly random: Random
  /** The store's time. */
  readonly now: () => number
  readonly backlog: BacklogLimits
  readonly onProblem: (error: unknown) => void
}

/** The policy that callbacks go by. */
const POLICY_ID = 'default'

const PAGE = 100
const LOOK_MS = 500

export class CallbackRunner {
  readonly #options: CallbackRunnerOptions

  constructor(options: CallbackRunnerOptions) {
    this.#options = options
  }

  /** Until the signal. What fails is told, and tried again. */
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

  /** One page of what is due; answers whether there is more that can be done now. */
  async step(): Promise<boolean> {
    const { store, backlog, onProblem } = this.#options
    const { callbacks } = await store.callbacks({ limit: PAGE })
    if (callbacks.length === 0) return false
    const made = await Promise.all(callbacks.map(async callback => ({ callback, task: await this.#taskOf(callback) })))
    const ready = made.flatMap(({ callback, task }) => (task === undefined ? [] : { callback, task }))
    const { results } = await store.enqueue(
      ready.map(({ task }) => task),
      backlog,
    )
    // What does not fit now stays due.
    const done = ready.filter((_, at) => results[at]!.kind !== 'full').map(({ callback }) => callback)
    for (const [at, { kind }] of results.entries())
      if (kind === 'conflict') onProblem(new Error(`${ready[at]!.callback.taskId}: the key of its callback is taken`))
    await store.strikeCallbacks(done)
    return done.length === PAGE
  }

  /** Undefined while its tenant has no policy to send it by. */
  async #taskOf(callback: Callback): Promise<NewTask | undefined> {
    const { store, random, now } = this.#options
    const { tenant, callbackUrl } = callback
    const policy = await store.policy({ tenant, policyId: POLICY_ID })
    if (policy === undefined) return undefined
    const taskId = newTaskId({ tenant, destination: destinationOf(new URL(callbackUrl)) }, now(), random)
    const order = callbackOrder(callback, { taskId, body: Buffer.from(callbackText(callback)) })
    return accept(order, { ...policy, isInline: false }, { now: now(), roll: random() })
  }
}
