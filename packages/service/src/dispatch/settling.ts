import { laneKey, partitionOf, queueKey } from '../task/lane.ts'
import type { Settlement } from '../task/settle.ts'
import { settledOf } from '../task/task-change.ts'
import type { AttemptRow, ClaimedTask, TaskStatus } from '../task/task.ts'
import type { LeaseHead, Settled } from '../stores/store.ts'
import type { Lateness } from '../telemetry/events.ts'
import { keepBodies } from './dead-bodies.ts'
import type { DispatchPorts } from './ports.ts'
import type { ServedLane } from './served-lane.ts'

/** No call carries more: an answer must not keep the others waiting. */
const MOST_PER_CALL = 256

/**
 * What has to reach the store, sooner or later: what came together is sent together, beside batches that are still under
 * way, and sent again until there is an answer. A batch that failed goes to the end of the line and comes back in smaller
 * ones: if one item is to blame, it keeps nobody else.
 */
export class Outbox<Item> {
  readonly #send: (items: readonly Item[]) => Promise<boolean>
  readonly #onDone: () => void
  #waiting: Item[] = []
  #sending = 0
  #mostPerCall = MOST_PER_CALL

  /** `send` says whether there was an answer; `onDone` hears that the next batch may go. */
  constructor(send: (items: readonly Item[]) => Promise<boolean>, onDone: () => void) {
    this.#send = send
    this.#onDone = onDone
  }

  get size(): number {
    return this.#waiting.length + this.#sending
  }

  add(item: Item): void {
    this.#waiting.push(item)
  }

