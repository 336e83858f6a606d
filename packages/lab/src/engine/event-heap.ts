/**
 * What happens next. A heap of numbers with four children to a node: each event is an id and an instant, and each id is
 * in it at most once, so that a time-out can be moved or taken out instead of being left behind.
 *
 *  1. What was set first comes first among equals: the order in which it was set is part of its key.
 *  2. The place of an event that has come stays open until the next one is set, which is most often its successor: one
 *     walk through the heap instead of two.
 *  3. Ids are small numbers, handed out again when free: the memory follows what is under way.
 */
export class EventHeap {
  /** The instant of the latest event that came. */
  at = 0
  /** Pairs of instant and order, side by side: nobody asks for one without the other. */
  #keys = new Float64Array(2 * FIRST_CAPACITY)
  #ids = new Int32Array(FIRST_CAPACITY)
  /** Where each id is; −1 when it is not. */
  #places = new Int32Array(4 * FIRST_CAPACITY).fill(-1)
  #size = 0
  #isOpen = false
  #nextOrder = 0

  get size(): number {
    return this.#isOpen ? this.#size - 1 : this.#size
  }

  /** Events that were ever set, moved ones each time. */
  get setEver(): number {
    return this.#nextOrder
  }

  /** The event is to come at this instant, wherever it was before. */
  set(id: number, at: number): void {
    if (id >= this.#places.length) this.#growPlaces(id)
    const place = this.#places[id]!
    const order = this.#nextOrder++
    if (place >= 0) {
      if (at < this.#keys[2 * place]!) this.#rise(place, at, order, id)
      else this.#sink(place, at, order, id)
    } else if (this.#isOpen) {
      this.#isOpen = false
      this.#sink(0, at, order, id)
    } else {
      if (this.#size === this.#ids.length) this.#grow()
      this.#rise(this.#size++, at, order, id)
    }
  }

  /** The event is not to come. */
  clear(id: number): void {
    const place = id < this.#places.length ? this.#places[id]! : -1
    if (place < 0) return
    this.#places[id] = -1
    this.#fill(place)
  }

  /** The id of the event that comes next, at `this.at`; −1 when nothing does. */
  next(): number {
    if (this.#isOpen) this.#fill(0)
    if (this.#size === 0) {
      this.#isOpen = false
      return -1
    }
    this.#isOpen = true
    const id = this.#ids[0]!
    this.#places[id] = -1
    this.at = this.#keys[0]!
    return id
  }

  /** The last one takes the empty place. */
  #fill(place: number): void {
    if (place === 0) this.#isOpen = false
    const last = --this.#size
    if (last === place) return
    const at = this.#keys[2 * last]!
    const order = this.#keys[2 * last + 1]!
    const id = this.#ids[last]!
    const parent = (place - 1) >> 2
    if (place > 0 && isBefore(at, order, this.#keys[2 * parent]!, this.#keys[2 * parent + 1]!))
      this.#rise(place, at, order, id)
    else this.#sink(place, at, order, id)
  }

  #rise(from: number, at: number, order: number, id: number): void {
    const keys = this.#keys
    const ids = this.#ids
    const places = this.#places
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
    const places = this.#places
    const size = this.#size
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

  #growPlaces(id: number): void {
    const places = new Int32Array(Math.max(id + 1, 2 * this.#places.length)).fill(-1)
    places.set(this.#places)
    this.#places = places
  }
}

const FIRST_CAPACITY = 1_024

function isBefore(at: number, order: number, otherAt: number, otherOrder: number): boolean {
  return at < otherAt || (at === otherAt && order < otherOrder)
}
