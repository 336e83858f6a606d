/** A line in which one can look anywhere: added behind, taken in front. */
export class Deque<Item> {
  readonly #items: (Item | undefined)[] = []
  #first = 0

  get size(): number {
    return this.#items.length - this.#first
  }

  push(item: Item): void {
    this.#items.push(item)
  }

  /** The first is 0. */
  at(place: number): Item {
    return this.#items[this.#first + place]!
  }

  shift(): Item {
    const item = this.#items[this.#first]!
    this.#items[this.#first++] = undefined
    if (this.#first > LEAST_WASTE && 2 * this.#first > this.#items.length) {
      this.#items.splice(0, this.#first)
      this.#first = 0
    }
    return item
  }
}

/** Moving the rest forward is paid for by so many that left. */
const LEAST_WASTE = 256
