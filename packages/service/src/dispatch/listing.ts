/**
 * What waits in a partition: read whole when it is taken, kept up by hints, and listed again every half minute, so that
 * a lost hint costs lateness and nothing else.
 */
import { lane as lanes, laneMemory, type shares } from '@secondwind/resilience/rules'
import { laneOf, queueOf } from '../task/lane.ts'
import type { Answer, Hint, LaneMemory, LeaseHead, Page, PartitionPage, QueueHead } from '../stores/task-store.ts'
import type { DispatchPorts } from './ports.ts'
import { ServedLane } from './served-lane.ts'
import type { ServedPartition } from './served-partition.ts'
import type { Settling } from './settling.ts'
import type { Steering } from './steering.ts'

const PAGE = 1_000

/** A million queues: more lanes than one partition will ever have. */
const MOST_PAGES = 1_000

interface ListingOptions {
  readonly ports: DispatchPorts
  readonly steering: Steering
  readonly settling: Settling
  readonly listAgainMs: number
  readonly join: (tenant: string, lane: ServedLane) => shares.LaneShare<ServedLane>
  /** Something about the lane has changed. */
  readonly touch: (lane: ServedLane) => void
  readonly forget: (lane: ServedLane) => void
}

export class Listing {
  readonly #options: ListingOptions

  constructor(options: ListingOptions) {
    this.#options = options
  }

  /** All that a new steward has to know before its first claim; false when it could not be read, or is in vain. */
  async open(partition: ServedPartition): Promise<boolean> {
    const { clock, random, store } = this.#options.ports
    const [memories, leases, heads] = await Promise.all([
      this.#pages(partition, ask => store.memories(ask)),
      this.#pages(partition, ask => store.leases(ask)),
      this.#pages(partition, ask => store.queues(ask)),
    ])
    if (memories === undefined || leases === undefined || heads === undefined) return false
    for (const { lane, memory } of memories) partition.memories.set(lane, memory)
    this.#keepLeases(partition, leases)
    // In a partition that nobody has served, first attempts alone are no sign that anybody served the lane.
    for (const { lane, queue } of heads) if (queueOf(queue).kind !== 'first') this.#found(partition, lane)
    // The first time anywhere in between: partitions that were taken together are not listed together for ever.
    partition.listAgainAt = clock.monotonic() + random() * this.#options.listAgainMs
    partition.phase = 'serving'
    for (const { lane, queue, dueAt } of heads) this.#laneIn(partition, lane).hint(queue, dueAt)
    for (const { lane, queue, dueAt } of partition.earlyHints) this.#laneIn(partition, lane).hint(queue, dueAt)
    for (const lane of partition.lanes.values()) this.#options.touch(lane)
    return true
  }

  /** Hears of what was missed, and lets go of lanes that nothing can be said of. Returns what was listed. */
  async again(partition: ServedPartition): Promise<readonly QueueHead[]> {
    if (partition.isListing || partition.phase !== 'serving') return []
    partition.isListing = true
    const { store, clock } = this.#options.ports
    partition.listAgainAt = clock.monotonic() + this.#options.listAgainMs
    const heads = await this.#pages(partition, ask => store.queues(ask))
    partition.isListing = false
    if (heads === undefined) return []
    for (const { lane, queue, dueAt } of heads) this.#hintLane(partition, lane, queue, dueAt)
    this.#forgetIdle(partition)
    return heads
  }

  /** Something stands in one of its queues again, and nobody knows in which. */
  soon(partition: ServedPartition | undefined): void {
    if (partition !== undefined) partition.listAgainAt = -Infinity
  }

  hint(partition: ServedPartition, hint: Hint): void {
    if (partition.phase === 'reading') partition.earlyHints.push(hint)
    else if (partition.phase === 'serving') this.#hintLane(partition, hint.lane, hint.queue, hint.dueAt)
  }

  #hintLane(partition: ServedPartition, key: string, queue: string, dueAt: number): void {
    const lane = this.#laneIn(partition, key)
    const isNews = dueAt < (lane.queues.get(queue)?.dueAt ?? Infinity)
    lane.hint(queue, dueAt)
    if (isNews) this.#options.touch(lane)
  }

  #laneIn(partition: ServedPartition, key: string): ServedLane {
    const known = partition.lanes.get(key)
    if (known !== undefined) return known
    const { ports, steering, join, touch } = this.#options
    const memory = partition.memories.get(key) ?? (partition.wasServed ? NOTHING_KNOWN : undefined)
    const lane = new ServedLane({
      key,
      partition,
      steering,
      time: ports.time,
      // As of the take: what is first heard of later may have been busy until then, under another steward.
      stateUnder: policy =>
        memory === undefined
          ? lanes.newLane(policy, ports.time.now())
          : laneMemory.laneFrom(policy, memory, partition.takenAt),
      join: made => join(laneOf(key).tenant, made),
      onRing: touch,
    })
    lane.openSince = partition.takenAt
    if (memory !== undefined && memory !== NOTHING_KNOWN) lane.remembered = JSON.stringify(memory)
    partition.memories.delete(key)
    partition.lanes.set(key, lane)
    return lane
  }

  #forgetIdle(partition: ServedPartition): void {
    const { time } = this.#options.ports
    for (const lane of partition.lanes.values())
      if (lane.queues.size === 0 && lane.leases === 0 && lanes.isAtRest(lane.policy, lane.state, time.now())) {
        partition.lanes.delete(lane.key)
        this.#options.forget(lane)
      }
  }

  /** Leases of others end by themselves; some may be over already, or were left behind by a process that is gone. */
  #keepLeases(partition: ServedPartition, leases: readonly LeaseHead[]): void {
    const { ports, settling } = this.#options
    const left = leases.filter(({ taskId, token }) => !settling.isInHand({ taskId, token }))
    for (const { lane } of left) this.#found(partition, lane)
    if (left.length > 0) partition.leaseEnds = [ports.time.storeNow(), ...left.map(({ endsAt }) => endsAt)]
  }

  /** Somebody has served it before, and perhaps wrote nothing down: it is not new. */
  #found({ memories }: ServedPartition, lane: string): void {
    if (!memories.has(lane)) memories.set(lane, NOTHING_KNOWN)
  }

  /** All pages; undefined when one got no answer, or the partition is somebody else's by then. */
  async #pages<Item>(
    partition: ServedPartition,
    ask: (page: PartitionPage) => Promise<Answer & Page<Item>>,
  ): Promise<Item[] | undefined> {
    const items: Item[] = []
    let cursor: string | undefined
    for (let page = 0; page < MOST_PAGES; page++) {
      const from = { partition: partition.number, limit: PAGE, ...(cursor !== undefined && { cursor }) }
      const answer = await this.#options.ports.calls.ask(() => ask(from))
      if (answer === undefined || partition.phase === 'gone') return undefined
      for (const item of answer.items) items.push(item)
      cursor = answer.nextCursor
      if (cursor === undefined) break
    }
    return items
  }
}

/** No memory that was ever written looks like it. */
const NOTHING_KNOWN: LaneMemory = {}
