/** A queue that can be taken from at both ends. */
export class Ends<Entry> {
  #entries: Entry[] = []
  #first = 0

  get size(): number {
    return this.#entries.length - this.#first
  }

  /** Undefined when it is empty. */
  get first(): Entry | undefined {
    return this.#entries[this.#first]
  }

  add(entry: Entry): void {
    this.#entries.push(entry)
  }

  takeFirst(): Entry | undefined {
    if (this.size === 0) return undefined
    const entry = this.#entries[this.#first++]
    if (this.#first >= MOST_TAKEN && this.#first * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#first)
      this.#first = 0
    }
    return entry
  }

  takeLast(): Entry | undefined {
    return this.size === 0 ? undefined : this.#entries.pop()
  }
}

/** So many taken entries may lie before the first. */
const MOST_TAKEN = 4_096
