import { NOT_ARMED, type Alarm } from '@secondwind/resilience'
import {
  lane as lanes,
  laneChange,
  laneKind,
  laneRecall,
  type LanePolicy,
  type shares,
} from '@secondwind/resilience/rules'
import { isInScope, type QueueScope } from '../task/control.ts'
import { heldAtDeadline, type Shut } from '../task/held.ts'
import { isByHand, queueKey, queueOf } from '../task/lane.ts'
import type { HoldReason } from '../task/lane-view.ts'
import { gatesAt, passesPauses, type Orders, type QueueGate } from '../task/orders.ts'
import { newTrial, type Trial, type Watch } from '../task/stop-rule.ts'
import type { Settlement } from '../task/settle.ts'
import type { ClaimedTask, HeldBack, Queue } from '../task/task.ts'
import type { ServedPartition } from './served-partition.ts'
import type { Openings, WaitingQueue } from './share.ts'
import type { Steered, Steering } from './steering.ts'
import { ShutGates } from './shut-gates.ts'
import type { StoreTime } from './store-calls.ts'

/** A queue of a lane that is served here. */
export interface ServedQueue extends WaitingQueue {
  readonly key: string
  readonly queue: Queue
  dueAt: number
  /** The lowest instant that was heard of since the claim under way was sent: its answer must not overwrite it. */
  hintedAt: number
  likely: number
  /** Nothing of it is asked for before, on the store's clock: its policy cannot be found. */
  notBefore: number
}

/** Tasks of one policy that were claimed and have not yet ended. */
interface Begun {
  readonly policyId: string
  first: number
  retry: number
  late: number
}

/** A task that waits after a failure. */
export interface FailedTask {
  readonly queue: string
  readonly dueAt: number
}

/** So many are asked for before anything is known of a queue; each answer that brings all of them doubles it. */
const FIRST_GUESS = 8
const LARGEST_GUESS = 1_024

interface ServedLaneOptions {
  readonly key: string
  readonly partition: ServedPartition
  readonly steering: Steering
  readonly time: Pick<StoreTime, 'now'>
  /** How it begins, under the policy that it is given. */
  readonly stateUnder: (policy: LanePolicy) => lanes.LaneState
  readonly join: (lane: ServedLane) => shares.LaneShare<ServedLane>
  readonly onRing: (lane: ServedLane) => void
}

/** A lane that is served here: what waits, what is under way, and when to look again. The clock's heap is its heap. */
export class ServedLane implements Alarm {
  dueAt = 0
  slot: number = NOT_ARMED
  readonly key: string
  readonly partition: ServedPartition
  readonly share: shares.LaneShare<ServedLane>
  readonly queues: Map<string, ServedQueue> = new Map()
  readonly #onRing: (lane: ServedLane) => void
  readonly #steering: Steering
  readonly #time: Pick<StoreTime, 'now'>
  #steered: Steered
  #state: lanes.LaneState
  /** The reading that it has caught up with. */
  #readings: number
  /** By policy. */
  readonly #begun = new Map<string, Begun>()

  /** Slots that the claim under way may fill. */
  asked = 0
  /** Claimed, and not yet sent. */
  starting = 0
  /** The same by what they will be paid from: it is spoken for, though only their start pays. */
  readonly #startingOf = { first: 0, retry: 0, late: 0, byHand: 0 }
  /** Attempts under way. */
  running = 0
  /** Leases whose settlement has not yet been sent: the store still counts them. */
  unsent = 0
  /** So many slots it could use, as of the latest look. */
  most = 0
  /** Since when it has been ready for a slot: the loop's turn, and the instant. */
  readyTurn = 0
  readySince = 0
  /** The store had fewer places than we thought: leases of others. An instant of the elapsed clock. */
  fullUntil: number = -Infinity
  /** Which gate is shut, and since when. */
  shutFor: HoldReason | undefined
  shutSince = 0
  /** When what kept it last ended, a gate or the lack of a slot; and when the last gate opened: what waited longer did not wait for us. */
  openSince = 0
  unheldSince = 0
  readonly shutGates: ShutGates = new ShutGates()
  /** What the store is known to remember of it, as text. */
  remembered = ''
  isWriting = false
  /** Tasks that failed since the last answer and wait: the first answer after a silence recalls them. */
  failed: Map<string, FailedTask> = new Map()
  /** Those that were recalled last, and have not been sent since. */
  recalled: Set<string> = new Set()
  /** How it does on the way back that every tenant has, and on its own: of each, since when. */
  readonly #trials = new Map<Watch['of'], { readonly since: number; readonly trial: Trial }>()

  constructor({ key, partition, steering, time, stateUnder, join, onRing }: ServedLaneOptions) {
    this.key = key
    this.partition = partition
    this.#steering = steering
    this.#time = time
    this.#readings = steering.readings
    this.#steered = steering.steered(key)
    this.#state = stateUnder(this.#steered.policy)
    this.share = join(this)
    this.#onRing = onRing
  }

  /** What it may do, by the newest orders. */
  get policy(): LanePolicy {
    this.catchUp()
    return this.#steered.policy
  }

  /** What operators have ordered, as of the newest reading. */
  get orders(): Orders {
    this.catchUp()
    return this.#steered.orders
  }

  get state(): lanes.LaneState {
    this.catchUp()
    return this.#state
  }

  /** Its leases in the store, apart from those of other instances. `simulation/lease-book.test-kit.ts` compares them. */
  get leases(): number {
    return this.asked + this.starting + this.running + this.unsent
  }

