import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Refusal } from '../answers/refusal.ts'
import type { ApiContext } from '../context.ts'
import { hasBody } from './body-headers.ts'
import { unasked } from './json-body.ts'
import { accessOf } from '../schemas/operation.ts'
import { authorise } from './caller.ts'
import { isOwnHost, isOwnOrigin } from './hosts.ts'
import { repeatedHeaders } from './repeated.ts'
import { addRouteHooks } from './route-hooks.ts'

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
