import { nextTurn } from '@secondwind/resilience'
import type { ServedLane } from './served-lane.ts'

/** A few milliseconds, if all of them have other orders than before. */
const LANES_IN_ONE_GO = 100

/** Lanes by the number of their partition, as far as a walk has to do with them. */
type Partitions = ReadonlyMap<number, { readonly lanes: ReadonlyMap<string, Pick<ServedLane, 'catchUp'>> }>

/**
 * Goes through all lanes after something was ordered, a few at a time: answers, beats and attempts wait for those few and
 * never for all. It may take its time, for whoever looks at a lane meanwhile sees it under the new orders; lanes that wait
 * for nothing but an order hear of it in passing. A walk that is under way is not broken off by the next: who orders
 * without end keeps it from no lane.
 */
export class LaneWalk {
  readonly #partitions: Partitions
  #isUnderWay = false
  #isWantedAgain = false

  constructor(partitions: Partitions) {
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

  *#lanes(): Iterable<Pick<ServedLane, 'catchUp'>> {
    for (const { lanes } of this.#partitions.values()) yield* lanes.values()
  }
}
