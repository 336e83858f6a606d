import { Client } from 'undici'
import type { Opening } from './connector.ts'
import type { Exchange } from './exchange.ts'

/** Whose connection it is. */
export interface ConnectionOwner {
  /** It is open, and nothing is on it. */
  onRest(connection: Connection): void
  /** Its socket is closed, and no other will be opened. */
  onGone(connection: Connection): void
}

/**
 * One connection to an origin, with one request on it at a time.
 *
 *   new ──► busy ──► settling ──► resting ──► busy …
 *             └──────────┴───────────┴──────► gone
 *
 *  1. It is given a request when it is new or rests, and so one that rests can be closed: nothing is on its way there.
 *  2. A request that was not written yet outlives its socket: undici opens another. So a connection whose socket closes is
 *     gone only if it has no request.
 *  3. It settles until undici has read to the end of the answer, and has seen that the server keeps the connection.
 */
export class Connection {
  /** The how-manieth rest it is, of all connections. */
  restNumber = 0
  readonly #client: Client
  readonly #opening: Opening
  #hasRequest = false
  #isGone = false

  constructor(origin: string, opening: Opening, owner: ConnectionOwner) {
    this.#opening = opening
    this.#client = new Client(origin, { ...CLIENT, connect: opening.connect })
    const onClosed = (): void => {
      if (this.#hasRequest || this.#isGone) return
      this.#isGone = true
      owner.onGone(this)
    }
    this.#client.on('disconnect', onClosed)
    this.#client.on('connectionError', onClosed)
    this.#client.on('drain', () => void (this.#hasRequest || this.#isGone || owner.onRest(this)))
  }

  send(exchange: Exchange): void {
    this.#hasRequest = true
    this.#client.dispatch(exchange.request, exchange)
  }

  /** undici has let go of the request. */
  settle(): void {
    this.#hasRequest = false
  }

  /** Without a socket yet. */
  get isOpening(): boolean {
    return this.#opening.isUnderWay
  }

  /** Its owner is not told. What is on it fails for this reason. */
  close(reason: Error): Promise<void> {
    this.#isGone = true
    const closed = this.#client.destroy(reason)
    this.#opening.giveUp()
    return closed
  }
}

/** Servers hang up on idle connections, most after five seconds or more; a request that crosses with it may be lost. */
const IDLE_MS = 4_000

/** For a server that says how long it waits, up to this: an idle connection is soon made again. */
const LONGEST_IDLE_MS = 30_000

/** As much as Node's own server takes in. */
const MOST_HEADER_BYTES = 16_384

const CLIENT: Client.Options = {
  pipelining: 1,
  allowH2: false,
  maxHeaderSize: MOST_HEADER_BYTES,
  // The attempt's own time-out bounds all of it.
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: IDLE_MS,
  keepAliveMaxTimeout: LONGEST_IDLE_MS,
}
