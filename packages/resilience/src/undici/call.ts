import type { Readable } from 'node:stream'
import type { Dispatcher } from 'undici'
import { headerOf } from '../retry/retry-after.ts'
import { copyOfBytes, isStream } from '../wire/body.ts'
import { mayRepeat, onceBecause, type AttemptHeaders } from '../wire/decide.ts'
import { keyOf } from '../wire/options.ts'
import type { WireCall } from '../wire/run.ts'

export interface UndiciCall extends WireCall {
  /** As it is now: whoever reuses a buffer after the call changes nothing. */
  readonly body: Dispatcher.DispatchOptions['body']
}

export function readCall(
  { method, origin = '', headers, body, idempotent }: Dispatcher.DispatchOptions,
  maxAttempts: number,
  signal: AbortSignal,
): UndiciCall {
  const idempotencyKey = keyOf({ idempotent }, headerOf(Object.fromEntries(pairsOf(headers)), 'idempotency-key'))
  const repetition = { method, hasKey: idempotencyKey !== undefined, idempotent, maxAttempts }
  const isSingleUse = isReadOnce(body)
  return {
    method,
    origin: String(origin),
    signal,
    idempotencyKey,
    once: isSingleUse && maxAttempts > 1 ? 'not-replayable' : onceBecause(repetition, isSingleUse),
    isOnceByWord: idempotent === false,
    body: ArrayBuffer.isView(body) && mayRepeat(repetition) ? copyOfBytes(body) : body,
  }
}

const replayables = new WeakSet<object>()

/** A body that is made anew for each attempt: `body: replayable(() => createReadStream(path))`. */
export function replayable(make: () => AsyncIterable<Uint8Array | string>): Readable {
  const body = { [Symbol.asyncIterator]: () => make()[Symbol.asyncIterator]() }
  replayables.add(body)
  // undici sends anything that can be iterated; its types know only the usual kinds.
  return body as unknown as Readable
}

function isReadOnce(body: unknown): boolean {
  const isGenerator = typeof (body as { next?: unknown } | null | undefined)?.next === 'function'
  return isGenerator || (isStream(body) && !replayables.has(body as object))
}

type Headers = Dispatcher.DispatchOptions['headers']

/** The headers of one attempt. What the caller wrote is the caller's. */
export function withHeaders(headers: Headers, ours: AttemptHeaders): Headers {
  const given = pairsOf(headers)
  const written = new Set(given.map(([name]) => name.toLowerCase()))
  const added = Object.entries(ours).filter(([name]) => !written.has(name))
  // As an object where it was one: interceptors further in may look for their own headers in it.
  if (isPlain(headers)) return { ...headers, ...Object.fromEntries(added) } as Headers
  return [...given, ...added].flat() as string[]
}

/** undici takes an object, a flat list, or anything that brings pairs. */
function pairsOf(headers: Headers): (readonly [string, unknown])[] {
  if (Array.isArray(headers) && typeof headers[0] === 'string')
    return headers.flatMap((name, n) => (n % 2 === 0 ? [[name, headers[n + 1]] as const] : []))
  return isPlain(headers) ? Object.entries(headers) : [...((headers ?? []) as Iterable<readonly [string, unknown]>)]
}

function isPlain(headers: Headers): headers is Record<string, string> {
  return typeof headers === 'object' && headers !== null && !(Symbol.iterator in headers)
}
