/** Where something stands: by instant, then by number. */
export interface Place {
  readonly at: number
  readonly number: number
}

export interface Standing<Item> extends Place {
  readonly item: Item
}

/**
 * Things in the order of their places. A sorted array, the plainest structure that can be walked, cut into and trusted;
 * whoever leaves from the front leaves a gap, so that the others need not move up one by one.
 */
export class Line<Item> {
  readonly #standing: Standing<Item>[] = []
  /** The index of the first one; before it is the gap. */
  #head = 0

  get first(): Standing<Item> | undefined {
    return this.#standing[this.#head]
  }

  get isEmpty(): boolean {
    return this.first === undefined
  }

  add(place: Place, item: Item): void {
    const index = this.#indexOf(place)
    const standing = { ...place, item }
    if (index === this.#head && this.#head > 0) this.#standing[--this.#head] = standing
    else this.#standing.splice(index, 0, standing)
  }

  /** Who stands at this place, which somebody does. */
  remove(place: Place): void {
    const index = this.#indexOf(place)
    if (index === this.#head) this.#head++
    else this.#standing.splice(index, 1)
    if (2 * this.#head <= this.#standing.length) return
    this.#standing.splice(0, this.#head)
    this.#head = 0
  }

  /** At most so many, from behind `place` on; from the first one if it is left out. */
  after(place: Place | undefined, count: number): Standing<Item>[] {
    const from = place === undefined ? this.#head : this.#indexOf({ at: place.at, number: place.number + 1 })
    return this.#standing.slice(from, from + Math.max(0, count))
  }

  /** At most so many, backwards, from before `place` on; from the last one if it is left out. */
  before(place: Place | undefined, count: number): Standing<Item>[] {
    const to = place === undefined ? this.#standing.length : this.#indexOf(place)
    return this.#standing.slice(Math.max(this.#head, to - Math.max(0, count)), to).toReversed()
  }

  /** The first index whose place is not before this one; numbers are whole. */
  #indexOf({ at, number }: Place): number {
    let [low, high] = [this.#head, this.#standing.length]
    while (low < high) {
      const middle = (low + high) >> 1
      const there = this.#standing[middle]!
      if (there.at < at || (there.at === at && there.number < number)) low = middle + 1
      else high = middle
    }
    return low
  }
}
