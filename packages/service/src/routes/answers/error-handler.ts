/** Every way in which a request can fail, answered in one form. */
import type { Clock, Random } from '@secondwind/resilience'
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { InvalidCursorError, NoIndexError, StoreUnavailableError } from '../../stores/store-errors.ts'
import type { RefusalLog } from './refusal-log.ts'
import { refusalOfShape } from '../requests/validation.ts'
import { comeBackAfter, PROBLEM_JSON, problemDetails, Refusal, sentence, type RefusalCode } from './refusal.ts'
import { hasBody } from '../requests/body-headers.ts'

/** A disk that was full has room again, a connection is back: a few seconds are enough to look. */
const STORE_WAIT_MS = 5_000

export type ErrorHandler = (error: unknown, request: FastifyRequest, reply: FastifyReply) => void

export function createErrorHandler(random: Random, lines: RefusalLog): ErrorHandler {
  return (error, request, reply) => {
    const refusal = refusalOf(error, request, random)
    if (refusal.code !== 'internal-error') return sendRefusal(refusal, request, reply, lines)
    // Of an error of our own making the caller learns nothing: the operator must learn all of it.
    answer(refusal, request, reply)
    request.log.error({ ...answerLine(request, reply), code: refusal.code, err: error }, 'failed')
  }
}

export function sendRefusal(refusal: Refusal, request: FastifyRequest, reply: FastifyReply, lines: RefusalLog): void {
  answer(refusal, request, reply)
  lines.tell(refusal, request, { ...answerLine(request, reply), code: refusal.code })
}

function answer(refusal: Refusal, request: FastifyRequest, reply: FastifyReply): void {
  void reply
    .code(refusal.status)
    .headers({ ...refusal.parts.headers, 'x-request-id': request.id })
    .type(PROBLEM_JSON)
    .send(asLine(problemDetails(refusal, request.id)))
}

/** The pattern, not the path: a query, or a path of somebody's making, may hold what belongs into no log. */
export function answerLine({ id, method, routeOptions }: FastifyRequest, reply: FastifyReply): object {
  const { statusCode, elapsedTime } = reply
  return {
    requestId: id,
    method,
    route: routeOptions.url ?? 'none',
    status: statusCode,
    durationMs: Math.round(elapsedTime),
  }
}

function refusalOf(error: unknown, request: FastifyRequest, random: Random): Refusal {
  if (error instanceof Refusal) return error
  if (error instanceof StoreUnavailableError)
    return new Refusal(error.code, { detail: sentence(error.message), headers: comeBackAfter(STORE_WAIT_MS, random()) })
  if (error instanceof InvalidCursorError)
    return new Refusal('invalid-cursor', {
      detail: sentence(error.message),
      problems: [{ at: 'cursor', is: undefined, say: 'must be the nextCursor of an earlier page of the same list' }],
    })
  if (error instanceof NoIndexError) return new Refusal('no-index', { detail: sentence(error.message) })
  return refusalOfFramework(error as FastifyError, request)
}

function refusalOfFramework({ validation, validationContext, code }: FastifyError, request: FastifyRequest): Refusal {
  if (validation !== undefined) return refusalOfShape({ validation, validationContext })
  if (code === 'FST_ERR_CTP_BODY_TOO_LARGE') return tooLarge(request)
  const known = FRAMEWORK[code]
  return known === undefined ? INTERNAL : new Refusal(known[0], { detail: known[1] })
}

function tooLarge({ routeOptions: { bodyLimit, url = '' } }: FastifyRequest): Refusal {
  const instead = url.startsWith('/retry-tasks')
    ? ' Upload a large body to /bodies, and give the task its bodyRef.'
    : ''
  return new Refusal('body-too-large', {
    detail: `Of the request this operation takes at most ${bodyLimit} bytes; nothing of it was kept.${instead}`,
  })
}

