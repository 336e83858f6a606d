/** Nobody's: a row that was removed. */
const NOBODY = 0
/** Where a chain ends. */
const NOWHERE = -1
const LEAST_ROOM = 1_024

/**
 * The newest rows of the log, by task, in memory: each is loose until it is filed. A row's place is its distance from the last
 * one that was filed, for rows are numbered as they come. Each lies before the next of the same remainder as its task, so that
 * those of a task are found along one short chain: some bytes a row, where a map would take a hundred.
 */
export class LooseRows {
  #filedUpTo = 0
  #count = 0
  /** How often they were laid anew: places and chains are others then. */
  #lays = 0
  /** By place: whose row it is, and the place of the one before it in its chain. */
  #tasks = new Float64Array(LEAST_ROOM)
  #before = new Int32Array(LEAST_ROOM)
  /** By remainder: the place at which the chain begins. */
  #heads = new Int32Array(LEAST_ROOM).fill(NOWHERE)

  /** When the transaction began, and what it has removed since. */
  #begun = { upTo: 0, lays: 0 }
  readonly #removed: [logId: number, seq: number][] = []

  get filedUpTo(): number {
    return this.#filedUpTo
  }

  /** The number of the newest row. */
  get upTo(): number {
    return this.#filedUpTo + this.#count
  }

  /** A row that is newer than all others. */
  add(logId: number, seq: number): void {
    while (this.upTo < logId - 1) this.#push(NOBODY)
    this.#push(seq)
  }

  /** Whose a row is; 0: nobody's, for it was removed or is not loose. */
  taskOf(logId: number): number {
    const place = logId - this.#filedUpTo - 1
    return place >= 0 && place < this.#count ? this.#tasks[place]! : NOBODY
  }

  newestOf(seq: number): number | undefined {
    for (let place = this.#headOf(seq); place !== NOWHERE; place = this.#before[place]!)
      if (this.#tasks[place] === seq) return this.#filedUpTo + 1 + place
    return undefined
  }

  /** All of a task, the newest first. */
  of(seq: number): number[] {
    const found: number[] = []
    for (let place = this.#headOf(seq); place !== NOWHERE; place = this.#before[place]!)
      if (this.#tasks[place] === seq) found.push(this.#filedUpTo + 1 + place)
    return found
  }

  remove(logId: number): void {
    const seq = this.taskOf(logId)
    if (seq === NOBODY) return
    this.#removed.push([logId, seq])
    this.#tasks[logId - this.#filedUpTo - 1] = NOBODY
  }

  /** A transaction begins: what it changes can be taken back. */
  begin(): void {
    this.#begun = { upTo: this.upTo, lays: this.#lays }
    this.#removed.length = 0
  }

  /**
   * The transaction has failed. Not read anew, if they lie as they lay: there are tens of thousands of them, and calls that fail
   * together are tried again in halves.
   */
  takeBack(): void {
    if (this.#begun.lays !== this.#lays) return this.forget()
    for (const [logId, seq] of this.#removed) this.#tasks[logId - this.#filedUpTo - 1] = seq
    while (this.upTo > this.#begun.upTo) {
      const place = --this.#count
      this.#heads[this.#tasks[place]! % this.#heads.length] = this.#before[place]!
    }
    this.#removed.length = 0
  }

  /** All up to this one are filed. */
  file(upTo: number): void {
    // Most who look find nothing filed since: to lay tens of thousands anew costs milliseconds.
    if (upTo === this.#filedUpTo) return
    this.#lay(this.#tasks.slice(upTo - this.#filedUpTo, Math.max(this.#count, upTo - this.#filedUpTo)))
    this.#filedUpTo = upTo
  }

  forget(): void {
    this.#lay(new Float64Array(0))
    this.#filedUpTo = 0
  }

  #push(seq: number): void {
    if (this.#count === this.#tasks.length) this.#lay(this.#tasks, 2 * this.#count)
    const place = this.#count++
    this.#tasks[place] = seq
    this.#before[place] = this.#headOf(seq)
    this.#heads[seq % this.#heads.length] = place
  }

  #headOf(seq: number): number {
    return this.#heads[seq % this.#heads.length]!
  }

  /** Begins anew with these. */
  #lay(tasks: Float64Array, room: number = this.#tasks.length): void {
    this.#lays++
    this.#count = 0
    this.#tasks = new Float64Array(room)
    this.#before = new Int32Array(room)
    this.#heads = new Int32Array(room).fill(NOWHERE)
    for (const seq of tasks) this.#push(seq)
  }
}
