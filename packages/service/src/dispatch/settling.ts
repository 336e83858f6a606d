import { laneKey, partitionOf, queueKey } from '../task/lane.ts'
import type { Settlement } from '../task/settle.ts'
import { settledOf } from '../task/task-change.ts'
import type { AttemptRow, ClaimedTask, TaskStatus } from '../task/task.ts'
import type { HeldLease, Settled } from '../stores/task-store.ts'
import type { Lateness } from '../telemetry/events.ts'
import { Outbox } from './outbox.ts'
import type { DispatchPorts } from './ports.ts'
import type { ServedLane } from './served-lane.ts'

/** The end of a task's lease, on its way to the store. */
export interface Ending {
  readonly task: ClaimedTask
  readonly settlement: Settlement
  /** The lane that it was started from; absent when the lease was somebody else's. */
  readonly lane?: ServedLane
  readonly lateness: Lateness
}

/** A lease that was never used. */
export interface Unused extends HeldLease {
  /** Where the task stands again, and the lane that it was claimed for; absent when only its id is known. */
  readonly task?: ClaimedTask
  readonly lane?: ServedLane
}

/** A lane by its name, and where it belongs: whoever was started from it need not be asked for either. */
export interface LaneName {
  readonly key: string
  readonly partition: { readonly number: number }
}

interface SettlingOptions {
  readonly ports: DispatchPorts
  /** The store's answer came: leases are free, and what waits again is due then. */
  readonly onSettled: (lane: LaneName, waiting?: { readonly queue: string; readonly dueAt: number }) => void
  /** Something returned to a partition, and nobody knows to which queue. */
  readonly onReturned: (taskId: string) => void
  /** There may be more to send. */
  readonly wake: () => void
}

/**
 * The last mile of every lease: settled, or released if nothing was ever sent. Settlements go before claims, and are sent
 * again until the store has answered; a stale one is told as an orphan. Telemetry hears of nothing that is not written.
 */
export class Settling {
  readonly #ports: DispatchPorts
  readonly #options: SettlingOptions
  /** By task: the leases that somebody here will end. Nobody else may take them for lost. */
  readonly #inHand = new Map<string, string>()
  readonly #endings: Outbox<Ending>
  readonly #unused: Outbox<Unused>

  constructor(options: SettlingOptions) {
    this.#ports = options.ports
    this.#options = options
    this.#endings = new Outbox(endings => this.#settle(endings), options.wake)
    this.#unused = new Outbox(unused => this.#release(unused), options.wake)
  }

  /** What has not yet been answered. */
  get size(): number {
    return this.#endings.size + this.#unused.size
  }

  takeInHand({ taskId, lease }: ClaimedTask): void {
    this.#inHand.set(taskId, lease.token)
  }

  isInHand({ taskId, token }: HeldLease): boolean {
    return this.#inHand.get(taskId) === token
  }

  settle(ending: Ending): void {
    countUnsent([ending], 1)
    this.#endings.add(ending)
  }

  release(unused: Unused): void {
    this.#inHand.set(unused.taskId, unused.token)
    countUnsent([unused], 1)
    this.#unused.add(unused)
  }

  /** Before a claim: it should find the leases ended that it counts. */
  flush(): void {
    if (this.#ports.calls.isResting) return
    this.#endings.flush()
    this.#unused.flush()
  }

  async #settle(endings: readonly Ending[]): Promise<boolean> {
    const { calls, store } = this.#ports
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

  async #release(unused: readonly Unused[]): Promise<boolean> {
    const { calls, store } = this.#ports
    countUnsent(unused, -1)
    const answer = await calls.ask(() => store.release(unused.map(({ taskId, token }) => ({ taskId, token }))))
    if (answer === undefined) {
      countUnsent(unused, 1)
      return false
    }
    for (const { task, taskId, token } of unused) {
      this.#letGo({ taskId, token })
      if (task === undefined) this.#options.onReturned(taskId)
      else this.#options.onSettled(laneNameOf(task), { queue: queueKey(task.queue), dueAt: task.dueAt })
    }
    return true
  }

  #letGo({ taskId, token }: HeldLease): void {
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

function countUnsent(ends: readonly { readonly lane?: ServedLane }[], by: 1 | -1): void {
  for (const { lane } of ends) if (lane !== undefined) lane.unsent += by
}

function laneNameOf(task: ClaimedTask): LaneName {
  const key = laneKey(task)
  return { key, partition: { number: partitionOf(key) } }
}
