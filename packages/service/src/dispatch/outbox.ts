/** No call carries more: an answer must not keep the others waiting. */
const MOST_PER_CALL = 256

/**
 * What has to reach the store, sooner or later: what came together is sent together, beside batches that are still under
 * way, and sent again until there is an answer. A batch that failed goes to the end of the line and comes back in smaller
 * ones: if one item is to blame, it keeps nobody else.
 */
export class Outbox<Item> {
  readonly #send: (items: readonly Item[]) => Promise<boolean>
  readonly #onDone: () => void
  #waiting: Item[] = []
  #sending = 0
  #mostPerCall = MOST_PER_CALL

  /** `send` says whether there was an answer; `onDone` hears that the next batch may go. */
  constructor(send: (items: readonly Item[]) => Promise<boolean>, onDone: () => void) {
    this.#send = send
    this.#onDone = onDone
  }

  get size(): number {
    return this.#waiting.length + this.#sending
  }

  add(item: Item): void {
    this.#waiting.push(item)
  }

  flush(): void {
    if (this.#waiting.length > 0) void this.#sendBatch()
  }

  async #sendBatch(): Promise<void> {
    const items = this.#takeFirst()
    this.#sending += items.length
    const isAnswered = await this.#send(items)
    this.#sending -= items.length
    if (!isAnswered) this.#waiting.push(...items)
    this.#mostPerCall = isAnswered
      ? Math.min(MOST_PER_CALL, 2 * this.#mostPerCall)
      : Math.max(1, this.#mostPerCall >> 1)
    this.#onDone()
  }

  /**
   * Into a list of its own, and the rest into another. Spliced out of one list that lives as long as the service, nearly all
   * that was ever sent outlived the collection of short-lived objects, with its task and its answer: so it was measured.
   */
  #takeFirst(): readonly Item[] {
    const waiting = this.#waiting
    this.#waiting = waiting.slice(this.#mostPerCall)
    return waiting.slice(0, this.#mostPerCall)
  }
}
