import type { IncomingMessage, ServerResponse } from 'node:http'
import '../context/index.ts'
import type { BulkheadCounts } from '../bulkhead/decide.ts'
import { refuseProblems } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import { systemRandom, type Random } from '../ports/random.ts'
import { systemClock } from '../ports/system-clock.ts'
import type { HeaderSource } from '../retry/retry-after.ts'
import { isRepeatedCall, refusalOf, timeForRequestMs, type RefusedRequest } from './decide.ts'
import { fastifyPlugin, type FastifyPlugin } from './fastify.ts'
import { honoMiddleware, type HonoMiddleware } from './hono.ts'
import { handleNode, type NodeMiddleware } from './node.ts'
import { checkAdmission, withAdmissionDefaults, type AdmissionInput, type AdmissionPolicy } from './policy.ts'
import { Room } from './room.ts'
import { Visit } from './visit.ts'

export interface AdmissionOptions extends AdmissionInput {
  /** Requests that always enter and take no slot: health checks, streams that last. */
  readonly exempt?: (request: { readonly url?: string | undefined; readonly headers: HeaderSource }) => boolean
  /** Time and chance, for tests. */
  readonly ports?: { readonly clock?: Clock; readonly random?: Random }
}

/** Stands in front of handlers; one may stand in front of several servers. */
export interface Admission extends BulkheadCounts {
  /** How many may be inside at the same time now. */
  readonly limit: number
  /** For express, connect and whatever calls `(request, response, next)`. */
  readonly express: NodeMiddleware
  /** For fastify: `fastify.register(admission.fastify)`. */
  readonly fastify: FastifyPlugin
  /** For hono: `app.use(admission.hono)`. */
  readonly hono: HonoMiddleware
  /** For Node's own `createServer(admission.http(listener))`. */
  http<Request extends IncomingMessage, Response extends ServerResponse>(
    listener: (request: Request, response: Response) => void,
  ): (request: Request, response: Response) => void
}

/** Reads the deadline of each request, and lets in what is still waited for and what there is room for. */
export function createAdmission(options: AdmissionOptions = {}): Admission {
  const door = new Door(options)
  const express: NodeMiddleware = (request, response, next) => handleNode(door, request, response, next)
  return {
    get limit(): number {
      return door.room?.limit ?? Infinity
    },
    get running(): number {
      return door.room?.counts.running ?? 0
    },
    get queued(): number {
      return door.room?.counts.queued ?? 0
    },
    express,
    fastify: fastifyPlugin(door),
    hono: honoMiddleware(door),
    http: listener => (request, response) => express(request, response, () => listener(request, response)),
  }
}

/** What the ways into the different frameworks have in common. */
export class Door {
  readonly room: Room | undefined
  readonly #policy: AdmissionPolicy
  readonly #exempt: AdmissionOptions['exempt']
  readonly #clock: Clock
  readonly #random: Random

  constructor({ exempt, ports, ...input }: AdmissionOptions) {
    const problems = checkAdmission(input)
    if (exempt !== undefined && typeof exempt !== 'function')
      problems.push({ at: 'exempt', is: exempt, say: 'must be a function of the request' })
    refuseProblems(problems)
    this.#policy = withAdmissionDefaults(input)
    this.#exempt = exempt
    this.#clock = ports?.clock ?? systemClock
    this.#random = ports?.random ?? systemRandom
    const { bulkhead, limiter } = this.#policy
    this.room = bulkhead && new Room(bulkhead, limiter, this.#clock, this.#random)
  }

  /** Calls one of the two ways, now or later. The visit must be ended by whoever asks. */
  arrive(request: Arriving, enter: () => void, refuse: (refused: RefusedRequest) => void): Visit {
    const { url, headers, key } = request
    const isExempt = this.#exempt?.({ url, headers }) === true
    return new Visit(key, {
      room: isExempt ? undefined : this.room,
      clock: this.#clock,
      timeMs: isExempt ? undefined : timeForRequestMs(this.#policy, headers, this.#clock.now()),
      isRepeated: isRepeatedCall(headers),
      ways: { enter, refuse: code => refuse(refusalOf(code, this.#policy, this.#random())) },
    })
  }
}

export interface Arriving {
  readonly url: string | undefined
  readonly headers: HeaderSource
  /** The object that handlers have of the request. */
  readonly key: object
}
