/**
 * The dispatch loop: settlements first, then a look at the lanes in which something has changed, then slots for those
 * that can use them. A turn costs what has changed, however many lanes and tasks wait; a lane that waits is an alarm on
 * the clock, whether for its next task or for a gate to open.
 *
 * A commit costs the store as much as several tasks. So where nearly all slots are taken, those that become free are
 * gathered for a moment, until they are worth a claim.
 */
import { NOT_ARMED, nextTurn, type Alarm } from '@secondwind/resilience'
import { shares } from '@secondwind/resilience/rules'
import { Claims } from './claims.ts'
import type { AttemptSetting } from './attempt-setting.ts'
import type { ServedLane } from './served-lane.ts'
import type { ServedPartition } from './served-partition.ts'
import { prospectOf, type Openings } from './share.ts'
import { isGate, type HoldReason } from '../task/lane-view.ts'

/** A lane whose leases fill its limit though we know of fewer: others end them, and nobody tells us. */
const FULL_LANE_MS = 1_000

/** So many slots are worth a claim at once; of few slots in all, a part of them is. */
const WORTH_A_CLAIM = 32
const PART_WORTH_A_CLAIM = 1 / 4

/** Nobody notices so short a wait, and a target that answers at once frees dozens of slots in it. */
const GATHERING_MS = 1

/**
 * A claim is mostly answered by then, and what has ended goes with the next one. Behind one that is slow, or never answered,
 * it is written alone: were the process to end now, it would all be sent again.
 */
const LONGEST_UNWRITTEN_MS = 5

interface LoopOptions {
  readonly setting: Omit<AttemptSetting, 'onEnd'>
  readonly slots: number
  /** A claim got no answer: whether its leases exist is not known. */
  readonly onDoubt: (partition: ServedPartition, claimToken: string) => void
  /** A claim was refused: the partition is somebody else's. */
  readonly onLost: (partition: ServedPartition) => void
}

export class Loop implements Alarm {
  dueAt = 0
  slot: number = NOT_ARMED
  readonly shares: shares.Shares<ServedLane>
  isStopping = false
  readonly #options: LoopOptions
  readonly #claims: Claims
  readonly #touched = new Set<ServedLane>()
  readonly #worthAClaim: number
  /** Armed while something that has ended is not yet on its way to the store. */
  readonly #unwritten: Alarm = { dueAt: 0, slot: NOT_ARMED, ring: () => this.#flush() }
  #isWoken = false
  #turns = 0

