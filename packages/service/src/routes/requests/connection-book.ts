import type { Socket } from 'node:net'
import { EVERY_TENANT } from '../../task/lane.ts'
import { Parts } from './parts.ts'

interface Connection {
  /** Whose good key was shown on it last: a tenant's, or an operator's; nobody's so far. */
  holder: string
  underWay: number
  hasAsked: boolean
}

/** No tenant has this name. */
const NOBODY = ''

/** The rest is for operators, and for whoever has yet to show a key. */
const PART_OF_TENANTS = 0.9

/** Whose connections there are, and which of them are idle. */
export class ConnectionBook {
  readonly #connections = new Map<Socket, Connection>()
  /** By holder, each the longest idle first. */
  readonly #idle = new Map<string, Set<Socket>>()
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
    this.#connections.delete(socket)
    if (isTenant(connection.holder)) this.#ofTenants.giveBack(connection.holder, 1)
  }

  begin(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection === undefined) return
    this.#stir(socket, connection.holder)
    connection.underWay++
    connection.hasAsked = true
  }

  end(socket: Socket): void {
    const connection = this.#connections.get(socket)
    if (connection !== undefined && --connection.underWay === 0) this.#rest(socket, connection.holder)
  }

  hasRoomFor(holder: string): boolean {
    return !isTenant(holder) || this.#ofTenants.hasRoom(holder, 1)
  }

  /** To whoever has just shown its key on it. */
  give(socket: Socket, holder: string): void {
    const connection = this.#connections.get(socket)!
    if (isTenant(connection.holder)) this.#ofTenants.giveBack(connection.holder, 1)
    if (isTenant(holder)) this.#ofTenants.take(holder, 1)
    connection.holder = holder
  }

  longestIdleOf(holder: string): Socket | undefined {
    const [longest] = this.#idle.get(holder) ?? []
    return longest
  }

  /** Nobody's first, then of whoever has most that are idle. */
  longestIdle(): Socket | undefined {
    if (this.#idle.has(NOBODY)) return this.longestIdleOf(NOBODY)
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
    const idle = this.#idle.get(holder)
    idle?.delete(socket)
    if (idle?.size === 0) this.#idle.delete(holder)
  }
}

function isTenant(holder: string): boolean {
  return holder !== NOBODY && holder !== EVERY_TENANT
}
