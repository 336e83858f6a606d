import { Pool } from 'undici'
import type { Guard } from '../guard.ts'
import { createConnector, type Connector } from './connector.ts'
import type { Exchange, Line } from './exchange.ts'
import { TargetError } from './failures.ts'
import type { WireRequest } from './request.ts'

export interface OriginsOptions {
  readonly guard: Guard
  readonly connectTimeoutMs: number
  readonly ca?: readonly string[]
  readonly mostAnswerBytes: number
  /** Connections to one origin. */
  readonly connections: number
  /** Origins whose connections are kept; beyond it those that are idle are closed. */
  readonly maxOrigins: number
}

/** Connections by origin. An origin without any is forgotten; so what is kept is what was used a moment ago. */
export class Origins {
  readonly #options: OriginsOptions
  readonly #origins = new Map<string, Origin>()
  #isClosed = false

  constructor(options: OriginsOptions) {
    this.#options = options
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  of({ origin: name, port }: WireRequest): Origin {
    const known = this.#origins.get(name)
    if (known !== undefined) return known
    if (this.#origins.size >= this.#options.maxOrigins) this.#closeIdle()
    const origin = new Origin(name, port, this.#options, () => this.#forget(name, origin))
    this.#origins.set(name, origin)
    return origin
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const origins = [...this.#origins.values()]
    this.#origins.clear()
    await Promise.all(origins.map(origin => origin.close()))
  }

  /** The one that was opened first. If none is idle there is one more for each request under way, and no more than that. */
  #closeIdle(): void {
    for (const [name, origin] of this.#origins) if (origin.isIdle) return this.#forget(name, origin)
  }

  #forget(name: string, origin: Origin): void {
    if (this.#origins.get(name) === origin) this.#origins.delete(name)
    void origin.close()
  }
}

/**
 * The connections to one origin, and a line for whoever finds none free. The line is ours, for out of undici's own
 * nothing can be taken: an attempt whose time is over would stand there with its body until a connection came free.
 */
export class Origin implements Line {
  readonly #pool: Pool
  readonly #connector: Connector
  readonly #connections: number
  readonly #waiting = new Set<Exchange>()
  /** In undici's hands, where nothing can be taken out: they wait for a connection that they will not use. */
  readonly #withdrawn = new Set<Exchange>()
  /** In undici's hands, with a connection or about to have one. */
  #busy = 0

  constructor(name: string, port: number, options: OriginsOptions, onUnused: () => void) {
    const { connections } = options
    this.#connections = connections
    this.#connector = createConnector({ ...options, port })
    this.#pool = new Pool(name, {
      connections,
      connect: this.#connector.connect,
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: MOST_HEADER_BYTES,
      // The attempt's own time-out bounds all of it.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: LONGEST_IDLE_MS,
    })
    const tellIfUnused = (): void => {
      if (this.isIdle && this.#pool.stats.connected === 0) onUnused()
    }
    this.#pool.on('disconnect', tellIfUnused)
    this.#pool.on('connectionError', tellIfUnused)
  }

  get isIdle(): boolean {
    return this.#busy === 0 && this.#waiting.size === 0
  }

  send(exchange: Exchange): void {
    if (this.#busy < this.#connections) this.#dispatch(exchange)
    else this.#waiting.add(exchange)
  }

  withdraw(exchange: Exchange): void {
    if (this.#waiting.delete(exchange)) return
    this.#withdrawn.add(exchange)
    // So there are no more connections under way, and no more names asked for, than there are attempts.
    if (this.#pool.stats.pending === this.#withdrawn.size) this.#connector.giveUp()
  }

  leave(exchange: Exchange): void {
    this.#withdrawn.delete(exchange)
    this.#busy--
    this.#fill()
  }

  async close(): Promise<void> {
    const closed = new TargetError('aborted', 'the target is closed')
    for (const exchange of this.#waiting) exchange.giveUp(closed)
    this.#connector.giveUp()
    await this.#pool.destroy(closed)
  }

  #fill(): void {
    for (const exchange of this.#waiting) {
      if (this.#busy >= this.#connections) break
      this.#waiting.delete(exchange)
      this.#dispatch(exchange)
    }
  }

  #dispatch(exchange: Exchange): void {
    this.#busy++
    this.#pool.dispatch(exchange.request, exchange)
  }
}

/** Servers hang up on idle connections, most after five seconds or more; a request that crosses with it may be lost. */
const IDLE_MS = 4_000

/** For a server that says how long it waits, up to this: an idle connection is soon made again. */
const LONGEST_IDLE_MS = 30_000

/** As much as Node's own server takes in. */
const MOST_HEADER_BYTES = 16_384
