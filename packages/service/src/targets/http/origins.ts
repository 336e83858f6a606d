import type { Guard } from '../guard.ts'
import { createConnector } from './connector.ts'
import { Origin } from './origin.ts'
import type { WireRequest } from './request.ts'
import { SocketRoom } from './socket-room.ts'

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

  of({ origin: name, port }: WireRequest): Origin {
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
