import { laneMemory } from '@secondwind/resilience/rules'
import type { LaneRecord } from '../stores/store.ts'
import type { DispatchPorts } from './ports.ts'
import type { ServedLane } from './served-lane.ts'
import type { ServedPartition } from './served-partition.ts'
import { sideBySide } from './side-by-side.ts'

/** A change that is not a change of phase is written at most so late. */
const MOST_LATE_MS = 5_000

const WRITES_AT_ONCE = 16
const LANES_PER_WRITE = 200

interface RememberingOptions {
  readonly ports: DispatchPorts
  /** By number. */
  readonly partitions: ReadonlyMap<number, ServedPartition>
  /** A write was refused: another steward has the partition. */
  readonly onLost: (partition: ServedPartition) => void
}

/** The memory of a lane as it is written. */
interface Written {
  readonly lane: ServedLane
  readonly record: LaneRecord
  readonly text: string
}

/** What the next steward of a lane has to know, written while this one can. */
export class Remembering {
  readonly #options: RememberingOptions
  #writtenAt = -Infinity

  constructor(options: RememberingOptions) {
    this.#options = options
  }

  /** An attempt ended: the lane may have learned something. */
  note(lane: ServedLane): void {
    lane.partition.changed.set(lane.key, lane)
  }

  /** The phase changed: it is written at once. */
  write(lane: ServedLane): void {
    this.note(lane)
    void this.writeAll(lane.partition)
  }

  /** Called at every beat. */
  beat(): void {
    const at = this.#options.ports.clock.monotonic()
    if (at - this.#writtenAt < MOST_LATE_MS) return
    this.#writtenAt = at
    const serving = [...this.#options.partitions.values()].filter(({ phase }) => phase === 'serving')
    void sideBySide(serving, WRITES_AT_ONCE, partition => this.writeAll(partition))
  }

  /** Resolves when all that its lanes have learned is written, or the store gave no answer. */
  writeAll(partition: ServedPartition): Promise<void> {
    // One write of a partition at a time: two could arrive in the wrong order.
    if (partition.changed.size > 0) partition.writing ??= this.#write(partition)
    return partition.writing ?? Promise.resolve()
  }

  /** A lane that learns something meanwhile is written after it. */
  async #write(partition: ServedPartition): Promise<void> {
    let isAnswered = true
    while (isAnswered && partition.changed.size > 0) isAnswered = await this.#writeSome(partition)
    partition.writing = undefined
  }

  async #writeSome(partition: ServedPartition): Promise<boolean> {
    const { calls, store } = this.#options.ports
    const some = [...partition.changed.values()].slice(0, LANES_PER_WRITE)
    for (const { key } of some) partition.changed.delete(key)
    const news = some.map(memoryOf).filter(({ lane, text }) => text !== lane.remembered)
    if (news.length === 0) return true
    const ask = { partition: partition.number, steward: partition.token, lanes: news.map(({ record }) => record) }
    const answer = await calls.ask(() => store.remember(ask))
    if (answer?.remembered === true) for (const { lane, text } of news) lane.remembered = text
    if (answer?.remembered === false) this.#options.onLost(partition)
    if (answer === undefined) for (const { lane } of news) if (!partition.changed.has(lane.key)) this.note(lane)
    return answer !== undefined
  }
}

function memoryOf(lane: ServedLane): Written {
  const memory = laneMemory.memoryOf(lane.policy, lane.state)
  return { lane, record: { lane: lane.key, memory }, text: JSON.stringify(memory) }
}
