/**
 * Sends tasks that are due. It schedules lanes, not tasks: credit, rate and limits close a lane by not asking its
 * queues, so that a dead destination with a million tasks costs one alarm.
 *
 *   stewardship ──► listing ──► loop ──► claims ──► attempt ──► settling
 *   who serves      waiting     whose    tasks      one         the end of
 *   which part      queues      turn     to send    request     a lease
 *
 * Beside them, once a second: `upkeep` (lost leases, deadlines) and `remembering` (memories for the next steward).
 */
import { NOT_ARMED, type Alarm } from '@secondwind/resilience'
import { shares, type LaneInput } from '@secondwind/resilience/rules'
import type { StandingOrders } from '../steering/standing-orders.ts'
import type { BodyStore } from '../bodies/body-store.ts'
import type { Hint } from '../stores/store.ts'
import { partitionOf, partitionOfTask, queueKey } from '../task/lane.ts'
import type { Dispatching, LaneView } from '../task/lane-view.ts'
import { putBack } from '../task/settle.ts'
import type { ClaimedTask } from '../task/task.ts'
import { Bodies } from './bodies.ts'
import { BEAT_MS } from './fleet.ts'
import { LaneWalk } from './lane-walk.ts'
import { NOT_LATE } from './lateness.ts'
import { Listing } from './listing.ts'
import { Loop } from './loop.ts'
import type { DispatchPorts } from './ports.ts'
import { Recalling } from './recalling.ts'
import { Remembering } from './remembering.ts'
import type { ServedLane } from './served-lane.ts'
import type { ServedPartition } from './served-partition.ts'
import { Settling, type LaneName } from './settling.ts'
import { Stewardship } from './stewardship.ts'
import { Steering } from './steering.ts'
import { StoreCalls, StoreTime } from './store-calls.ts'
import { UnderWay } from './claims.ts'
import { sayMissing, Upkeep } from './upkeep.ts'
import { laneIn, viewOf } from './view.ts'

export interface DispatcherOptions extends Omit<DispatchPorts, 'calls' | 'time'> {
  /** Where large bodies are read. */
  readonly bodies: Pick<BodyStore, 'read'>
  /** Requests under way at once. One lane alone uses four fifths of them, and one tenant nine tenths. */
  readonly slots: number
  /** What every lane may do. */
  readonly lanes?: LaneInput
  /** How often to list a partition again; where hints do not arrive, every second. */
  readonly listAgainMs?: number
}

export interface Dispatcher extends Dispatching {
  /** The orders of operators, as far as this instance has read them. */
  readonly orders: StandingOrders
  /** The store's time, as far as this instance knows it. */
  now(): number
  /** The partitions that this instance serves now: no other instance has duties for them. */
  partitions(): readonly number[]
  /** Whether it is one of them. */
  serves(partition: number): boolean
  /** Whether it has this lane in memory: one with tasks, or that had some lately. */
  isServing(lane: string): boolean
  /** The lanes that it serves now. */
  readonly lanes: readonly ServedLane[]
  start(): void
  /** Begins nothing new, lets attempts end for `graceMs`, then cuts them off; resolves when the store knows of it. */
  stop(options: { readonly graceMs: number }): Promise<void>
}

export function createDispatcher(options: DispatcherOptions): Dispatcher {
  return new StoreDispatcher(options)
}

const LIST_AGAIN_MS = 30_000

/** A queue whose policy is not there is left alone so long. */
const POLICY_MISSING_MS = 60_000

/** A disk that could not be read, or a process without descriptors, is left alone so long. */
const LACK_MS = 5_000

/** How often a stop looks whether it is over. */
const LOOK_MS = 20

/** After the last attempt has ended. The next process finds out for itself about calls that have no answer by then. */
const LAST_WORDS_MS = 5_000

