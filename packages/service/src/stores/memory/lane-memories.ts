import { cursorOf } from '../cursor.ts'
import type { LaneMemory, LaneRecord, Page, PartitionPage } from '../task-store.ts'
import { pageFrom } from './page.ts'

const MEMORIES = cursorOf('memories', 'string')

/** What stewards wrote down of their lanes. */
export class LaneMemories {
  readonly #byPartition = new Map<number, Map<string, LaneMemory>>()

  write(partition: number, lane: string, memory: LaneMemory): void {
    const lanes = this.#byPartition.get(partition) ?? new Map<string, LaneMemory>()
    this.#byPartition.set(partition, lanes.set(lane, memory))
  }

  forget(partition: number, lane: string): void {
    this.#byPartition.get(partition)?.delete(lane)
  }

  list({ partition, ...page }: PartitionPage): Page<LaneRecord> {
    const lanes = [...(this.#byPartition.get(partition) ?? [])]
      .map(([lane, memory]) => ({ lane, memory }))
      .toSorted((one, other) => (one.lane < other.lane ? -1 : 1))
    return pageFrom(lanes, page, MEMORIES, {
      placeOf: ({ lane }): [string] => [lane],
      isShown: ({ lane }, [last]) => lane <= last,
    })
  }
}