  constructor(options: LoopOptions) {
    this.#options = options
    this.shares = shares.newShares(options.slots)
    this.#worthAClaim = Math.min(WORTH_A_CLAIM, Math.ceil(options.slots * PART_WORTH_A_CLAIM))
    this.#claims = new Claims({
      setting: { ...options.setting, onEnd: lane => this.#ended(lane) },
      shares: this.shares,
      onAnswer: (lane, isFull) => this.#answered(lane, isFull),
      onDoubt: options.onDoubt,
      onLost: options.onLost,
      onEnd: () => this.#claimEnded(),
    })
  }

  /** Something about the lane has changed. */
  touch(lane: ServedLane): void {
    this.#touched.add(lane)
    if (this.#slotsFor(lane) >= this.#worthAClaim) this.wake()
    else if (this.slot === NOT_ARMED) this.#gather()
  }

  /** One turn for all that happens at once: answers that came together are settled together, and their lanes looked at once. */
  wake(): void {
    if (this.#isWoken) return
    this.#isWoken = true
    nextTurn(() => this.#isWoken && this.#turn())
  }

  /** What was gathered has its turn. */
  ring(): void {
    this.wake()
  }

  /** The lane is served no longer. */
  forget(lane: ServedLane): void {
    this.#options.setting.ports.clock.disarm(lane)
    this.#touched.delete(lane)
    this.#setShut(lane, undefined)
    shares.leaveShares(this.shares, lane.share)
  }

  /** That it could take, if nobody else did. */
  #slotsFor({ share }: ServedLane): number {
    const { slots, taken } = this.shares
    return shares.mostFor({ free: slots - taken, ofTenant: share.tenant.taken, ofLane: share.taken })
  }

  #gather(): void {
    const { clock } = this.#options.setting.ports
    this.dueAt = clock.monotonic() + GATHERING_MS
    clock.arm(this)
  }

  #turn(): void {
    this.#isWoken = false
    this.#options.setting.ports.clock.disarm(this)
    this.#turns++
    // While a claim is under way, what has ended waits for its answer: with the next one it is a single commit.
    if (this.#claims.underWay === 0) this.#flush()
    for (const lane of this.#touched) this.#look(lane)
    this.#touched.clear()
    if (this.#mayClaim) this.#fill()
  }

  /** If there is enough to claim again, the store works on that while the caller sends what was claimed. */
  #claimEnded(): void {
    if (!this.#isWoken) return
    this.#flush()
    this.#turn()
  }

  #flush(): void {
    const { ports, settling } = this.#options.setting
    ports.clock.disarm(this.#unwritten)
    settling.flush()
  }

  /** What has ended is written before anything new begins: what is held in memory stays bounded by the slots. */
  get #mayClaim(): boolean {
    const { ports, settling, steering } = this.#options.setting
    return !this.isStopping && !ports.calls.isResting && steering.isFresh && settling.size <= 2 * this.shares.slots
  }

  /** Slot by slot, to whoever's turn it is. */
  #fill(): void {
    const asking = new Map<ServedPartition, ServedLane[]>()
    for (let share = shares.nextLane(this.shares); share !== undefined; share = shares.nextLane(this.shares)) {
      const { lane } = share
      const { partition } = lane
      if (partition.claim !== undefined) {
        partition.parked.add(lane)
        shares.setReady(this.shares, share, false)
      } else if (lane.asked > 0 || this.#look(lane)) {
        if (lane.asked === 0) asking.set(partition, [...(asking.get(partition) ?? []), lane])
        this.#grant(lane)
      }
    }
    for (const [partition, granted] of asking) this.#claims.send(partition, granted)
  }

  #grant(lane: ServedLane): void {
    shares.takeSlot(this.shares, lane.share)
    lane.asked++
    // Ready in an earlier turn, and still here: there was no slot for it.
    if (lane.readyTurn < this.#turns && lane.shutFor === undefined) this.#setShut(lane, 'slots', lane.readySince)
    this.#setShut(lane, undefined)
    if (lane.asked >= lane.most) shares.setReady(this.shares, lane.share, false)
  }

  /** Whether the lane could use a slot; if not, the clock is told when to look again. */
  #look(lane: ServedLane): boolean {
    const { clock, time } = this.#options.setting.ports
    // A claim that is under way answers for it.
    if (lane.asked > 0 || lane.partition.phase !== 'serving') return false
    clock.disarm(lane)
    const now = time.now()
    const openings = lane.openingsAt(now, lane.leases)
    lane.shutGates.note(openings, now)
    const prospect = prospectOf(lane.queues.values(), openings, { now, storeNow: time.storeNow() })
    const fullForMs = Math.max(0, lane.fullUntil - clock.monotonic())
    const isReady = prospect.most > 0 && fullForMs === 0
    lane.most = prospect.most
    this.#setShut(lane, shutReasonOf(openings) ?? (fullForMs > 0 ? 'concurrency' : undefined))
    this.#setReady(lane, isReady, now)
    const lookInMs = prospect.most > 0 ? fullForMs : prospect.lookInMs
    if (!isReady && lookInMs < Infinity) {
      lane.dueAt = clock.monotonic() + lookInMs
      clock.arm(lane)
    }
    return isReady
  }

  #setReady(lane: ServedLane, isReady: boolean, now: number): void {
    if (isReady && !shares.isReady(lane.share)) {
      lane.readyTurn = this.#turns
      lane.readySince = now
    }
    shares.setReady(this.shares, lane.share, isReady)
  }

  #answered(lane: ServedLane, isFull: boolean): void {
    if (isFull) lane.fullUntil = this.#options.setting.ports.clock.monotonic() + FULL_LANE_MS
    this.touch(lane)
  }

  #ended(lane: ServedLane): void {
    const { clock } = this.#options.setting.ports
    if (this.#unwritten.slot === NOT_ARMED) {
      this.#unwritten.dueAt = clock.monotonic() + LONGEST_UNWRITTEN_MS
      clock.arm(this.#unwritten)
    }
    shares.giveSlotBack(this.shares, lane.share)
    if (lane.partition.phase === 'gone') this.wake()
    else this.touch(lane)
  }

  /** A lane is shut for one reason at a time. What waited behind it is told when the reason ends. */
  #setShut(lane: ServedLane, reason: HoldReason | undefined, since?: number): void {
    if (lane.shutFor === reason) return
    const { time, events } = this.#options.setting.ports
    const now = time.now()
    if (lane.shutFor !== undefined) {
      const ms = now - Math.max(lane.shutSince, lane.oldestDueAt)
      if (ms > 0) events.held({ lane: lane.key, reason: lane.shutFor, ms })
      lane.openSince = now
      if (isGate(lane.shutFor)) lane.unheldSince = now
    }
    lane.shutFor = reason
    lane.shutSince = since ?? now
  }
}

/** One that keeps everything, or else some of it. */
function shutReasonOf({ allowed, gates }: Openings): HoldReason | undefined {
  if (allowed.hold !== undefined) return allowed.hold.reason
  const { first, retry, late } = allowed.kindHolds
  return gates.find(({ room }) => room === 0)?.reason ?? (first ?? retry ?? late)?.reason
}
