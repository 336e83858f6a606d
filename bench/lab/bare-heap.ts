/** The least that any simulation has to do: take the next event from a heap of numbers and put another in. */
export class BareHeap {
  readonly #at: Float64Array
  readonly #id: Int32Array
  #size = 0

  constructor(capacity: number) {
    this.#at = new Float64Array(capacity)
    this.#id = new Int32Array(capacity)
  }

  get firstAt(): number {
    return this.#at[0]!
  }

  push(at: number, id: number): void {
    let place = this.#size++
    while (place > 0) {
      const parent = (place - 1) >> 2
      if (this.#at[parent]! <= at) break
      this.#at[place] = this.#at[parent]!
      this.#id[place] = this.#id[parent]!
      place = parent
    }
    this.#at[place] = at
    this.#id[place] = id
  }

  pop(): number {
    const first = this.#id[0]!
    const size = --this.#size
    const at = this.#at[size]!
    let place = 0
    for (let child = 1; child < size; child = 4 * place + 1) {
      let least = child
      const end = Math.min(child + 4, size)
      for (let other = child + 1; other < end; other++) if (this.#at[other]! < this.#at[least]!) least = other
      if (at <= this.#at[least]!) break
      this.#at[place] = this.#at[least]!
      this.#id[place] = this.#id[least]!
      place = least
    }
    this.#at[place] = at
    this.#id[place] = this.#id[size]!
    return first
  }
}

/** So many events with so many waiting, each as far ahead as those of the scenario; the dice are thrown beforehand. */
export function runBareHeap(waiting: number, events: number, gapsMs: Float64Array): void {
  const heap = new BareHeap(waiting + 1)
  const last = gapsMs.length - 1
  for (let id = 0; id < waiting; id++) heap.push(gapsMs[id & last]!, id)
  for (let event = 0; event < events; event++) {
    const now = heap.firstAt
    const id = heap.pop()
    heap.push(now + gapsMs[event & last]!, id)
  }
}
