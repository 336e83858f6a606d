import { nextTurn } from '@secondwind/resilience'
import type { ServedLane } from './served-lane.ts'
import type { ServedPartition } from './served-partition.ts'

/** A few milliseconds, if all of them have other orders than before. */
const LANES_IN_ONE_GO = 100

/**
 * Goes through all lanes after something was ordered, a few at a time: answers, beats and attempts wait for those few and
 * never for all. It may take its time, for whoever looks at a lane meanwhile sees it under the new orders; lanes that wait
 * for nothing but an order hear of it in passing. A walk that is under way is not broken off by the next: who orders
 * without end keeps it from no lane.
 */
export class LaneWalk {
  readonly #partitions: ReadonlyMap<number, ServedPartition>
  #isUnderWay = false
  #isWantedAgain = false

  constructor(partitions: ReadonlyMap<number, ServedPartition>) {
    this.#partitions = partitions
  }

  async begin(): Promise<void> {
    this.#isWantedAgain = true
    if (this.#isUnderWay) return
    this.#isUnderWay = true
    while (this.#isWantedAgain) {
      this.#isWantedAgain = false
      await this.#walk()
    }
    this.#isUnderWay = false
  }

  async #walk(): Promise<void> {
    let passed = 0
    for (const lane of this.#lanes()) {
      lane.catchUp()
      if (++passed % LANES_IN_ONE_GO === 0) await new Promise<void>(nextTurn)
    }
  }

  *#lanes(): Iterable<ServedLane> {
    for (const { lanes } of this.#partitions.values()) yield* lanes.values()
  }
}