  /**
   * Goes on under other orders, if there are any. Nobody sees it under older ones than were read: whoever walks through all
   * lanes after a reading may take its time.
   */
  catchUp(): void {
    const steering = this.#steering
    if (this.#readings === steering.readings) return
    this.#readings = steering.readings
    if (steering.isInForce(this.key, this.#steered)) return
    const steered = steering.steered(this.key)
    this.#state = laneChange.changeLane(this.#steered.policy, steered.policy, this.#state, this.#time.now())
    this.#steered = steered
    this.ring()
  }

  /** What may start beside so many that are under way. */
  openingsAt(now: number, underWay: number): Openings {
    const { policy, state, orders } = this
    const allowed = this.#besideStarting(lanes.allowance(policy, state, now, underWay))
    return {
      allowed,
      gates: this.gatesAt(now),
      passes: rank => passesPauses(orders, rank, now),
      takesLast: kind => lanes.takesLast(policy, state, kind),
    }
  }

  /** While a body is read, its attempt has not been paid for: without this, each look would claim for the same credit again. */
  #besideStarting(allowed: lanes.Allowance): lanes.Allowance {
    if (this.starting === 0) return allowed
    const left = (of: laneKind.StartKind | 'byHand'): number => Math.max(0, allowed[of] - this.#startingOf[of])
    return { ...allowed, first: left('first'), retry: left('retry'), late: left('late'), byHand: left('byHand') }
  }

  countStarting({ kind, rank }: Queue, by: 1 | -1): void {
    this.starting += by
    this.#startingOf[isByHand(rank) ? 'byHand' : kind] += by
  }

  /** The gates before some of its queues. */
  gatesAt(now: number): QueueGate[] {
    return gatesAt(this.orders.queues, this.policy.limit, now, scope => this.#begunIn(scope))
  }

  /** When the gates before this queue were shut. */
  shutBefore(queue: Queue): readonly Shut[] {
    return this.shutGates.of(queue, this.orders)
  }

  /** Which gate held a task that comes too late. */
  heldBack({ queue, dueAt, progress }: ClaimedTask): HeldBack | undefined {
    return heldAtDeadline(this.shutBefore(queue), { dueAt, expiresAt: progress.expiresAt })
  }

  /** A task of this queue was claimed, or what was claimed has ended. */
  count({ kind, policyId }: Queue, by: 1 | -1): void {
    let begun = this.#begun.get(policyId)
    if (begun === undefined) this.#begun.set(policyId, (begun = { policyId, first: 0, retry: 0, late: 0 }))
    begun[kind] += by
    if (begun.first + begun.retry + begun.late === 0) this.#begun.delete(policyId)
  }

  /**
   * An attempt has ended. If its task waits now, the first answer after an outage recalls it, and the latest others. One that
   * was just recalled keeps its own schedule this time: its wait is its policy's, and its attempts are few.
   */
  remember({ taskId, next }: Settlement, mayBeRecalled: boolean): void {
    this.failed.delete(taskId)
    const wasRecalled = this.recalled.delete(taskId)
    if (next.status !== 'PENDING' || !mayBeRecalled || wasRecalled) return
    this.failed.set(taskId, { queue: queueKey(next.queue), dueAt: next.dueAt })
    if (this.failed.size <= laneRecall.MOST_RECALLED) return
    const [oldest] = this.failed.keys()
    if (oldest !== undefined) this.failed.delete(oldest)
  }

  trialOf({ of, since }: Watch): Trial {
    const known = this.#trials.get(of)
    if (known?.since === since) return known.trial
    const trial = newTrial()
    this.#trials.set(of, { since, trial })
    return trial
  }

  endTrial({ of }: Watch): void {
    this.#trials.delete(of)
  }

  #begunIn(scope: QueueScope): number {
    let count = 0
    for (const { policyId, ...begun } of this.#begun.values())
      for (const kind of laneKind.START_KINDS) if (isInScope(scope, { policyId, kind })) count += begun[kind]
    return count
  }

  get oldestDueAt(): number {
    let oldest = Infinity
    for (const { dueAt } of this.queues.values()) oldest = Math.min(oldest, dueAt)
    return oldest
  }

  /** A task of this queue is, or may be, due then. It only lowers: what is known to be earlier stays. */
  hint(key: string, dueAt: number): void {
    const queue = this.#queue(key)
    queue.hintedAt = Math.min(queue.hintedAt, dueAt)
    queue.dueAt = Math.max(queue.notBefore, Math.min(queue.dueAt, dueAt))
  }

  /** What a claim's answer says of a queue: its first due instant, and whether it gave all that was asked for. */
  answered(queue: ServedQueue, dueAt: number | null, isFilled: boolean): void {
    queue.dueAt = Math.max(queue.notBefore, Math.min(dueAt ?? Infinity, queue.hintedAt))
    queue.likely = isFilled ? Math.min(LARGEST_GUESS, 2 * queue.likely) : FIRST_GUESS
    if (queue.dueAt === Infinity) this.queues.delete(queue.key)
  }

  /** Leaves a queue alone for a while, whatever is heard of it. */
  shut(key: string, until: number): void {
    const queue = this.#queue(key)
    queue.notBefore = until
    queue.dueAt = Math.max(until, queue.dueAt)
  }

  ring(): void {
    this.#onRing(this)
  }

  #queue(key: string): ServedQueue {
    let queue = this.queues.get(key)
    if (queue === undefined) {
      queue = { key, queue: queueOf(key), dueAt: Infinity, hintedAt: Infinity, likely: FIRST_GUESS, notBefore: 0 }
      this.queues.set(key, queue)
    }
    return queue
  }
}
