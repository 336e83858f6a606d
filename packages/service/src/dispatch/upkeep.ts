/**
 * What nobody else would do: leases whose holder was never heard of again, and deadlines that pass behind a shut gate. Both
 * whatever gates and limits say, and in bounded steps.
 */
import { laneKey, queueOf } from '../task/lane.ts'
import { lostResult, settle } from '../task/settle.ts'
import type { ClaimedTask } from '../task/task.ts'
import { changeOf } from '../task/task-change.ts'
import type { QueueHead } from '../stores/task-store.ts'
import type { Policies } from './policies.ts'
import type { DispatchPorts } from './ports.ts'
import type { ServedPartition } from './served-partition.ts'
import type { Settling } from './settling.ts'

/** Of each step. */
const MOST_LEASES = 100
const MOST_LOOKS = 500

/** In a beat, over all partitions: more only while they find something to end. */
const WALKS_PER_BEAT = 2
const MOST_WALKS_PER_BEAT = 50

/** A queue that is served has no first task that is later than this, or is worth a look. */
const LATE_MS = 60_000

interface UpkeepOptions {
  readonly ports: DispatchPorts
  readonly policies: Policies
  readonly settling: Settling
  /** Leases of a claim of ours that got no answer: never sent, and released elsewhere. */
  readonly isDoubted: (token: string) => boolean
  readonly wake: () => void
}

interface Walk {
  readonly partition: ServedPartition
  readonly lane: string
  readonly queue: string
  cursor: string | undefined
}

export class Upkeep {
  readonly #options: UpkeepOptions
  /** By partition, lane and queue; the first goes on first. */
  readonly #walks = new Map<string, Walk>()
  #isWalking = false

  constructor(options: UpkeepOptions) {
    this.#options = options
  }

  /** Ends leases that nobody holds any more. */
  async endLost(partition: ServedPartition): Promise<void> {
    const { ports, settling } = this.#options
    const storeNow = ports.time.storeNow()
    partition.leaseEnds = partition.leaseEnds.filter(endsAt => endsAt > storeNow)
    // Leases of our own may have ended too, while the store could not be reached: they must not fill the page.
    const ask = { partition: partition.number, limit: MOST_LEASES + settling.size }
    const answer = await ports.calls.ask(() => ports.store.endedLeases(ask))
    let isWhole = answer !== undefined && answer.tasks.length < ask.limit
    for (const task of answer?.tasks ?? []) isWhole = (await this.#endLease(task)) && isWhole
    if (!isWhole) partition.leaseEnds.unshift(storeNow)
    this.#options.wake()
  }

  /** False when it could not be done now. */
  async #endLease(task: ClaimedTask): Promise<boolean> {
    const { ports, policies, settling, isDoubted } = this.#options
    const { taskId, lease } = task
    const policy = await policies.find(task)
    if (settling.isInHand({ taskId, token: lease.token }) || isDoubted(lease.token)) return true
    if (policy === 'missing') ports.events.warning('policy-missing', sayMissing(task))
    if (policy === undefined || policy === 'missing') return false
    settling.takeInHand(task)
    const startedAt = task.claimedAt
    const now = ports.time.now()
    const moment = { now, roll: ports.random(), expectedCallMs: 0 }
    const settlement = settle(task, policy, lostResult(startedAt, lease.endsAt), moment)
    const latenessMs = Math.max(0, startedAt - task.dueAt)
    // How much of it was the fault of whoever is gone nobody knows.
    settling.settle({ task, settlement, lateness: { latenessMs, ownLatenessMs: 0, overheadMs: 0 } })
    return true
  }

  /** What was listed: queues that are late are walked through. */
  listed(partition: ServedPartition, heads: readonly QueueHead[]): void {
    const lateBefore = this.#options.ports.time.storeNow() - LATE_MS
    for (const { lane, queue, dueAt } of heads) {
      const name = `${partition.token} ${lane} ${queue}`
      if (dueAt <= lateBefore && !this.#walks.has(name))
        this.#walks.set(name, { partition, lane, queue, cursor: undefined })
    }
  }

  /** A few steps, each through another queue. */
  async walk(): Promise<void> {
    if (this.#isWalking) return
    this.#isWalking = true
    let stepsLeft = WALKS_PER_BEAT
    for (let steps = 0; stepsLeft > 0 && steps < MOST_WALKS_PER_BEAT; steps++) {
      const [first] = this.#walks
      if (first === undefined) break
      const [name, walk] = first
      this.#walks.delete(name)
      const expired = await this.#step(name, walk)
      if (expired < MOST_LOOKS / 2) stepsLeft--
    }
    this.#isWalking = false
  }

  /** Ends what is past its deadline, and goes to the end of the line if there is more to see. */
  async #step(name: string, walk: Walk): Promise<number> {
    const { calls, store } = this.#options.ports
    const { partition, lane, queue, cursor } = walk
    if (partition.phase !== 'serving') return 0
    const shut = partition.lanes.get(lane)?.shutBefore(queueOf(queue)) ?? []
    const place = { partition: partition.number, steward: partition.token, lane, queue }
    const ask = { ...place, limit: MOST_LOOKS, ...(cursor !== undefined && { cursor }), shut }
    const answer = await calls.ask(() => store.expire(ask))
    if (answer === undefined) return 0
    if (answer.nextCursor !== undefined) this.#walks.set(name, { ...walk, cursor: answer.nextCursor })
    for (const taskId of answer.expired) await this.#tellExpired(taskId, walk)
    return answer.expired.length
  }

  async #tellExpired(taskId: string, { lane, queue }: Walk): Promise<void> {
    const { calls, store, events, time } = this.#options.ports
    const answer = await calls.read(() => store.get(taskId))
    if (answer?.value === undefined) return
    const task = answer.value
    const { tenant, progress, createdAt } = task
    events.taskChanged(tenant, () => changeOf(task))
    const ofTask = { taskId, lane, policyId: queueOf(queue).policyId, attemptNumber: progress.attemptNumber }
    events.taskEnded({ ...ofTask, status: 'EXHAUSTED', reason: 'deadline', ageMs: Math.max(0, time.now() - createdAt) })
  }
}

export function sayMissing(task: ClaimedTask): string {
  return `${laneKey(task)}: policy ${task.policyId}, version ${task.policyVersion}, is not there; its tasks wait`
}