class StoreDispatcher implements Dispatcher, Alarm {
  dueAt = 0
  slot: number = NOT_ARMED
  readonly #ports: DispatchPorts
  readonly #underWay = new UnderWay()
  readonly #settling: Settling
  readonly #steering: Steering
  readonly #loop: Loop
  readonly #listing: Listing
  readonly #stewardship: Stewardship
  readonly #laneWalk: LaneWalk
  readonly #remembering: Remembering
  readonly #recalling: Recalling
  readonly #upkeep: Upkeep
  #isKeepingHouse = false
  #stopListening: (() => void) | undefined

  constructor(options: DispatcherOptions) {
    const { clock, random, events, store } = options
    const time = new StoreTime(clock)
    const wake = (): void => this.#loop.wake()
    const touchAll = (): void => this.lanes.forEach(lane => this.#loop.touch(lane))
    const calls = new StoreCalls({ clock, random, events, time, onJump: touchAll, onRested: wake })
    const ports = { ...options, time, calls }
    const onLost = (partition: ServedPartition): void => this.#stewardship.drop(partition)
    const onRead = (isNews: boolean): void => this.#steer(isNews)
    this.#ports = ports
    this.#steering = new Steering({ ports, lanes: options.lanes ?? {}, onRead })
    this.#settling = new Settling({
      ports,
      onSettled: (lane, waiting) => this.#settled(lane, waiting),
      wake,
    })
    this.#recalling = new Recalling({ ports, settling: this.#settling, touch: lane => this.#loop.touch(lane) })
    this.#loop = new Loop({
      setting: {
        ports,
        settling: this.#settling,
        steering: this.#steering,
        underWay: this.#underWay,
        onPhase: lane => this.#remembering.write(lane),
        onBack: lane => void this.#recalling.recall(lane),
        bodies: new Bodies({ store, bodies: options.bodies, calls, events }),
        onLack: (task, lane) => lane.shut(queueKey(task.queue), time.storeNow() + LACK_MS),
        onPolicyMissing: (task, lane) => {
          lane.shut(queueKey(task.queue), time.storeNow() + POLICY_MISSING_MS)
          events.warning('policy-missing', sayMissing(task))
        },
      },
      slots: options.slots,
      onDoubt: (partition, token) => this.#stewardship.doubt(partition, token),
      onLost,
    })
    this.#listing = new Listing({
      ports,
      steering: this.#steering,
      settling: this.#settling,
      listAgainMs: options.listAgainMs ?? LIST_AGAIN_MS,
      join: (tenant, lane) => shares.joinShares(this.#loop.shares, tenant, lane),
      touch: lane => this.#loop.touch(lane),
      forget: lane => this.#loop.forget(lane),
      onLeft: ({ number }) => void this.#upkeep.endLost([number]),
    })
    this.#stewardship = new Stewardship({
      ports,
      onBeat: (version, asked) => void this.#steering.heard(version, asked),
      onTaken: partition => this.#listing.open(partition),
      onGiving: partition => this.#remembering.writeAll(partition),
      onDropped: ({ lanes }) => lanes.forEach(lane => this.#loop.forget(lane)),
      onUnused: tasks => this.#putBack(tasks),
    })
    const { partitions } = this.#stewardship
    this.#laneWalk = new LaneWalk(partitions)
    this.#remembering = new Remembering({ ports, partitions, onLost })
    const isDoubted = (token: string): boolean => this.#stewardship.isDoubted(token)
    this.#upkeep = new Upkeep({ ports, settling: this.#settling, partitions, isDoubted, wake })
  }

  now(): number {
    return this.#ports.time.now()
  }

  partitions(): readonly number[] {
    return this.#serving.map(({ number }) => number)
  }

  serves(partition: number): boolean {
    return this.#stewardship.partitions.get(partition)?.phase === 'serving'
  }

  get lanes(): readonly ServedLane[] {
    return this.#stewardship.lanes
  }

  start(): void {
    this.#stopListening = this.#ports.store.onHint(hint => this.#hinted(hint))
    this.ring()
  }

  isServing(lane: string): boolean {
    return this.#stewardship.partitions.get(partitionOf(lane))?.lanes.has(lane) ?? false
  }

  view(lane: string): LaneView | undefined {
    const around = { ...this.#ports, steering: this.#steering, slots: this.#loop.shares }
    const seen = laneIn(this.#stewardship, lane, around)
    return seen && viewOf(seen, around)
  }

  get orders(): StandingOrders {
    return this.#steering.orders
  }

  cut(taskId: string): void {
    const attempt = this.#underWay.of(taskId)
    attempt?.cut('cancelled', 'cancelled while its request was under way')
    const partition = this.#stewardship.partitions.get(partitionOfTask(taskId))
    if (attempt === undefined && partition?.claim !== undefined) partition.cancelled.add(taskId)
  }

  async stop({ graceMs }: { readonly graceMs: number }): Promise<void> {
    const { clock, calls } = this.#ports
    this.#loop.isStopping = true
    this.#stewardship.isStopping = true
    this.#stewardship.giveAll()
    await this.#until(() => this.#underWay.size === 0, graceMs)
    for (const attempt of this.#underWay.all()) attempt.cut('shutdown', 'cut off when its instance was stopped')
    await this.#until(() => this.#settling.size === 0 && this.#stewardship.isSettled, LAST_WORDS_MS)
    clock.disarm(this)
    calls.stop()
    this.#stopListening?.()
  }

  /** The beat. It has no timer of its own: an instance that beats can also work. */
  ring(): void {
    const { clock, calls, time } = this.#ports
    this.dueAt = clock.monotonic() + BEAT_MS
    clock.arm(this)
    void this.#stewardship.beat()
    this.#underWay.ringOverdue(time.storeNow())
    this.#loop.wake()
    if (calls.isResting) return
    this.#remembering.beat()
    void this.#keepHouse()
    void this.#upkeep.walk()
  }

  get #serving(): readonly ServedPartition[] {
    return [...this.#stewardship.partitions.values()].filter(({ phase }) => phase === 'serving')
  }

  async #keepHouse(): Promise<void> {
    if (this.#isKeepingHouse) return
    this.#isKeepingHouse = true
    const { calls, clock } = this.#ports
    await this.#upkeep.endLost(this.partitions())
    const isDue = ({ listAgainAt }: ServedPartition): boolean => listAgainAt <= clock.monotonic()
    const due = calls.isResting ? [] : this.#serving.filter(isDue)
    this.#upkeep.listed(await this.#listing.again(due))
    this.#isKeepingHouse = false
  }

  #hinted(hint: Hint): void {
    const partition = this.#stewardship.partitions.get(hint.partition)
    if (partition !== undefined) this.#listing.hint(partition, hint)
  }

  /** The lane that an attempt was started from may have been forgotten, and found anew: it is looked for by its name. */
  #settled({ partition: { number }, key }: LaneName, waiting?: Pick<Hint, 'queue' | 'dueAt'>): void {
    if (waiting !== undefined) this.#hinted({ partition: number, lane: key, ...waiting })
    const lane = this.#stewardship.partitions.get(number)?.lanes.get(key)
    if (lane === undefined) return
    lane.fullUntil = -Infinity
    this.#remembering.note(lane)
    this.#loop.touch(lane)
  }

  #putBack(tasks: readonly ClaimedTask[]): void {
    for (const task of tasks) {
      this.#settling.takeInHand(task)
      this.#settling.settle({ task, settlement: putBack(task), lateness: NOT_LATE })
    }
    this.#loop.wake()
  }

  /** The orders of operators are known here, perhaps anew. */
  #steer(isNews: boolean): void {
    if (isNews) void this.#laneWalk.begin()
    this.#loop.wake()
  }

  /** Resolves when the condition is met, or the time is over. */
  async #until(isMet: () => boolean, ms: number): Promise<void> {
    const { clock } = this.#ports
    const endsAt = clock.monotonic() + ms
    while (!isMet() && clock.monotonic() < endsAt) {
      this.#loop.wake()
      await clock.sleep(Math.min(LOOK_MS, endsAt - clock.monotonic()))
    }
  }
}