/** What the HTTP server finds by itself. */
const FRAMEWORK: { readonly [code: string]: readonly [code: RefusalCode, detail: string] | undefined } = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [
    'unsupported-media-type',
    'Send JSON with content-type: application/json; a batch may be application/x-ndjson.',
  ],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['bad-http', 'The body is not as long as content-length says.'],
  FST_ERR_BAD_URL: ['bad-http', 'The path is not percent-encoded as it should be.'],
  FST_ERR_MAX_PARAM_LENGTH: ['url-too-long', 'A part of the path is longer than any name there is.'],
  ECONNRESET: ['bad-http', 'The request broke off.'],
}

const INTERNAL = new Refusal('internal-error', {
  detail: 'It was not your request. The log has the reason beside the id of the request.',
})

/** What is wrong before there is a request that a route could answer. */
const BROKEN: { readonly [code: string]: readonly [code: RefusalCode, detail: string] | undefined } = {
  ERR_HTTP_REQUEST_TIMEOUT: ['request-timeout', 'Send the whole request in one go.'],
  HPE_HEADER_OVERFLOW: ['headers-too-large', 'Path and headers together may have 16 KiB.'],
}

interface SocketAnswer {
  readonly requestId: string
  readonly clock: Clock
}

/** Answers on the bare socket: the connection is of no use afterwards. */
export function answerBrokenRequest(
  error: { readonly code?: string },
  socket: Socket,
  { requestId, clock }: SocketAnswer,
): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const [code, detail] = BROKEN[error.code ?? ''] ?? ['bad-http', 'It cannot be read as HTTP/1.1.']
  answerOnSocket(new Refusal(code, { detail }), socket, { requestId, clock })
}

/** A tunnel was asked for: there is no reply to answer with. */
export function answerConnect(socket: Duplex, to: SocketAnswer): void {
  const detail = 'Nobody is connected through this service.'
  answerOnSocket(new Refusal('method-not-allowed', { detail }), socket, to)
}

/** RFC 9110 §10.1.1: 100-continue is the only expectation there is. */
export function answerExpectation(response: ServerResponse, requestId: string): void {
  const refusal = new Refusal('bad-http', { status: 417, detail: 'No expectation is met but 100-continue.' })
  response
    .writeHead(refusal.status, { 'content-type': PROBLEM_JSON, 'x-request-id': requestId, connection: 'close' })
    .end(JSON.stringify(problemDetails(refusal, requestId)))
}

function answerOnSocket(refusal: Refusal, socket: Duplex, { requestId, clock }: SocketAnswer): void {
  const body = JSON.stringify(problemDetails(refusal, requestId))
  const head = [
    `HTTP/1.1 ${refusal.status} ${STATUS_CODES[refusal.status]}`,
    `content-type: ${PROBLEM_JSON}`,
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${requestId}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  hangUpSoon(socket, clock)
}

/** An answer as JSON that ends its line: a shell's prompt does not stick to it. */
export function asLine(answer: unknown): string {
  return `${JSON.stringify(answer)}\n`
}

/** A caller that is still sending so late, or so much, has had the time to hear. */
const DRAIN_MS = 2_000
const DRAIN_BYTES = 33_554_432

/**
 * Reads on, and throws away, what comes in behind a refusal. A connection that is closed while its client sends is a network
 * error to it, which it would try again; the refusal would never be read.
 */
export function drainRefused(api: FastifyInstance, clock: Clock): void {
  api.addHook('onSend', (request, reply, payload, done) => {
    if (reply.statusCode >= 400 && hasBody(request.headers) && !request.raw.complete) {
      void reply.removeHeader('connection')
      drain(request.raw, clock)
    }
    done(null, payload)
  })
}

function drain(incoming: IncomingMessage, clock: Clock): void {
  let left = DRAIN_BYTES
  incoming.on('data', (chunk: Buffer) => {
    left -= chunk.length
    if (left < 0) incoming.destroy()
  })
  incoming.resume()
  hangUpSoon(incoming, clock)
}

/** Whoever does not close its own side has had the time to: it would keep a descriptor for as long as it likes. */
function hangUpSoon(stream: Duplex | IncomingMessage, clock: Clock): void {
  const closed = new AbortController()
  stream.once('close', () => closed.abort())
  void clock.sleep(DRAIN_MS, closed.signal).then(
    () => stream.destroy(),
    () => undefined,
  )
}
