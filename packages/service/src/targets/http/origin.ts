import { Connection, type ConnectionOwner } from './connection.ts'
import type { Opening } from './connector.ts'
import type { Exchange, Line } from './exchange.ts'
import { TargetError } from './failures.ts'
import type { Resters, SocketRoom } from './socket-room.ts'

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