  flush(): void {
    if (this.#waiting.length > 0) void this.#sendBatch()
  }

  async #sendBatch(): Promise<void> {
    const items = this.#takeFirst()
    this.#sending += items.length
    const isAnswered = await this.#send(items)
    this.#sending -= items.length
    if (!isAnswered) this.#waiting.push(...items)
    this.#mostPerCall = isAnswered
      ? Math.min(MOST_PER_CALL, 2 * this.#mostPerCall)
      : Math.max(1, this.#mostPerCall >> 1)
    this.#onDone()
  }

  /**
   * Into a list of its own, and the rest into another. Spliced out of one list that lives as long as the service, nearly all
   * that was ever sent outlived the collection of short-lived objects, with its task and its answer: so it was measured.
   */
  #takeFirst(): readonly Item[] {
    const waiting = this.#waiting
    this.#waiting = waiting.slice(this.#mostPerCall)
    return waiting.slice(0, this.#mostPerCall)
  }
}

/** The end of a task's lease, on its way to the store. */
export interface Ending {
  readonly task: ClaimedTask
  readonly settlement: Settlement
  /** The lane that it was started from; absent when another process had the lease. */
  readonly lane?: ServedLane
  readonly lateness: Lateness
}

/** A lane by its name, and the partition that it belongs to. */
export interface LaneName {
  readonly key: string
  readonly partition: { readonly number: number }
}

type LeaseName = Pick<LeaseHead, 'taskId' | 'token'>

interface SettlingOptions {
  readonly ports: DispatchPorts
  /** The store has answered: the lease is free, and a task that waits again is due then. */
  readonly onSettled: (lane: LaneName, waiting?: { readonly queue: string; readonly dueAt: number }) => void
  /** There may be more to send. */
  readonly wake: () => void
}

/**
 * The end of every lease, on its way to the store. Settlements go before claims, and are sent again until the store has
 * answered; a stale one is an orphan. Telemetry hears of an end when it is written.
 */
export class Settling {
  readonly #ports: DispatchPorts
  readonly #options: SettlingOptions
  /** By task: the leases that this process will end. It must not take them for lost. */
  readonly #inHand = new Map<string, string>()
  readonly #endings: Outbox<Ending>

  constructor(options: SettlingOptions) {
    this.#ports = options.ports
    this.#options = options
    this.#endings = new Outbox(endings => this.#settle(endings), options.wake)
  }

  /** Endings that the store has not yet answered. */
  get size(): number {
    return this.#endings.size
  }

  takeInHand({ taskId, lease }: ClaimedTask): void {
    this.#inHand.set(taskId, lease.token)
  }

  isInHand({ taskId, token }: LeaseName): boolean {
    return this.#inHand.get(taskId) === token
  }

  settle(ending: Ending): void {
    countUnsent([ending], 1)
    this.#endings.add(ending)
  }

  /** Before a claim: it should find the leases ended that it counts. */
  flush(): void {
    if (!this.#ports.calls.isResting) this.#endings.flush()
  }

  async #settle(endings: readonly Ending[]): Promise<boolean> {
    const { calls, store } = this.#ports
    const dead = endings.filter(givesUpBody)
    if (
      dead.length > 0 &&
      !(await keepBodies(
        this.#ports,
        dead.map(({ task }) => task),
      ))
    )
      return false
    countUnsent(endings, -1)
    const answer = await calls.ask(() => store.settle(endings.map(({ settlement }) => settlement)))
    if (answer === undefined) countUnsent(endings, 1)
    answer?.results.forEach((result, place) => this.#settled(endings[place]!, result))
    return answer !== undefined
  }

  #settled(ending: Ending, result: Settled): void {
    const { task, settlement } = ending
    const { next } = settlement
    this.#letGo(settlement)
    const isWaiting = result.kind === 'settled' && result.status === 'PENDING' && next.status === 'PENDING'
    const waiting = isWaiting ? { queue: queueKey(next.queue), dueAt: next.dueAt } : undefined
    this.#options.onSettled(ending.lane ?? laneNameOf(task), waiting)
    if (result.kind === 'settled') this.#tell(ending, result.status)
    else if (settlement.attempt !== undefined) this.#tellOrphan(task, settlement.attempt)
  }

  #letGo({ taskId, token }: LeaseName): void {
    if (this.#inHand.get(taskId) === token) this.#inHand.delete(taskId)
  }

  #tell({ task, settlement, lateness, lane }: Ending, status: TaskStatus): void {
    const { events, time } = this.#ports
    const { attempt, next } = settlement
    const { taskId, policyId, tenant, createdAt } = task
    const key = lane?.key ?? laneKey(task)
    if (attempt !== undefined) {
      const { outcome, responseStatus, errorCode, errorMessage, attemptNumber, durationMs } = attempt
      const { latenessMs, ownLatenessMs, overheadMs } = lateness
      // One literal: parts that are put together from others cost several times as much.
      events.attemptEnded({
        taskId,
        lane: key,
        policyId,
        outcome,
        responseStatus,
        errorCode,
        errorMessage,
        attemptNumber,
        durationMs,
        latenessMs,
        ownLatenessMs,
        overheadMs,
      })
    }
    events.taskChanged(tenant, () => settledOf(task, settlement, status))
    if (status === 'PENDING' || status === 'IN_FLIGHT') return
    const { attemptNumber } = next.progress
    const reason = next.status === 'EXHAUSTED' && status === 'EXHAUSTED' ? next.reason : undefined
    const ageMs = Math.max(0, time.now() - createdAt)
    events.taskEnded({ taskId, lane: key, policyId, status, reason, attemptNumber, ageMs })
  }

  #tellOrphan(task: ClaimedTask, attempt: AttemptRow): void {
    const { outcome, responseStatus, errorCode, errorMessage, durationMs } = attempt
    const ofTask = { taskId: task.taskId, lane: laneKey(task), policyId: task.policyId }
    this.#ports.events.orphan({ ...ofTask, outcome, responseStatus, errorCode, errorMessage, durationMs })
  }
}

/** A dead letter may be replayed: its body is kept before the settlement is sent, lest a sweep comes in between. */
function givesUpBody({ task, settlement }: Ending): boolean {
  return settlement.next.status === 'EXHAUSTED' && task.request.storedBody !== undefined
}

function countUnsent(endings: readonly Ending[], by: 1 | -1): void {
  for (const { lane } of endings) if (lane !== undefined) lane.unsent += by
}

function laneNameOf(task: ClaimedTask): LaneName {
  const key = laneKey(task)
  return { key, partition: { number: partitionOf(key) } }
}
