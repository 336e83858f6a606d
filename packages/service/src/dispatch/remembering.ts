import { laneMemory } from '@secondwind/resilience/rules'
import type { DispatchPorts } from './ports.ts'
import type { ServedLane } from './served-lane.ts'
import type { ServedPartition } from './served-partition.ts'
import { sideBySide } from './side-by-side.ts'

/** What has changed without a change of phase is written at most so late. */
const MOST_LATE_MS = 5_000

const WRITES_AT_ONCE = 16

interface RememberingOptions {
  readonly ports: DispatchPorts
  /** A write was refused: the partition is somebody else's. */
  readonly onLost: (partition: ServedPartition) => void
}

/** What the next steward of a lane has to know, written while this one can. */
export class Remembering {
  readonly #options: RememberingOptions
  readonly #changed = new Set<ServedLane>()
  #writtenAt = -Infinity

  constructor(options: RememberingOptions) {
    this.#options = options
  }

  /** An attempt ended: something may have been learned. */
  note(lane: ServedLane): void {
    this.#changed.add(lane)
  }

  /** The phase changed: written at once. */
  write(lane: ServedLane): void {
    void this.#writeOne(lane)
  }

  /** Called at every beat. */
  beat(): void {
    const at = this.#options.ports.clock.monotonic()
    if (at - this.#writtenAt < MOST_LATE_MS) return
    this.#writtenAt = at
    const lanes = [...this.#changed]
    for (const lane of lanes) if (lane.partition.phase === 'gone') this.#changed.delete(lane)
    void this.#write(lanes.filter(lane => lane.partition.phase === 'serving'))
  }

  /** What a partition's lanes have learned, before it is given away. */
  writeAll({ lanes }: ServedPartition): Promise<void> {
    return this.#write([...lanes.values()].filter(lane => this.#changed.has(lane)))
  }

  #write(lanes: readonly ServedLane[]): Promise<void> {
    return sideBySide(lanes, WRITES_AT_ONCE, lane => this.#writeOne(lane))
  }

  /** One write of a lane at a time: two could arrive in the wrong order. What changes meanwhile is written after it. */
  async #writeOne(lane: ServedLane): Promise<void> {
    this.#changed.add(lane)
    if (lane.isWriting) return
    lane.isWriting = true
    let isAnswered = true
    while (isAnswered && this.#changed.delete(lane)) isAnswered = await this.#writeOnce(lane)
    lane.isWriting = false
    if (!isAnswered) this.#changed.add(lane)
  }

  async #writeOnce(lane: ServedLane): Promise<boolean> {
    const { calls, store } = this.#options.ports
    const { partition } = lane
    const memory = laneMemory.memoryOf(lane.policy, lane.state)
    const text = JSON.stringify(memory)
    if (text === lane.remembered) return true
    const record = { partition: partition.number, steward: partition.token, lane: lane.key, memory }
    const answer = await calls.ask(() => store.remember(record))
    if (answer?.remembered === true) lane.remembered = text
    if (answer?.remembered === false) this.#options.onLost(partition)
    return answer !== undefined
  }
}
