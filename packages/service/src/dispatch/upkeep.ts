/**
 * Two duties that no attempt has: leases whose holder is gone, and deadlines that pass behind a shut gate. Neither asks gates
 * or limits, and each takes bounded steps.
 */
import { laneKey, partitionOf, queueOf } from '../task/lane.ts'
import { lostResult, settle } from '../task/settle.ts'
import type { ClaimedTask, Task } from '../task/task.ts'
import { changeOf } from '../task/task-change.ts'
import type { QueueHead } from '../stores/store.ts'
import { allPages } from './all-pages.ts'
import { keepBodies } from './dead-bodies.ts'
import type { DispatchPorts } from './ports.ts'
import { readLeased, readTasks } from './read-tasks.ts'
import type { ServedPartition } from './served-partition.ts'
import type { Settling } from './settling.ts'

/** Of each step. */
const MOST_LOOKS = 500

/** In a beat, over all partitions: more only while they find something to end. */
const WALKS_PER_BEAT = 2
const MOST_WALKS_PER_BEAT = 50

/** A queue that is served has no first task that is later than this, or is worth a look. */
const LATE_MS = 60_000

interface UpkeepOptions {
  readonly ports: DispatchPorts
  readonly settling: Settling
  /** By number: those that are served here. */
  readonly partitions: ReadonlyMap<number, ServedPartition>
  /** Leases of a claim of ours that got no answer: they were never sent, and are put back elsewhere. */
  readonly isDoubted: (token: string) => boolean
  readonly wake: () => void
}

interface Walk {
  readonly lane: string
  readonly queue: string
  readonly cursor?: string
}

export class Upkeep {
  readonly #options: UpkeepOptions
  /** By lane and queue; the first goes on first. */
  readonly #walks = new Map<string, Walk>()
  #isWalking = false

  constructor(options: UpkeepOptions) {
    this.#options = options
  }

  /** Ends the leases in these partitions that their holders have not ended in time. */
  async endLost(partitions: readonly number[]): Promise<void> {
    const { ports, settling, isDoubted, wake } = this.#options
    const { calls, store } = ports
    if (partitions.length === 0) return
    const leases = await allPages(calls, page => store.leases({ ...page, partitions, haveEnded: true }))
    // Leases of our own may have ended too, while the store could not be reached.
    const lost = leases?.filter(lease => !settling.isInHand(lease) && !isDoubted(lease.token)) ?? []
    if (lost.length === 0) return
    for (const task of (await readLeased(ports, lost)) ?? []) await this.#endLease(task)
    wake()
  }

  async #endLease(task: ClaimedTask): Promise<void> {
    const { ports, settling, isDoubted } = this.#options
    const { taskId, lease } = task
    const policy = (await ports.calls.read(() => ports.policies.find(task)))?.value
    if (settling.isInHand({ taskId, token: lease.token }) || isDoubted(lease.token)) return
    if (policy === 'missing') ports.events.warning('policy-missing', sayMissing(task))
    if (policy === undefined || policy === 'missing') return
    settling.takeInHand(task)
    const startedAt = task.claimedAt
    const now = ports.time.now()
    const moment = { now, roll: ports.random(), expectedCallMs: 0 }
    const settlement = settle(task, policy, lostResult(startedAt, lease.endsAt), moment)
    const latenessMs = Math.max(0, startedAt - task.dueAt)
    // How much of it was the fault of the instance that is gone is not known.
    settling.settle({ task, settlement, lateness: { latenessMs, ownLatenessMs: 0, overheadMs: 0 } })
  }

  /** Queues that are late are walked through. */
  listed(heads: readonly QueueHead[]): void {
    const lateBefore = this.#options.ports.time.storeNow() - LATE_MS
    for (const { lane, queue, dueAt } of heads) {
      const name = `${lane} ${queue}`
      if (dueAt <= lateBefore && !this.#walks.has(name)) this.#walks.set(name, { lane, queue })
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

  /** Ends tasks that are past their deadline, and goes to the end of the line if there is more to see. */
  async #step(name: string, walk: Walk): Promise<number> {
    const { ports, partitions } = this.#options
    const { calls, store } = ports
    const { lane, queue, cursor } = walk
    const partition = partitions.get(partitionOf(lane))
    if (partition?.phase !== 'serving') return 0
    const shut = partition.lanes.get(lane)?.shutBefore(queueOf(queue)) ?? []
    const place = { partition: partition.number, steward: partition.token, lane, queue }
    const ask = { ...place, limit: MOST_LOOKS, ...(cursor !== undefined && { cursor }), shut }
    const answer = await calls.ask(() => store.expire(ask))
    if (answer === undefined) return 0
    if (answer.nextCursor !== undefined) this.#walks.set(name, { ...walk, cursor: answer.nextCursor })
    const tasks = (await readTasks(ports, answer.expired)) ?? []
    await keepBodies(ports, tasks)
    for (const task of tasks) this.#tellExpired(task)
    return answer.expired.length
  }

  #tellExpired(task: Task): void {
    const { events, time } = this.#options.ports
    const { taskId, tenant, policyId, progress, createdAt } = task
    events.taskChanged(tenant, () => changeOf(task))
    const ofTask = { taskId, lane: laneKey(task), policyId, attemptNumber: progress.attemptNumber }
    events.taskEnded({ ...ofTask, status: 'EXHAUSTED', reason: 'deadline', ageMs: Math.max(0, time.now() - createdAt) })
  }
}

export function sayMissing(task: ClaimedTask): string {
  return `${laneKey(task)}: policy ${task.policyId}, version ${task.policyVersion}, is not there; its tasks wait`
}
