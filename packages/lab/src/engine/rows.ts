/**
 * Many small records as rows of one array of numbers: nothing to collect, and all fields of a record in two lines of the
 * cache. A row that is released is the next to be handed out.
 */
export class Rows {
  data: Float64Array
  /** Rows in use. */
  used = 0
  #capacity: number
  #fresh = 0
  #firstFree = -1

  constructor(capacity = 256) {
    this.#capacity = capacity
    this.data = new Float64Array(capacity * WIDTH)
  }

  /** Its fields hold whatever they held, but for `BIRTH`: whoever takes a row writes all it reads. */
  take(): number {
    this.used++
    const free = this.#firstFree
    if (free >= 0) {
      this.#firstFree = this.data[free * WIDTH]!
      return free
    }
    if (this.#fresh === this.#capacity) this.#grow()
    return this.#fresh++
  }

  release(row: number): void {
    this.used--
    this.data[row * WIDTH] = this.#firstFree
    // Whoever remembers the row can tell that it is another's now.
    this.data[row * WIDTH + BIRTH]!++
    this.#firstFree = row
  }

  get rowsEver(): number {
    return this.#fresh
  }

  #grow(): void {
    this.#capacity *= 2
    const data = new Float64Array(this.#capacity * WIDTH)
    data.set(this.data)
    this.data = data
  }
}

/** Numbers in a row. */
export const WIDTH = 16
/** The field that says how often the row has been handed out. */
export const BIRTH = 15

/** What an operation remembers. */
export const LINE = 0
export const PROCESS = 1
/** The client that goes on when it ends; −1: none. */
export const LOOP = 2
/** The call that waits for it, one tier up, and that row's birth; −1: none. */
export const PARENT = 3
export const PARENT_BIRTH = 4
/** Attempts begun. */
export const ATTEMPT = 5
export const STARTED_AT = 6
export const DEADLINE_AT = 7
/** The attempt under way ends then, answer or not. */
export const ENDS_AT = 8
/** When to ask for company; infinity: not again. */
export const HEDGE_AT = 9
/** When the token of the rate limit comes; NaN: none is held. */
export const TOKEN_AT = 10
/** Its latest call under way, from which the others follow; −1: none. */
export const CALL = 11
/** The latest outcome of an attempt, by its number; a success before the first. */
export const FAULT = 12
/** What it holds for its next attempt: see `process.ts`. */
export const PLACES = 13
/** Copies made besides the attempt's first call. */
export const COPIES = 14

/** What a call remembers. */
export const OPERATION = 0
export const STATION = 1
export const PHASE = 2
/** What is known of it: see `call-marks.ts`. */
export const MARKS = 3
export const SENT_AT = 4
export const ARRIVED_AT = 5
/** When its caller's attempt ends: work after that is in vain. */
export const EXPIRES_AT = 6
/** By its number. */
export const OUTCOME = 7
export const NEXT = 8
export const PREVIOUS = 9
/** The next copy of the same attempt. */
export const SIBLING = 10
/** Calls downstream that have not ended; or the version that was read. */
export const PENDING = 11
/** Calls of its process under way when it began, for the limiter. */
export const IN_FLIGHT = 12
export const SERVED_FROM = 13
/** The line on which it was sent. */
export const ROUTE = 14
/** Downstream: the calls that have ended. In the place of `NEXT`: whoever is there does not wait in a room any more. */
export const STEP = 8
