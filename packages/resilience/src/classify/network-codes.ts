import type { Failure } from './outcome.ts'
import { failure } from './outcome.ts'

/** The connection never came about: nothing reached the server. */
const UNSENT: readonly string[] = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EHOSTDOWN',
  'UND_ERR_CONNECT_TIMEOUT',
  // RFC 9113 §8.7: a refused stream was not processed.
  'NGHTTP2_REFUSED_STREAM',
]

/** The connection broke or went silent: the request may have been carried out. */
const AMBIGUOUS: readonly string[] = [
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'ESOCKETTIMEDOUT',
  'ERR_SOCKET_CONNECTION_TIMEOUT',
  'ERR_STREAM_PREMATURE_CLOSE',
  'ERR_HTTP2_STREAM_ERROR',
  'ERR_HTTP2_SESSION_ERROR',
  'UND_ERR_SOCKET',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'TimeoutError',
]

/** Browsers and React Native give no code, only one of these texts in a `TypeError`. */
const FETCH_FAILED =
  /^(Failed to fetch|fetch failed|Load failed|NetworkError|Network request failed|network error|The Internet conn)/i

const NOTHING_SENT: Failure = { kind: 'failure', fault: 'transient', unsent: true }

/** What an error's code (or, for DOM exceptions, its name) says about the network; undefined when it says nothing. */
export function classifyNetworkCode(code: unknown): Failure | undefined {
  if (typeof code !== 'string') return undefined
  if (UNSENT.includes(code)) return NOTHING_SENT
  return AMBIGUOUS.includes(code) ? failure('ambiguous') : undefined
}

export function isFetchFailure({ name, message }: { readonly name?: unknown; readonly message?: unknown }): boolean {
  return name === 'TypeError' && FETCH_FAILED.test(String(message))
}
