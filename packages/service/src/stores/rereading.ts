/**
 * Reads the same things again and again, one reading after the other. So a reading that began earlier never ends later, and
 * brings nothing back that the next one no longer found.
 */
export class Rereading<Value> {
  readonly #read: () => Promise<Value>
  /** The reading that began last, and the one that will follow it. */
  #latest: Promise<Value> | undefined
  #next: Promise<Value> | undefined

  constructor(read: () => Promise<Value>) {
    this.#read = read
  }

  /**
   * Every write that was acknowledged before this call is known when it resolves. A reading that is under way may have begun
   * too early, so the next one serves all callers that come meanwhile.
   */
  anew(): Promise<Value> {
    this.#next ??= this.#readNext()
    return this.#next
  }

  async #readNext(): Promise<Value> {
    // Its own callers learn that it failed.
    await this.#latest?.catch(() => undefined)
    this.#latest = this.#next
    this.#next = undefined
    return this.#read()
  }
}
