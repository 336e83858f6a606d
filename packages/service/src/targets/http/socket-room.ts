/** Connections to one origin, as far as others need their room. */
export interface Resters {
  /** How many connections rest. */
  readonly resting: number
  /** The rest that has lasted longest; only asked for where one does. */
  readonly longestRest: number
  /** Closes that one. */
  closeLongestRest(): void
}

/**
 * How many sockets there are, to all origins together, with requests and without. Whoever has a request gets one. If there
 * are too many then, those that rest are closed: of the origin that has most of them, so that whoever calls many times at
 * once makes room before all others; and the one that has rested longest.
 *
 * All origins are looked at for that. They are no more than sockets, and to open one costs more.
 */
export class SocketRoom {
  readonly #most: number
  readonly #origins: () => Iterable<Resters>
  #taken = 0
  #rests = 0

  constructor(most: number, origins: () => Iterable<Resters>) {
    this.#most = most
    this.#origins = origins
  }

  /** A socket is about to be opened. */
  take(): void {
    this.#taken++
    this.#tidy()
  }

  /** One is closed. */
  leave(): void {
    this.#taken--
  }

  /** One rests from now on; `file` puts it where it is found, with the number of its rest. */
  rest(file: (restNumber: number) => void): void {
    file(++this.#rests)
    this.#tidy()
  }

  #tidy(): void {
    if (this.#taken > this.#most) mostAtRest(this.#origins())?.closeLongestRest()
  }
}

function mostAtRest(origins: Iterable<Resters>): Resters | undefined {
  let found: Resters | undefined
  for (const origin of origins)
    if (origin.resting > 0 && (found === undefined || isBefore(origin, found))) found = origin
  return found
}

function isBefore(one: Resters, other: Resters): boolean {
  if (one.resting !== other.resting) return one.resting > other.resting
  return one.longestRest < other.longestRest
}
