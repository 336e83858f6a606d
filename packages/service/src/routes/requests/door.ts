/**
 * Who may come in: what a request's head says is checked once, before a byte of its body is read. In this order: is it
 * meant for this service, whose key is it, may this caller do this.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { hasBody } from './body-headers.ts'
import { unasked } from './json-body.ts'
import { accessOf, type Access } from '../schemas/operation.ts'
import { addRouteHooks } from './route-hooks.ts'
import { LOCAL_CALLER, type Caller } from '../../access/caller.ts'
import type { KeyRing } from '../../access/key-ring.ts'
import type { IncomingMessage } from 'node:http'
import { isLoopback } from '../../loopback.ts'
import { randomBytes } from 'node:crypto'

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
}

const LONGEST_URL = 8_192

const CHUNKED = 'chunked'

type Guarded = Pick<ApiContext, 'allow' | 'keys'>

/**
 * Looks at every request of the routes that follow, before a byte of its body is read. The key is looked at here and
 * nowhere else: a request that was let in is served, even if its key is revoked meanwhile.
 */
export function guardRequests(api: FastifyInstance, context: Guarded): void {
  guard(api, context, () => undefined)
}

/** The same where answers are JSON, and bodies too. */
export function guardJsonRequests(api: FastifyInstance, context: Guarded): void {
  guard(api, context, unreadable)
}

type Look = (request: FastifyRequest) => Refusal | undefined

function guard(api: FastifyInstance, context: Guarded, lookFurther: Look): void {
  const { keys } = context
  addRouteHooks(api, ({ schema }) => {
    const access = accessOf(schema)
    return (request, reply, done) => {
      void reply.header('x-request-id', request.id)
      done(foreign(request, context) ?? authorise(request, access, keys) ?? lookFurther(request))
    }
  })
}

/**
 * Why a request is none of ours, whatever it asks for. A key is nothing that a browser sends by itself: where keys are
 * in force, a page of another origin can do no harm in somebody's name.
 */
export function foreign({ raw }: FastifyRequest, { allow, keys }: Guarded): Refusal | undefined {
  const { host = '', origin, 'transfer-encoding': coding = CHUNKED } = raw.headers
  if (raw.url!.length > LONGEST_URL)
    return new Refusal('url-too-long', { detail: `Its path and query have more than ${LONGEST_URL} characters.` })
  const repeated = repeatedHeaders(raw)
  if (repeated.length > 0)
    return new Refusal('bad-http', { detail: `It has more than one ${repeated.join(', and more than one ')}.` })
  // RFC 9112 §6.1: what is coded otherwise would be kept as it came, and read as something else by whoever stands in front.
  if (coding.toLowerCase() !== CHUNKED)
    return new Refusal('bad-http', { status: 501, detail: 'Of transfer codings only chunked is understood.' })
  if (keys.isInForce) return undefined
  if (!isOwnHost(host, allow.hosts))
    return new Refusal('foreign-host', {
      detail:
        'Without keys only loopback is served: ask localhost or 127.0.0.1, or make keys: from the first on every request needs one, and any name is taken.',
    })
  if (origin !== undefined && !isOwnOrigin(origin, host))
    return new Refusal('foreign-origin', {
      detail: 'A page of another origin must not use this service in the name of whoever looks at it.',
    })
  return undefined
}

function unreadable({ method, headers }: FastifyRequest): Refusal | undefined {
  // Nobody else would tell: what comes with a GET is thrown away unread.
  if ((method === 'GET' || method === 'HEAD') && hasBody(headers)) return unasked()
  const { accept, 'content-encoding': encoding, 'content-type': type } = headers
  if (accept !== undefined && !acceptsJson(accept))
    return new Refusal('not-acceptable', { detail: 'Answers are application/json: accept that, or */*.' })
  if ((encoding === undefined || encoding === 'identity') && isUtf8Charset(type)) return undefined
  return new Refusal('unsupported-media-type', {
    detail: 'Bodies are read as they are, in UTF-8: send them without content-encoding, and with no other charset.',
    headers: { 'accept-encoding': 'identity' },
  })
}

const JSON_RANGE = /^(?:\*\/\*|application\/(?:\*|json|problem\+json))$/i

/** RFC 9110 §12.5.1: a range of weight 0 is not wanted. */
function acceptsJson(accept: string): boolean {
  if (accept === '*/*') return true
  return accept.split(',').some(range => {
    const [type = '', ...parameters] = range.split(';').map(part => part.trim())
    return JSON_RANGE.test(type) && !parameters.some(parameter => /^q=0(?:\.0*)?$/i.test(parameter))
  })
}

/** Another charset would be read as something else than was sent. */
function isUtf8Charset(type: string | undefined): boolean {
  if (type === undefined || type === 'application/json') return true
  return /^utf-?8$/i.test(/;\s*charset="?([^";\s]*)/i.exec(type)?.[1] ?? 'utf-8')
}

/** An operator acts for the tenant that is named here. */
const TENANT_HEADER = 'secondwind-tenant'

/** Who asks, as it was found before anything else was looked at. */
export function callerOf({ caller }: FastifyRequest): Caller {
  return caller
}

/** To be called before there are routes. */
export function knowCallers(api: FastifyInstance): void {
  // Nobody, until it is known who: a route that asks too early fails, and lets nobody in.
  api.decorateRequest('caller', null as never)
}

