import { systemClock, type Clock } from '@secondwind/resilience'
import { readFileSync } from 'node:fs'
import type { AllowRule } from '../allow-target.ts'
import { createGuard, placeOf, type Lookup } from '../guard.ts'
import { createSystemLookup } from '../names/system-lookup.ts'
import type { Delivery, Sending, Target } from '../target.ts'
import { Exchange, type ResponseLimits } from './exchange.ts'
import { failureOf, TargetError } from './failures.ts'
import { Origins } from './origin.ts'
import type { Dispatcher } from 'undici'
import { CONNECTION_HEADERS } from '../../connection-headers.ts'

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

/** A request as undici takes it, and where it goes. */
export interface WireRequest {
  readonly origin: string
  readonly port: number
  readonly options: Dispatcher.DispatchOptions
}

/** `refused` says why nothing can be sent. */
export type WireRead =
  | { readonly wire: WireRequest; readonly refused?: undefined }
  | { readonly wire?: undefined; readonly refused: string }

/**
 * What is sent: the task's own headers, those of the attempt before them, and a name if the task gives none.
 *
 * All of it is checked here: undici would refuse what it cannot write, but counts the connection that it had chosen for
 * it as busy from then on.
 */
function readRequest({ request, headers: own }: Delivery, userAgent: string): WireRead {
  const { targetUrl, method, body } = request
  const place = placeOfUrl(targetUrl)
  if (place.refused !== undefined) return { refused: place.refused }
  // A tunnel is nothing that an attempt could end.
  if (!TOKEN.test(method) || method === 'CONNECT') return { refused: 'the method is none that is sent' }

  const headers: string[] = []
  let isNamed = false
  for (const name in request.headers) {
    const smallName = name.toLowerCase()
    if (Object.hasOwn(own, smallName)) continue
    const refused = refusalOf(name, smallName, request.headers[name]!)
    if (refused !== undefined) return { refused }
    headers.push(name, request.headers[name]!)
    isNamed ||= smallName === 'user-agent'
  }
  for (const name in own) {
    const refused = refusalOf(name, name, own[name]!)
    if (refused !== undefined) return { refused }
    headers.push(name, own[name]!)
    isNamed ||= name === 'user-agent'
  }
  if (!isNamed) headers.push('user-agent', userAgent)
  const { origin, port, path } = place
  return { wire: { origin, port, options: { path, method, headers, body } } }
}

type Place =
  | { readonly origin: string; readonly port: number; readonly path: string; readonly refused?: undefined }
  | { readonly refused: string }

/** A destination's tasks mostly go to few URLs: what was read of one is kept, for so many of usual length. */
const MOST_KNOWN = 1_000
const LONGEST_KNOWN = 256
const known = new Map<string, Place>()

function placeOfUrl(targetUrl: string): Place {
  const found = known.get(targetUrl)
  if (found !== undefined) return found
  const place = readPlace(targetUrl)
  if (known.size >= MOST_KNOWN) known.clear()
  if (targetUrl.length <= LONGEST_KNOWN) known.set(targetUrl, place)
  return place
}

function readPlace(targetUrl: string): Place {
  const url = URL.parse(targetUrl)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:'))
    return { refused: 'the target is no http or https URL' }
  if (url.username !== '' || url.password !== '')
    return { refused: 'the target has a user or a password in its URL; send them as a header' }
  const { pathname, search, origin } = url
  return { origin, port: placeOf(url).port, path: pathname + search }
}

/** RFC 9110 §5.6.2. */
const TOKEN = /^[\w!#$%&'*+.^`|~-]+$/

/** RFC 9110 §5.5: what would end the line, or is no byte, is no part of a value. */
const BEYOND_VALUE = /[^\t\u0020-\u007E\u0080-\u00FF]/

function refusalOf(name: string, smallName: string, value: string): string | undefined {
  if (!TOKEN.test(name)) return 'a header has a name that is none'
  if (BEYOND_VALUE.test(value)) return `the header ${name} has a value that cannot be sent`
  if (CONNECTION_HEADERS.has(smallName)) return `the header ${name} belongs to the connection`
  return undefined
}
