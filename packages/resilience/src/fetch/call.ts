import { MadeBody, type BodySource } from '../wire/body.ts'
import { mayRepeat, onceBecause, type Repetition } from '../wire/decide.ts'
import { NotReplayableError } from '../wire/errors.ts'
import { keyOf } from '../wire/options.ts'
import type { WireCall } from '../wire/run.ts'
import { BufferedBody, givenBody, untouchedBody, type SentBody } from './body.ts'
import type { RetryingInit } from './options.ts'

/** A call, read once from what the caller passed; nothing of the caller's is changed. */
export interface FetchCall extends WireCall {
  readonly input: string | URL | Request
  /** The caller's fields, without ours and without those that each attempt has of its own. */
  readonly init: RequestInit
  /** The caller's, and the idempotency key. */
  readonly headers: Headers
  readonly body: BodySource<SentBody>
}

export interface Limits {
  readonly maxAttempts: number
  readonly maxReplayBytes: number
}

/** Throws when the call says something that cannot be, or has a body that could not be sent again. */
export function readCall(input: string | URL | Request, given: RetryingInit, limits: Limits): FetchCall {
  const { idempotencyKey: key, idempotent, policy: _, body: itsBody, signal: itsSignal, ...init } = copyOf(given)
  const request = isRequest(input) ? input : undefined
  const headers = new Headers(init.headers ?? request?.headers)
  const idempotencyKey = keyOf({ idempotencyKey: key, idempotent }, headers.get('idempotency-key'))
  if (idempotencyKey !== undefined) headers.set('idempotency-key', idempotencyKey)

  const method = (init.method ?? request?.method ?? 'GET').toUpperCase()
  const repetition = { method, hasKey: idempotencyKey !== undefined, idempotent, maxAttempts: limits.maxAttempts }
  const body = bodyOf(request, itsBody, repetition, limits)
  return {
    input,
    init: request === undefined ? init : { ...referrerOf(request), ...init },
    origin: originOf(request?.url ?? String(input)),
    method,
    headers,
    idempotencyKey,
    signal: (itsSignal === undefined ? request?.signal : itsSignal) ?? undefined,
    body,
    once: onceBecause(repetition, body.isSingleUse),
    isOnceByWord: idempotent === false,
  }
}

/** Field by field, inherited ones too: a `Request` may stand in the place of an init, and has none of its own. */
function copyOf(init: RetryingInit): RetryingInit {
  const copy: { [field: string]: unknown } = {}
  // oxlint-disable-next-line guard-for-in
  for (const field in init) copy[field] = init[field as keyof RetryingInit]
  return copy
}

function isRequest(input: string | URL | Request): input is Request {
  return typeof input === 'object' && 'headers' in input
}

function bodyOf(
  request: Request | undefined,
  given: RetryingInit['body'],
  repetition: Repetition,
  { maxAttempts, maxReplayBytes }: Limits,
): BodySource<SentBody> {
  if (typeof given === 'function') return new MadeBody(given)
  if (given !== undefined && given !== null) {
    const body = givenBody(given, maxAttempts)
    if (body.isSingleUse && mayRepeat(repetition))
      throw new NotReplayableError('the body is a stream, which can be sent only once')
    return body
  }
  // A request without a body shows null; in a browser that never shows it, undefined.
  const bringsBody = request !== undefined && request.body !== null && !BODILESS_METHODS.includes(repetition.method)
  return bringsBody && mayRepeat(repetition) ? new BufferedBody(request, maxReplayBytes) : untouchedBody(bringsBody)
}

const BODILESS_METHODS: readonly string[] = ['GET', 'HEAD']

/** Fetch standard, "new Request(input, init)": any init at all makes it forget the input's own. */
function referrerOf({ referrer, referrerPolicy }: Request): RequestInit {
  return { referrer, referrerPolicy }
}

function originOf(url: string): string {
  try {
    return new URL(url, globalThis.location?.href).origin
  } catch {
    return ''
  }
}
