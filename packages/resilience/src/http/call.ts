import type { OutgoingHttpHeaders, RequestOptions } from 'node:http'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { headerOf } from '../retry/retry-after.ts'
import { copyOfBytes, isStream, MadeBody, type BodySource } from '../wire/body.ts'
import { mayRepeat, onceBecause } from '../wire/decide.ts'
import { NotReplayableError } from '../wire/errors.ts'
import { keyOf, type CallWords } from '../wire/options.ts'
import type { WireCall } from '../wire/run.ts'

export type HttpBody = string | Uint8Array | AsyncIterable<string | Uint8Array> | null | undefined

/** What a call may say beyond the options of `node:http`. */
export interface HttpInit extends Omit<RequestOptions, 'headers' | 'signal'>, CallWords {
  readonly headers?: OutgoingHttpHeaders
  /** Ends the call at once, also while it waits; and the reading of the response. */
  readonly signal?: AbortSignal | undefined
  /** A text or bytes, or a function that makes a new body for each attempt. A stream can be sent only once. */
  readonly body?: HttpBody | (() => HttpBody | PromiseLike<HttpBody>)
  /** Fields that replace those of the client's own policy, for this call. */
  readonly policy?: RetryPolicyInput | undefined
}

export interface HttpCall extends WireCall {
  readonly url: URL
  /** The caller's, without ours and without those that each attempt has of its own. */
  readonly options: RequestOptions
  /** The caller's, and the idempotency key. */
  readonly headers: OutgoingHttpHeaders
  readonly body: BodySource<HttpBody>
}

/** Throws when the call says something that cannot be, or has a body that could not be sent again. */
export function readCall(url: URL, init: HttpInit, maxAttempts: number): HttpCall {
  const { idempotencyKey: key, idempotent, policy: _, body: given, signal, headers = {}, ...options } = init
  const idempotencyKey = keyOf({ idempotencyKey: key, idempotent }, headerOf(headers, 'idempotency-key'))
  const method = (options.method ?? 'GET').toUpperCase()
  const repetition = { method, hasKey: idempotencyKey !== undefined, idempotent, maxAttempts }
  const body = typeof given === 'function' ? new MadeBody(given) : givenBody(given)
  if (body.isSingleUse && mayRepeat(repetition))
    throw new NotReplayableError('the body is a stream, which can be sent only once')
  return {
    url,
    options,
    origin: url.origin,
    method,
    headers: idempotencyKey === undefined ? headers : withHeader(headers, 'idempotency-key', idempotencyKey),
    idempotencyKey,
    signal,
    body,
    once: onceBecause(repetition, body.isSingleUse),
    isOnceByWord: idempotent === false,
  }
}

/** What the caller wrote is the caller's, however it is spelled. */
export function withHeader(headers: OutgoingHttpHeaders, name: string, value: string): OutgoingHttpHeaders {
  return Object.keys(headers).some(given => given.toLowerCase() === name) ? headers : { ...headers, [name]: value }
}

function givenBody(body: HttpBody): BodySource<HttpBody> {
  const sent = ArrayBuffer.isView(body) ? copyOfBytes(body) : body
  return { isSingleUse: isStream(body), next: () => sent }
}
