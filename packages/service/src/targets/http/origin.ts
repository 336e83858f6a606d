import { Connection, type ConnectionOwner } from './connection.ts'
import { createConnector, type Opening } from './connector.ts'
import type { Exchange, Line } from './exchange.ts'
import { TargetError } from './failures.ts'
import type { Guard } from '../guard.ts'

export interface OriginOptions {
  readonly name: string
  readonly opening: () => Opening
  /** At the most, at once. */
  readonly connections: number
  readonly room: SocketRoom
  /** It has no connection any more, and nobody waits for one. */
  readonly onUnused: () => void
}

/** The connections to one origin, and a line for whoever finds none free. */
export class Origin implements Line, ConnectionOwner, Resters {
  readonly #options: OriginOptions
  readonly #connections = new Set<Connection>()
  /** The longest rest first. */
  readonly #resting: Connection[] = []
  readonly #waiting = new Set<Exchange>()

  constructor(options: OriginOptions) {
    this.#options = options
  }

  send(exchange: Exchange): void {
    const connection = this.#free()
    if (connection === undefined) this.#waiting.add(exchange)
    else this.#sendOn(connection, exchange)
  }

  withdraw(exchange: Exchange): void {
    if (this.#waiting.delete(exchange)) return
    const { connection } = exchange
    // So there are no more connections under way, and no more names asked for, than there are attempts.
    if (connection?.isOpening) this.#close(connection)
  }

  leave(exchange: Exchange): void {
    exchange.connection?.settle()
    exchange.connection = undefined
  }

  onRest(connection: Connection): void {
    this.#options.room.rest(restNumber => {
      connection.restNumber = restNumber
      this.#resting.push(connection)
      this.#fill()
    })
  }

  onGone(connection: Connection): void {
    this.#forget(connection)
    this.#fill()
    if (this.#connections.size === 0) this.#options.onUnused()
  }

  get resting(): number {
    return this.#resting.length
  }

  get longestRest(): number {
    return this.#resting[0]!.restNumber
  }

  closeLongestRest(): void {
    this.#close(this.#resting[0]!)
  }

  async close(): Promise<void> {
    const closed = new TargetError('aborted', 'the target is closed')
    for (const exchange of this.#waiting) exchange.giveUp(closed)
    await Promise.all(Array.from(this.#connections, connection => connection.close(closed)))
  }

  /** The one that was used last: so those that are not needed rest long enough to be closed. */
  #free(): Connection | undefined {
    const { connections, name, opening, room } = this.#options
    const rested = this.#resting.pop()
    if (rested !== undefined || this.#connections.size >= connections) return rested
    const connection = new Connection(name, opening(), this)
    this.#connections.add(connection)
    room.take()
    return connection
  }

  #sendOn(connection: Connection, exchange: Exchange): void {
    exchange.connection = connection
    connection.send(exchange)
  }

  #fill(): void {
    for (const exchange of this.#waiting) {
      const connection = this.#free()
      if (connection === undefined) break
      this.#waiting.delete(exchange)
      this.#sendOn(connection, exchange)
    }
  }

  #close(connection: Connection): void {
    void connection.close(new TargetError('aborted', 'nobody needs this connection'))
    this.onGone(connection)
  }

  #forget(connection: Connection): void {
    this.#connections.delete(connection)
    const at = this.#resting.indexOf(connection)
    if (at >= 0) this.#resting.splice(at, 1)
    this.#options.room.leave()
  }
}

export interface OriginsOptions {
  readonly guard: Guard
  readonly connectTimeoutMs: number
  readonly ca?: readonly string[]
  readonly mostAnswerBytes: number
  /** Connections to one origin. */
  readonly connections: number
  /** Sockets to all of them; beyond it those that rest are closed. */
  readonly sockets: number
}

/** Connections by origin. An origin without any is forgotten; so what is kept is what was used a moment ago. */
export class Origins {
  readonly #options: OriginsOptions
  readonly #origins = new Map<string, Origin>()
  readonly #room: SocketRoom
  #isClosed = false

  constructor(options: OriginsOptions) {
    this.#options = options
    this.#room = new SocketRoom(options.sockets, () => this.#origins.values())
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  of({ origin: name, port }: { readonly origin: string; readonly port: number }): Origin {
    const known = this.#origins.get(name)
    if (known !== undefined) return known
    const origin = new Origin({
      name,
      opening: createConnector({ ...this.#options, port }),
      connections: this.#options.connections,
      room: this.#room,
      onUnused: () => this.#origins.delete(name),
    })
    this.#origins.set(name, origin)
    return origin
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const origins = [...this.#origins.values()]
    this.#origins.clear()
    await Promise.all(origins.map(origin => origin.close()))
  }
}

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
