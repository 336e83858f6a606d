/**
 * Reading the same things anew, one reading after the other: one that began earlier never ends later, and brings nothing
 * back that the next found gone.
 */
export class Rereading<Value> {
  readonly #read: () => Promise<Value>
  /** The reading that was begun last, and the one that will follow it. */
  #latest: Promise<Value> | undefined
  #next: Promise<Value> | undefined

  constructor(read: () => Promise<Value>) {
    this.#read = read
  }

  /**
   * For whoever has just written: what was acknowledged before is known when this resolves. A reading that is under way may
   * have begun too early; the next one serves all who came meanwhile, however much they wrote.
   */
  anew(): Promise<Value> {
    this.#next ??= this.#readNext()
    return this.#next
  }

  async #readNext(): Promise<Value> {
    // Whether it failed is told to those who wait for it.
    await this.#latest?.catch(() => undefined)
    this.#latest = this.#next
    this.#next = undefined
    return this.#read()
  }
}
