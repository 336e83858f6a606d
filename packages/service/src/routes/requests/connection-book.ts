import type { Socket } from 'node:net'
import { isTenant, NOBODY } from './holder.ts'
import { Parts } from './parts.ts'

interface Connection {
  /** Whose good key was shown on it last: a tenant's, or an operator's; nobody's so far. */
  holder: string
  underWay: number
  hasAsked: boolean
}

/** The rest is for operators, and for whoever has yet to show a key. */
const PART_OF_TENANTS = 0.9

/** Whose connections there are, and which of them are idle. */
export class ConnectionBook {
  readonly #connections = new Map<Socket, Connection>()
  /** By holder, each the longest idle first. */
  readonly #idle = new Map<string, Set<Socket>>()
  /** Nobody's that have a request under way, the longest first. */
  readonly #nobodysUnderWay = new Set<Socket>()
  readonly #ofTenants: Parts

  constructor(most: number) {
    this.#ofTenants = new Parts(Math.floor(most * PART_OF_TENANTS))
  }

  get size(): number {
    return this.#connections.size
  }

  of(socket: Socket): Readonly<Connection> | undefined {
    return this.#connections.get(socket)
  }

  add(socket: Socket): void {
    this.#connections.set(socket, { holder: NOBODY, underWay: 0, hasAsked: false })
    this.#rest(socket, NOBODY)
  }

  remove(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined) return
    this.#stir(socket, connection.holder)
    this.#forgetIfNone(connection.holder)
    this.#nobodysUnderWay.delete(socket)
    this.#connections.delete(socket)
    if (isTenant(connection.holder)) this.#ofTenants.giveBack(connection.holder, 1)
  }

  begin(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined) return
    this.#stir(socket, connection.holder)
    if (connection.holder === NOBODY) this.#nobodysUnderWay.add(socket)
    connection.underWay++
    connection.hasAsked = true
  }

  end(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined || --connection.underWay > 0) return
    this.#nobodysUnderWay.delete(socket)
    this.#rest(socket, connection.holder)
  }

  hasRoomFor(holder: string): boolean {
    return !isTenant(holder) || this.#ofTenants.hasRoom(holder, 1)
  }

  /** To whoever has just shown its key on it. */
  give(socket: Socket, holder: string): void {
    const connection = this.#connections.get(socket)!
    if (isTenant(connection.holder)) this.#ofTenants.giveBack(connection.holder, 1)
    if (isTenant(holder)) this.#ofTenants.take(holder, 1)
    this.#nobodysUnderWay.delete(socket)
    this.#forgetIfNone(connection.holder)
    connection.holder = holder
  }

  longestIdleOf(holder: string): Socket | undefined {
    const [longest] = this.#idle.get(holder) ?? []
    return longest
  }

  /** Nobody's first, the idle ones before the others; then an idle one of whoever has most of these. */
  mostSpared(): Socket | undefined {
    const [longestUnderWay] = this.#nobodysUnderWay
    const nobodys = this.longestIdleOf(NOBODY) ?? longestUnderWay
    if (nobodys !== undefined) return nobodys
    let [most, holderOfMost] = [0, NOBODY]
    for (const [holder, { size }] of this.#idle) if (size > most) [most, holderOfMost] = [size, holder]
    return this.longestIdleOf(holderOfMost)
  }

  #rest(socket: Socket, holder: string): void {
    const idle = this.#idle.get(holder)
    if (idle === undefined) this.#idle.set(holder, new Set([socket]))
    else idle.add(socket)
  }

  #stir(socket: Socket, holder: string): void {
    this.#idle.get(holder)?.delete(socket)
  }

  /** Where a connection leaves its holder, and not with every request: whoever has some has the next one idle in a moment. */
  #forgetIfNone(holder: string): void {
    if (this.#idle.get(holder)?.size === 0) this.#idle.delete(holder)
  }
}
