import { NOWHERE, type Whereabouts } from './whereabouts.ts'

/**
 * Events in the order in which they come: a heap of numbers with four children to a node.
 *
 *  1. What was set first comes first among equals: the order in which it was set is part of its key.
 *  2. The place of an event that has come stays open until the next one is added, which is most often its successor: one
 *     walk through the heap instead of two.
 */
export class NearEvents {
  /** The instant of the latest event that came. */
  at = 0
  readonly #where: Whereabouts
  /** Pairs of instant and order, side by side: nobody asks for one without the other. */
  #keys = new Float64Array(2 * FIRST_CAPACITY)
  #ids = new Int32Array(FIRST_CAPACITY)
  #places = 0
  #isOpen = false

  constructor(where: Whereabouts) {
    this.#where = where
  }

  get size(): number {
    return this.#isOpen ? this.#places - 1 : this.#places
  }

  add(id: number, at: number, order: number): void {
    if (this.#isOpen) {
      this.#isOpen = false
      this.#sink(0, at, order, id)
    } else {
      if (this.#places === this.#ids.length) this.#grow()
      this.#rise(this.#places++, at, order, id)
    }
  }

  move(place: number, id: number, at: number, order: number): void {
    if (at < this.#keys[2 * place]!) this.#rise(place, at, order, id)
    else this.#sink(place, at, order, id)
  }

  /** The last one takes the empty place. */
  remove(place: number): void {
    if (place === 0) this.#isOpen = false
    const last = --this.#places
    if (last === place) return
    const at = this.#keys[2 * last]!
    const order = this.#keys[2 * last + 1]!
    const id = this.#ids[last]!
    const parent = (place - 1) >> 2
    if (place > 0 && isBefore(at, order, this.#keys[2 * parent]!, this.#keys[2 * parent + 1]!))
      this.#rise(place, at, order, id)
    else this.#sink(place, at, order, id)
  }

  /** The id of the event that comes next, at `this.at`; −1 when none is near. */
  next(): number {
    if (this.#isOpen) this.remove(0)
    if (this.#places === 0) return -1
    this.#isOpen = true
    const id = this.#ids[0]!
    this.#where.of[id] = NOWHERE
    this.at = this.#keys[0]!
    return id
  }

  /** Hands out everything, in no order. */
  empty(take: (id: number, at: number, order: number) => void): void {
    if (this.#isOpen) this.remove(0)
    while (this.#places > 0) {
      const last = --this.#places
      take(this.#ids[last]!, this.#keys[2 * last]!, this.#keys[2 * last + 1]!)
    }
  }

  #rise(from: number, at: number, order: number, id: number): void {
    const keys = this.#keys
    const ids = this.#ids
    const places = this.#where.of
    let place = from
    while (place > 0) {
      const parent = (place - 1) >> 2
      const parentAt = keys[2 * parent]!
      if (at > parentAt || (at === parentAt && order > keys[2 * parent + 1]!)) break
      keys[2 * place] = parentAt
      keys[2 * place + 1] = keys[2 * parent + 1]!
      const moved = ids[parent]!
      ids[place] = moved
      places[moved] = place
      place = parent
    }
    keys[2 * place] = at
    keys[2 * place + 1] = order
    ids[place] = id
    places[id] = place
  }

  #sink(from: number, at: number, order: number, id: number): void {
    const keys = this.#keys
    const ids = this.#ids
    const places = this.#where.of
    const size = this.#places
    let place = from
    for (let child = 4 * place + 1; child < size; child = 4 * place + 1) {
      let least = child
      let leastAt = keys[2 * child]!
      const end = child + 4 < size ? child + 4 : size
      for (let other = child + 1; other < end; other++) {
        const otherAt = keys[2 * other]!
        if (otherAt < leastAt || (otherAt === leastAt && keys[2 * other + 1]! < keys[2 * least + 1]!)) {
          least = other
          leastAt = otherAt
        }
      }
      if (at < leastAt || (at === leastAt && order < keys[2 * least + 1]!)) break
      keys[2 * place] = leastAt
      keys[2 * place + 1] = keys[2 * least + 1]!
      const moved = ids[least]!
      ids[place] = moved
      places[moved] = place
      place = least
    }
    keys[2 * place] = at
    keys[2 * place + 1] = order
    ids[place] = id
    places[id] = place
  }

  #grow(): void {
    const keys = new Float64Array(2 * this.#keys.length)
    keys.set(this.#keys)
    this.#keys = keys
    const ids = new Int32Array(2 * this.#ids.length)
    ids.set(this.#ids)
    this.#ids = ids
  }
}

const FIRST_CAPACITY = 1_024

function isBefore(at: number, order: number, otherAt: number, otherOrder: number): boolean {
  return at < otherAt || (at === otherAt && order < otherOrder)
}
