import { DEFAULT_QUEUE, type Queue } from '../scenario/scenario.ts'
import { ARRIVED_AT, NEXT, PREVIOUS, WIDTH, type Rows } from './rows.ts'

/**
 * Calls that wait for a server, as a list through their rows: to leave it from the middle costs as little as from its
 * ends. Who is next depends on the order.
 */
export class WaitingRoom {
  length = 0
  readonly maxLength: number
  readonly #calls: Rows
  readonly #order: NonNullable<Queue['order']>
  readonly #overloadLength: number
  readonly #codel: ControlledDelay | undefined
  #first = -1
  #last = -1

  constructor(calls: Rows, queue: Queue) {
    const { order = DEFAULT_QUEUE.order, maxLength = Infinity, overloadLength = DEFAULT_QUEUE.overloadLength } = queue
    this.#calls = calls
    this.#order = order
    this.maxLength = maxLength
    this.#overloadLength = overloadLength
    this.#codel = order === 'codel' ? new ControlledDelay(queue) : undefined
  }

  add(call: number): void {
    const { data } = this.#calls
    data[call * WIDTH + NEXT] = -1
    data[call * WIDTH + PREVIOUS] = this.#last
    if (this.#last < 0) this.#first = call
    else data[this.#last * WIDTH + NEXT] = call
    this.#last = call
    this.length++
  }

  remove(call: number): void {
    const { data } = this.#calls
    const next = data[call * WIDTH + NEXT]!
    const previous = data[call * WIDTH + PREVIOUS]!
    if (previous < 0) this.#first = next
    else data[previous * WIDTH + NEXT] = next
    if (next < 0) this.#last = previous
    else data[next * WIDTH + PREVIOUS] = previous
    this.length--
  }

  /** The next one, who is still in the list; −1: nobody waits. */
  get next(): number {
    switch (this.#order) {
      case 'fifo':
      case 'codel':
        return this.#first
      case 'lifo':
        return this.#last
      case 'lifo-under-overload':
        return this.length > this.#overloadLength ? this.#last : this.#first
    }
  }

  /** Whether the one whose turn has come is dropped instead. */
  isDropped(call: number, now: number): boolean {
    if (this.#codel === undefined) return false
    return this.#codel.isDropped(now - this.#calls.data[call * WIDTH + ARRIVED_AT]!, this.length, now)
  }
}

/** The control law of RFC 8289, by waits and not by bytes: drops come closer together while every wait is too long. */
class ControlledDelay {
  readonly #targetMs: number
  readonly #intervalMs: number
  /** When every wait will have been too long for an interval; 0: the last one was not. */
  #tooLongAt = 0
  #isDropping = false
  #dropAt = 0
  #drops = 0
  #dropsBefore = 0

  constructor({ targetMs = DEFAULT_QUEUE.targetMs, intervalMs = DEFAULT_QUEUE.intervalMs }: Queue) {
    this.#targetMs = targetMs
    this.#intervalMs = intervalMs
  }

  isDropped(waitedMs: number, length: number, now: number): boolean {
    const isTooLong = this.#isTooLong(waitedMs, length, now)
    if (!isTooLong) {
      this.#isDropping = false
      return false
    }
    if (!this.#isDropping) {
      this.#isDropping = true
      // Soon after the last time it begins with the rate that was needed then.
      const isSoon = now - this.#dropAt < 16 * this.#intervalMs
      this.#drops = isSoon ? Math.max(1, this.#drops - this.#dropsBefore) : 1
      this.#dropsBefore = this.#drops
      this.#dropAt = this.#afterDrop(now)
      return true
    }
    if (now < this.#dropAt) return false
    this.#drops++
    this.#dropAt = this.#afterDrop(this.#dropAt)
    return true
  }

  #isTooLong(waitedMs: number, length: number, now: number): boolean {
    if (waitedMs < this.#targetMs || length <= 1) {
      this.#tooLongAt = 0
      return false
    }
    if (this.#tooLongAt === 0) this.#tooLongAt = now + this.#intervalMs
    return now >= this.#tooLongAt
  }

  #afterDrop(at: number): number {
    return at + this.#intervalMs / Math.sqrt(this.#drops)
  }
}
