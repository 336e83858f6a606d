/**
 * The waiting queues of partitions: read when a partition is taken, kept up by hints, and listed again every half minute, so
 * that a lost hint costs lateness and nothing else.
 */
import { lane as lanes, laneMemory, type shares } from '@secondwind/resilience/rules'
import { laneOf, partitionOf, queueOf } from '../task/lane.ts'
import type { Hint, LaneMemory, QueueHead } from '../stores/store.ts'
import { allPages } from './all-pages.ts'
import type { DispatchPorts } from './ports.ts'
import { ServedLane } from './served-lane.ts'
import type { ServedPartition } from './served-partition.ts'
import type { Settling } from './settling.ts'
import type { Steering } from './steering.ts'

interface ListingOptions {
  readonly ports: DispatchPorts
  readonly steering: Steering
  readonly settling: Settling
  readonly listAgainMs: number
  readonly join: (tenant: string, lane: ServedLane) => shares.LaneShare<ServedLane>
  /** Something about the lane has changed. */
  readonly touch: (lane: ServedLane) => void
  readonly forget: (lane: ServedLane) => void
  /** Another process has, or had, leases in the partition. */
  readonly onLeft: (partition: ServedPartition) => void
}

export class Listing {
  readonly #options: ListingOptions

  constructor(options: ListingOptions) {
    this.#options = options
  }

  /** All that a new steward has to know before its first claim; false when it could not be read, or is in vain. */
  async open(partition: ServedPartition): Promise<boolean> {
    const { calls, clock, random, store } = this.#options.ports
    const partitions = [partition.number]
    const [memories, leases, heads] = await Promise.all([
      allPages(calls, page => store.memories({ ...page, partitions })),
      allPages(calls, page => store.leases({ ...page, partitions })),
      allPages(calls, page => store.queues({ ...page, partitions })),
    ])
    if (memories === undefined || leases === undefined || heads === undefined || partition.phase === 'gone')
      return false
    for (const { lane, memory } of memories) partition.memories.set(lane, memory)
    const left = leases.filter(lease => !this.#options.settling.isInHand(lease))
    for (const { lane } of left) this.#found(partition, lane)
    // In a partition that was never served, first attempts alone are no sign that the lane was served.
    for (const { lane, queue } of heads) if (queueOf(queue).kind !== 'first') this.#found(partition, lane)
    // The first time anywhere in between: partitions that were taken together are not listed together for ever.
    partition.listAgainAt = clock.monotonic() + random() * this.#options.listAgainMs
    partition.phase = 'serving'
    for (const { lane, queue, dueAt } of heads) this.#laneIn(partition, lane).hint(queue, dueAt)
    for (const { lane, queue, dueAt } of partition.earlyHints) this.#laneIn(partition, lane).hint(queue, dueAt)
    for (const lane of partition.lanes.values()) this.#options.touch(lane)
    if (left.length > 0) this.#options.onLeft(partition)
    return true
  }

  /** Learns of hints that were lost, and drops idle lanes. Returns the waiting queues. */
  async again(partitions: readonly ServedPartition[]): Promise<readonly QueueHead[]> {
    if (partitions.length === 0) return []
    const { store, calls, clock } = this.#options.ports
    const byNumber = new Map(partitions.map(partition => [partition.number, partition]))
    for (const partition of partitions) partition.listAgainAt = clock.monotonic() + this.#options.listAgainMs
    const heads = await allPages(calls, page => store.queues({ ...page, partitions: [...byNumber.keys()] }))
    if (heads === undefined) return []
    for (const { lane, queue, dueAt } of heads) {
      const partition = byNumber.get(partitionOf(lane))
      if (partition?.phase === 'serving') this.#hintLane(partition, lane, queue, dueAt)
    }
    for (const partition of partitions) if (partition.phase === 'serving') this.#forgetIdle(partition)
    return heads
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

  /** It was served before, though perhaps nothing of it was written down: it is not new. */
  #found({ memories }: ServedPartition, lane: string): void {
    if (!memories.has(lane)) memories.set(lane, NOTHING_KNOWN)
  }
}

/** No memory that was ever written looks like it. */
const NOTHING_KNOWN: LaneMemory = {}
