import { systemClock, type Clock } from '@secondwind/resilience'
import { readFileSync } from 'node:fs'
import type { AllowRule } from '../allow-target.ts'
import { createGuard, type Lookup } from '../guard.ts'
import { createSystemLookup } from '../names/system-lookup.ts'
import type { Delivery, Sending, Target } from '../target.ts'
import { Exchange, type ResponseLimits } from './exchange.ts'
import { failureOf, TargetError } from './failures.ts'
import { Origins } from './origins.ts'
import { readRequest } from './request.ts'

export interface HttpTargetOptions {
  /** What may be called though it is inside; nothing unless told. */
  readonly rules?: readonly AllowRule[]
  /** Connections to one origin; whoever finds none free waits, and its time runs. */
  readonly connections?: number
  /** Sockets to all origins, busy and idle; beyond it idle ones are closed. */
  readonly sockets?: number
  readonly connectTimeoutMs?: number
  /** Of a response's body so much is kept. */
  readonly captureBytes?: number
  /** Of a response's body so much is read; then the connection is closed. */
  readonly readBytes?: number
  /** Certificates that are trusted besides those of Node, as PEM. */
  readonly ca?: readonly string[]
  /** As this machine knows names, unless told. */
  readonly lookup?: Lookup
  readonly clock?: Clock
}

const DEFAULT_HTTP_TARGET = {
  connections: 100, // as many as a service sends at once, unless it is told to send more
  sockets: 200, // as many again that can be used once more
  connectTimeoutMs: 3_000, // who has not answered by then is better asked again
  captureBytes: 16_384, // more than any error says of itself
  readBytes: 1_048_576, // to read a megabyte takes about as long as to open a connection
} as const

/** Besides twice the body: for headers, and for the sizes of chunks, which are as long as the chunks where those are short. */
const AROUND_BYTES = 65_536

/** Sends requests over HTTP/1.1, to addresses that the rules allow. */
export function createHttpTarget(options: HttpTargetOptions = {}): Target {
  const { rules = [], ca, clock = systemClock, lookup = createSystemLookup({ clock }), ...given } = options
  const { connections, sockets, connectTimeoutMs, ...limits } = { ...DEFAULT_HTTP_TARGET, ...given }
  const guard = createGuard({ rules, lookup })
  const mostAnswerBytes = 2 * limits.readBytes + AROUND_BYTES
  const trust = { ...(ca !== undefined && { ca }) }
  const origins = new Origins({ guard, connections, sockets, connectTimeoutMs, mostAnswerBytes, ...trust })
  return new HttpTarget(origins, clock, limits)
}

class HttpTarget implements Target {
  readonly #origins: Origins
  readonly #clock: Clock
  readonly #limits: ResponseLimits
  readonly #userAgent = `secondwind/${version()}`

  constructor(origins: Origins, clock: Clock, limits: ResponseLimits) {
    this.#origins = origins
    this.#clock = clock
    this.#limits = limits
  }

  send(delivery: Delivery): Sending {
    if (this.#origins.isClosed) return notSent(new TargetError('aborted', 'the target is closed'))
    const { wire, refused } = readRequest(delivery, this.#userAgent)
    if (refused !== undefined) return notSent(new TargetError('target-invalid', refused))
    const line = this.#origins.of(wire)
    const exchange = new Exchange({ delivery, request: wire.options, clock: this.#clock, line, limits: this.#limits })
    line.send(exchange)
    return exchange
  }

  close(): Promise<void> {
    return this.#origins.close()
  }
}

function notSent(because: TargetError): Sending {
  return { answer: Promise.resolve(failureOf(because, false)), cut() {} }
}

function version(): string {
  const manifest = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')
  return (JSON.parse(manifest) as { version: string }).version
}
