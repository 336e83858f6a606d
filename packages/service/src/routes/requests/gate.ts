/**
 * The admission gate: how many requests are under way, and how many bytes of their bodies and answers. Both are shared by
 * tenants: one takes at most nine times what it leaves free, so that the next one finds room. Operators count as one more
 * tenant.
 *
 *  1. A request enters when its key is known, before a byte of its body is read. It leaves when its answer is ready and has
 *     been taken. If its caller goes before, it stays until the answer is ready: the work for it goes on.
 *  2. It counts the bytes that its head announces. Without a length it counts as many as its operation takes.
 *  3. A list counts at least 1 MiB. A store reads one list after the other: this bounds how many wait for it.
 *  4. A larger answer counts in full as soon as it is ready. If there is no room for it, a request that changed nothing is
 *     refused; any other is answered.
 *  5. Operations that need no key pass, so `/healthz` and `/readyz` answer whatever tenants do. `/events` passes, too: its
 *     listeners have slots of their own.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { comeBackAfter, Refusal } from '../answers/refusal.ts'
import type { ApiContext, ApiLimits } from '../context.ts'
import { accessOf, isList } from '../schemas/operation.ts'
import { addRouteHooks } from './route-hooks.ts'
import { whenTaken } from './when-taken.ts'
import type { Caller } from '../../access/caller.ts'
import { EVERY_TENANT } from '../../task/lane.ts'
import { shares } from '@secondwind/resilience/rules'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The requests of this route have slots of another kind. */
    readonly passesGate?: true
    /** A request of this route counts at least so many bytes. */
    readonly leastBytes?: number
  }
  interface FastifyRequest {
    /** Null for a request that did not enter. */
    entry: Entry | null
  }
}

const LIST_BYTES = 1_048_576
/** Less is not counted: a thousand requests of this size are a quarter of all bytes. */
const SMALL_BYTES = 65_536
const FULL_WAIT_MS = 1_000

interface Shared {
  readonly requests: Parts
  readonly bytes: Parts
}

export class Gate {
  readonly #shared: Shared

  constructor({ requests, bytesUnderWay }: Pick<ApiLimits, 'requests' | 'bytesUnderWay'>) {
    this.#shared = { requests: new Parts(requests), bytes: new Parts(bytesUnderWay) }
  }

  /** Undefined when there is no room. */
  enter(holder: string, bytes: number): Entry | undefined {
    const entry = new Entry(holder, this.#shared)
    if (!this.#shared.requests.hasRoom(holder, 1) || !entry.hasRoomFor(bytes)) return undefined
    this.#shared.requests.take(holder, 1)
    entry.count(bytes)
    return entry
  }
}

/** What one request takes of the gate. */
export class Entry {
  readonly #holder: string
  readonly #shared: Shared
  #bytes = 0
  #isReady = false
  #isTaken = false

  constructor(holder: string, shared: Shared) {
    this.#holder = holder
    this.#shared = shared
  }

  /** Whether it may be so large. */
  hasRoomFor(bytes: number): boolean {
    const more = this.#moreFor(bytes)
    return more === 0 || this.#shared.bytes.hasRoom(this.#holder, more)
  }

  /** It is so large from now on. */
  count(bytes: number): void {
    const more = this.#moreFor(bytes)
    if (more === 0) return
    this.#shared.bytes.take(this.#holder, more)
    this.#bytes += more
  }

  /** Its answer is ready. */
  ready(): void {
    if (this.#isReady) return
    this.#isReady = true
    if (this.#isTaken) this.#leave()
  }

  /** Its answer has been taken, or its caller has gone. To be called once. */
  taken(): void {
    this.#isTaken = true
    if (this.#isReady) this.#leave()
  }

  #leave(): void {
    this.#shared.requests.giveBack(this.#holder, 1)
    if (this.#bytes > 0) this.#shared.bytes.giveBack(this.#holder, this.#bytes)
  }

  #moreFor(bytes: number): number {
    return bytes < SMALL_BYTES ? 0 : Math.max(0, bytes - this.#bytes)
  }
}

/** Returns the function that puts the routes of a scope behind the gate: to be called after the guards of that scope. */
export function openGate(
  api: FastifyInstance,
  { limits, random }: Pick<ApiContext, 'limits' | 'random'>,
): (guarded: FastifyInstance) => void {
  const gate = new Gate(limits)
  api.decorateRequest('entry', null)
  api.addHook('onSend', (request, reply, payload, done) => {
    const { entry, method } = request
    if (entry === null) return done(null, payload)
    const bytes = typeof payload === 'string' ? Buffer.byteLength(payload) : 0
    const mustAnswer = reply.statusCode >= 400 || (method !== 'GET' && method !== 'HEAD')
    if (!mustAnswer && !entry.hasRoomFor(bytes)) return done(tooMany(random()))
    entry.count(bytes)
    entry.ready()
    done(null, payload)
  })
  return guarded =>
    addRouteHooks(guarded, ({ schema, config }) => {
      if (accessOf(schema).scope === 'none' || config?.passesGate) return undefined
      const leastBytes = config?.leastBytes ?? (isList(schema) ? LIST_BYTES : 0)
      return (request, reply, done) => {
        const bytes = Math.max(leastBytes, announcedBytes(request))
        const entry = gate.enter(holderOf(request.caller), bytes)
        if (entry === undefined) return done(tooMany(random()))
        request.entry = entry
        whenTaken(reply, () => entry.taken())
        done()
      }
    })
}

function announcedBytes({ headers, routeOptions: { bodyLimit } }: FastifyRequest): number {
  const bytes = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : bodyLimit
  // The operation refuses more than its limit before it reads any of it.
  return bytes > bodyLimit ? 0 : bytes
}

function tooMany(roll: number): Refusal {
  const headers = comeBackAfter(FULL_WAIT_MS, roll)
  return new Refusal('too-many-requests', {
    detail: `Too many requests of this tenant, or of all together, are under way; try again in ${headers['retry-after']} s.`,
    headers,
  })
}

/** Whoever showed no key, or none that is good. No tenant has this name. */
export const NOBODY = ''

/**
 * In whose part it counts what somebody asks for: operators have one together. What the framework refuses by itself, an
 * address that it cannot read for example, was asked for before anybody could say by whom.
 */
export function holderOf(caller: Pick<Caller, 'tenant' | 'isOperator'> | null | undefined): string {
  if (!caller) return NOBODY
  return caller.isOperator ? EVERY_TENANT : caller.tenant
}

export function isTenant(holder: string): boolean {
  return holder !== NOBODY && holder !== EVERY_TENANT
}

/** How much each holder has of something shared. A holder takes no more than nine times the part that is then free. */
class Parts {
  readonly #all: number
  readonly #parts = new Map<string, number>()
  #taken = 0

  constructor(all: number) {
    this.#all = all
  }

  of(holder: string): number {
    return this.#parts.get(holder) ?? 0
  }

  hasRoom(holder: string, count: number): boolean {
    return shares.mostFor({ free: this.#all - this.#taken, ofTenant: this.of(holder), ofLane: 0 }) >= count
  }

  take(holder: string, count: number): void {
    this.#taken += count
    this.#parts.set(holder, this.of(holder) + count)
  }

  giveBack(holder: string, count: number): void {
    const own = this.of(holder) - count
    this.#taken -= count
    if (own === 0) this.#parts.delete(holder)
    else this.#parts.set(holder, own)
  }
}
