/**
 * Sends what is due. It schedules lanes, not tasks: credit, rate and limits close a lane by not asking its
 * queues, so that a dead destination with a million tasks costs one alarm.
 *
 *   stewardship ──► listing ──► loop ──► claims ──► attempt ──► settling
 *   who serves      what        whose    what is    one         what came of it,
 *   which part      waits       turn     taken      request     in the store
 *
 * Beside them, once a second: `upkeep` (lost leases, deadlines) and `remembering` (what the next steward has to know).
 */
import { NOT_ARMED, type Alarm, type Clock, type Random } from '@secondwind/resilience'
import { shares, type LaneInput } from '@secondwind/resilience/rules'
import type { StandingOrders } from '../steering/standing-orders.ts'
import type { BodyStore } from '../bodies/body-store.ts'
import type { Hint, TaskStore } from '../stores/task-store.ts'
import type { Target } from '../targets/target.ts'
import { queueKey } from '../task/lane.ts'
import type { Dispatching, LaneView } from '../task/lane-view.ts'
import { partitionOfTask } from '../task/task-id.ts'
import type { DispatchEvents } from '../telemetry/events.ts'
import { Bodies } from './bodies.ts'
import { BEAT_MS } from './fleet.ts'
import { LaneWalk } from './lane-walk.ts'
import { Listing } from './listing.ts'
import { Loop } from './loop.ts'
import { Policies } from './policies.ts'
import type { DispatchPorts } from './ports.ts'
import { Recalling } from './recalling.ts'
import { Remembering } from './remembering.ts'
import type { ServedLane } from './served-lane.ts'
import type { ServedPartition } from './served-partition.ts'
import { Settling, type LaneName } from './settling.ts'
import type { SigningSecretsOf } from './signature.ts'
import { sideBySide } from './side-by-side.ts'
import { Stewardship } from './stewardship.ts'
import { Steering } from './steering.ts'
import { StoreCalls } from './store-calls.ts'
import { StoreTime } from './store-time.ts'
import { UnderWay } from './under-way.ts'
import { sayMissing, Upkeep } from './upkeep.ts'
import { laneIn, viewOf } from './view.ts'

export interface DispatcherOptions {
  readonly store: TaskStore
  readonly target: Target
  /** Where large bodies are read. */
  readonly bodies: Pick<BodyStore, 'read'>
  readonly clock: Clock
  readonly random: Random
  /** A text that nobody else has: leases and stewards are known by it. */
  readonly newToken: () => string
  /** This process among those that share the store. */
  readonly instance: string
  /** Requests under way at once. One lane alone uses four fifths of them, and one tenant nine tenths. */
  readonly slots: number
  readonly events: DispatchEvents
  /** Deliveries of a lane that has any are signed. */
  readonly signingSecretsOf?: SigningSecretsOf
  /** What every lane may do. */
  readonly lanes?: LaneInput
  /** How often to list a partition again; where hints do not arrive, every second. */
  readonly listAgainMs?: number
}

export interface Dispatcher extends Dispatching {
  /** What operators want, as far as this instance has read it. */
  readonly orders: StandingOrders
  /** The store's time, as far as this instance knows it. */
  now(): number
  /** Whether this instance is the steward of a partition: what belongs to it is then its to do. */
  serves(partition: number): boolean
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

/** Each is a call or two. */
const PARTITIONS_AT_ONCE = 8

/** How often a stop looks whether it is over. */
const LOOK_MS = 20

/** After the last attempt has ended: what the store has not answered by then, the next process finds out for itself. */
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
    const policies = new Policies(store, calls)
    const onLost = (partition: ServedPartition): void => this.#stewardship.drop(partition)
    const onRead = (isNews: boolean): void => this.#steer(isNews)
    this.#ports = ports
    this.#steering = new Steering({ ports, lanes: options.lanes ?? {}, onRead })
    this.#settling = new Settling({
      ports,
      onSettled: (lane, waiting) => this.#settled(lane, waiting),
      onReturned: taskId => this.#listing.soon(this.#stewardship.partitions.get(partitionOfTask(taskId))),
      wake,
    })
    this.#remembering = new Remembering({ ports, onLost })
    this.#recalling = new Recalling({ ports, settling: this.#settling, touch: lane => this.#loop.touch(lane) })
    this.#loop = new Loop({
      setting: {
        ports,
        policies,
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
    })
    this.#stewardship = new Stewardship({
      ports,
      onBeat: (version, asked) => void this.#steering.heard(version, asked),
      onTaken: partition => this.#taken(partition),
      onGiving: partition => this.#remembering.writeAll(partition),
      onDropped: ({ lanes }) => lanes.forEach(lane => this.#loop.forget(lane)),
      onUnused: (taskIds, token) => this.#release(taskIds, token),
    })
    this.#laneWalk = new LaneWalk(this.#stewardship.partitions)
    const isDoubted = (token: string): boolean => this.#stewardship.isDoubted(token)
    this.#upkeep = new Upkeep({ ports, policies, settling: this.#settling, isDoubted, wake })
  }

  now(): number {
    return this.#ports.time.now()
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

  /** The beat. It comes from here and not from a timer of its own: who beats can also work. */
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

  async #taken(partition: ServedPartition): Promise<boolean> {
    if (!(await this.#listing.open(partition))) return false
    if (partition.leaseEnds.length > 0) void this.#upkeep.endLost(partition)
    return true
  }

  async #keepHouse(): Promise<void> {
    if (this.#isKeepingHouse) return
    this.#isKeepingHouse = true
    await sideBySide(this.#stewardship.partitions.values(), PARTITIONS_AT_ONCE, partition => this.#keepUp(partition))
    this.#isKeepingHouse = false
  }

  async #keepUp(partition: ServedPartition): Promise<void> {
    const { calls, clock, time } = this.#ports
    const isDue = (): boolean => partition.phase === 'serving' && !calls.isResting
    if (isDue() && (partition.leaseEnds[0] ?? Infinity) <= time.storeNow()) await this.#upkeep.endLost(partition)
    if (!isDue() || partition.listAgainAt > clock.monotonic()) return
    this.#upkeep.listed(partition, await this.#listing.again(partition))
    // Leases whose end nobody could know of, or could not be written when it came.
    partition.leaseEnds.unshift(time.storeNow())
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

  #release(taskIds: readonly string[], token: string): void {
    for (const taskId of taskIds) this.#settling.release({ taskId, token })
    this.#loop.wake()
  }

  /** What operators have ordered is known here, perhaps anew. */
  #steer(isNews: boolean): void {
    if (isNews) void this.#laneWalk.begin()
    this.#loop.wake()
  }

  /** Whatever ends first: the condition, or the time. */
  async #until(isMet: () => boolean, ms: number): Promise<void> {
    const { clock } = this.#ports
    const endsAt = clock.monotonic() + ms
    while (!isMet() && clock.monotonic() < endsAt) {
      this.#loop.wake()
      await clock.sleep(Math.min(LOOK_MS, endsAt - clock.monotonic()))
    }
  }
}
