/** What stands in a heap: it knows its place, so that it can be moved or taken out without being looked for. */
export interface Placed {
  /** Its place in the heap; `NOWHERE` when it is in none. */
  place: number
}

export const NOWHERE = -1

/** The first by any order, among thousands that change their rank at any time. */
export class Heap<Item extends Placed> {
  readonly #items: Item[] = []
  readonly #isBefore: (left: Item, right: Item) => boolean

  constructor(isBefore: (left: Item, right: Item) => boolean) {
    this.#isBefore = isBefore
  }

  get first(): Item | undefined {
    return this.#items[0]
  }

  get size(): number {
    return this.#items.length
  }

  add(item: Item): void {
    if (item.place !== NOWHERE) return
    this.#items.push(item)
    this.#rise(item, this.#items.length - 1)
  }

  remove(item: Item): void {
    const { place } = item
    if (place === NOWHERE) return
    item.place = NOWHERE
    const last = this.#items.pop()!
    if (last === item) return
    this.#put(last, place)
    this.moved(last)
  }

  /** Its rank has changed. */
  moved(item: Item): void {
    if (item.place === NOWHERE) return
    this.#rise(item, item.place)
    this.#sink(item, item.place)
  }

  #rise(item: Item, place: number): void {
    while (place > 0) {
      const above = (place - 1) >> 1
      if (!this.#isBefore(item, this.#items[above]!)) break
      this.#put(this.#items[above]!, place)
      place = above
    }
    this.#put(item, place)
  }

  #sink(item: Item, place: number): void {
    for (;;) {
      let below = 2 * place + 1
      if (below >= this.#items.length) break
      const beside = below + 1
      if (beside < this.#items.length && this.#isBefore(this.#items[beside]!, this.#items[below]!)) below = beside
      if (!this.#isBefore(this.#items[below]!, item)) break
      this.#put(this.#items[below]!, place)
      place = below
    }
    this.#put(item, place)
  }

  #put(item: Item, place: number): void {
    this.#items[place] = item
    item.place = place
  }
}
