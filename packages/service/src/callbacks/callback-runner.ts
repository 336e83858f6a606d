/**
 * Makes a task of every end that somebody wants to hear of. The store keeps the end until its task is there; the task's key
 * is made of what ended, so that whoever is cut off half-way, or does it twice, makes one.
 */
import type { Clock, Random } from '@secondwind/resilience'
import { newTaskId } from '../new-task-id.ts'
import type { BacklogLimits, TaskStore } from '../stores/task-store.ts'
import { accept, type NewTask } from '../task/accept.ts'
import { callbackOrder, callbackText, laneOfCallback, type Callback } from '../task/callback.ts'

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

const PAGE = 200
/** A destination that takes no more keeps no other waiting. */
const PER_LANE = 100
const LOOK_MS = 500

export class CallbackRunner {
  readonly #options: CallbackRunnerOptions
  /** How far the round through all lanes has come. */
  #cursor: string | undefined
  /** In this round something could be done. */
  #isWorthwhile = false

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

  /** One page of a round; answers whether the round goes on, or the next one may find more to do. */
  async step(): Promise<boolean> {
    const cursor = this.#cursor
    const ask = { limit: PAGE, perLane: PER_LANE, ...(cursor !== undefined && { cursor }) }
    const { items, nextCursor } = await this.#options.store.callbacks(ask)
    // Before anything can fail: one page must not keep the others.
    this.#cursor = nextCursor
    if (cursor === undefined) this.#isWorthwhile = false
    if (await this.#tell(items)) this.#isWorthwhile = true
    return nextCursor !== undefined || this.#isWorthwhile
  }

  /** Whether any of them has a task now. */
  async #tell(callbacks: readonly Callback[]): Promise<boolean> {
    const { store, backlog, onProblem } = this.#options
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
    return done.length > 0
  }

  /** Undefined while its tenant has no policy to send it by. */
  async #taskOf(callback: Callback): Promise<NewTask | undefined> {
    const { store, random, now } = this.#options
    const policy = await store.policy({ tenant: callback.tenant, policyId: POLICY_ID })
    if (policy === undefined) return undefined
    const taskId = newTaskId(laneOfCallback(callback), now(), random)
    const order = callbackOrder(callback, { taskId, body: Buffer.from(callbackText(callback)) })
    return accept(order, { ...policy, isInline: false }, { now: now(), roll: random() })
  }
}