/** Finds out who asks, once for each request. Answers why the caller must not do this, if so. */
function authorise(request: FastifyRequest, access: Access, keys: KeyRing): Refusal | undefined {
  if (access.scope === 'none') return undefined
  const caller = keys.isInForce ? withKey(request, keys) : LOCAL_CALLER
  if (caller instanceof Refusal) return caller
  const acting = forTenant(caller, request.headers[TENANT_HEADER], keys)
  if (acting instanceof Refusal) return acting
  request.caller = acting
  return beyond(acting, access)
}

const BEARER = /^bearer +(\S+) *$/i
/** Longer than any key: what is longer is not even hashed. */
const LONGEST_TOKEN = 512

function withKey({ headers: { authorization } }: FastifyRequest, keys: KeyRing): Caller | Refusal {
  const [, token = ''] = BEARER.exec(authorization ?? '') ?? []
  if (token === '') return keyMissing()
  return (token.length > LONGEST_TOKEN ? undefined : keys.callerWith(token)) ?? keyUnknown()
}

function keyMissing(): Refusal {
  return new Refusal('key-missing', {
    detail:
      'Send a key as Authorization: Bearer swk_…; whoever runs the service makes one with secondwind keys create.',
    headers: { 'www-authenticate': 'Bearer' },
  })
}

function keyUnknown(): Refusal {
  return new Refusal('key-unknown', {
    detail: 'The key is none of this service, was revoked, or has expired.',
    headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
  })
}

function forTenant(caller: Caller, named: string | readonly string[] | undefined, keys: KeyRing): Caller | Refusal {
  if (named === undefined) return caller
  if (named === caller.tenant) return { ...caller, isForAll: false }
  if (!caller.isOperator || typeof named !== 'string')
    return new Refusal('tenant-forbidden', { detail: `The key acts for ${caller.tenant} and for nobody else.` })
  if (!keys.hasTenant(named)) return new Refusal('tenant-not-found', { detail: 'There is no tenant of this name.' })
  return { ...caller, tenant: named, isForAll: false }
}

function beyond({ scopes, isOperator }: Caller, { scope, isForOperators }: Access): Refusal | undefined {
  if (scope !== 'none' && !scopes.has(scope))
    return new Refusal('scope-missing', {
      detail: `It takes a key with the scope ${scope}; this one has ${[...scopes].join(', ') || 'none'}.`,
    })
  if (!isForOperators || isOperator) return undefined
  return new Refusal('scope-missing', { detail: 'It takes a key of whoever runs the service, not of one tenant.' })
}

/**
 * Headers that decide who asks, for whom, and for what. RFC 9110 §5.3: each stands once, or not at all. Of two, Node takes the
 * first or joins them, and whoever stands between here and there may have read the other.
 */
const ONCE: ReadonlyMap<string, string> = new Map(
  ['Host', 'Authorization', 'Secondwind-Tenant', 'Idempotency-Key', 'Content-Type', 'Last-Event-ID'].map(name => [
    name.toLowerCase(),
    name,
  ]),
)

/** Those of them that a request has more than once. */
function repeatedHeaders({ rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>): string[] {
  // Names and values, against names: nearly always each stands there once, and nothing more is looked at.
  if (rawHeaders.length === 2 * Object.keys(headers).length) return []
  const seen = new Set<string>()
  const repeated = new Set<string>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    if (seen.has(name) && ONCE.has(name)) repeated.add(ONCE.get(name)!)
    seen.add(name)
  }
  return [...repeated]
}

/** A name or an address, and perhaps a port. */
const HOST = /^(\[[\da-f:.]+\]|[^\s:/?#@[\]]+)(?::\d{1,5})?$/i

/** Nearly every request names the same host: what was found right is remembered, and no more than this of it. */
const MOST_REMEMBERED = 100
const knownToBeLoopback = new Set<string>()

/**
 * Whether a request is meant for this service. A page that somebody visits can have its own name lead to this machine:
 * the browser then lets it read every answer, and only the `Host` header tells.
 */
export function isOwnHost(host: string, allowed: readonly string[]): boolean {
  if (knownToBeLoopback.has(host)) return true
  const name = HOST.exec(host)?.[1]?.toLowerCase()
  if (name === undefined) return false
  if (!isLoopbackName(name)) return allowed.some(each => [name, host.toLowerCase()].includes(each.toLowerCase()))
  if (knownToBeLoopback.size < MOST_REMEMBERED) knownToBeLoopback.add(host)
  return true
}

/** RFC 6761 §6.3: names below localhost are loopback, too. */
function isLoopbackName(name: string): boolean {
  return name.endsWith('.localhost') || isLoopback(name.replace(/^\[|\]$/g, ''))
}

/** Whether the page that sent a request came from here as well: programs send no `Origin`, browsers do. */
export function isOwnOrigin(origin: string, host: string): boolean {
  const page = URL.parse(origin)
  return page !== null && page.host === URL.parse(`${page.protocol}//${host}`)?.host
}

export interface RequestIds {
  /** The caller's own, so that its log and ours can be laid side by side; a new one where it gave none. */
  of(header: string | string[] | undefined): string
  next(): string
}

const REQUEST_ID = /^[\w.:-]{1,100}$/
const DIGITS = 16
/** Drawn for so many ids at once: each alone would cost more than all else that is done for it. */
const POOL_IDS = 256

/** Ids that nobody makes twice, and that say nothing of other requests: whoever has no key is shown one, too. */
export function createRequestIds(): RequestIds {
  let pool = ''
  let at = 0
  const next = (): string => {
    if (at === pool.length) {
      pool = randomBytes((POOL_IDS * DIGITS) / 2).toString('hex')
      at = 0
    }
    return pool.slice(at, (at += DIGITS))
  }
  return {
    of: header => (typeof header === 'string' && REQUEST_ID.test(header) ? header : next()),
    next,
  }
}
