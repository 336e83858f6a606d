import type { Failure } from './outcome.ts'
import { failure } from './outcome.ts'

/** The connection never came about, or (RFC 9113 §8.7) its stream was refused: nothing reached the server. */
const UNSENT =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|E(HOST|NET)(UNREACH|DOWN)|UND_ERR_CONNECT_TIMEOUT|NGHTTP2_REFUSED_STREAM)$/

/** The connection broke or went silent, or somebody's time-out struck: the request may have been carried out. */
const AMBIGUOUS =
  /^(attempt-timeout|ERR_NETWORK|ECONN(RESET|ABORTED)|EPIPE|E(SOCKET)?TIMEDOUT|ERR_SOCKET_CONNECTION_TIMEOUT|ERR_STREAM_PREMATURE_CLOSE|ERR_HTTP2_(STREAM|SESSION)_ERROR|UND_ERR_(SOCKET|(HEADERS|BODY)_TIMEOUT)|TimeoutError)$/

/** Browsers and React Native give no code, only one of these texts in a `TypeError`. */
const FETCH_FAILED =
  /^(Failed to fetch|fetch failed|Load failed|NetworkError|Network request failed|network error|The Internet conn)/i

const NOTHING_SENT: Failure = { kind: 'failure', fault: 'transient', unsent: true }

/** What an error's code (or, for DOM exceptions, its name) says about the network; undefined when it says nothing. */
export function classifyNetworkCode(code: unknown): Failure | undefined {
  if (typeof code !== 'string') return undefined
  if (UNSENT.test(code)) return NOTHING_SENT
  return AMBIGUOUS.test(code) ? failure('ambiguous') : undefined
}

export function isFetchFailure({ name, message }: { readonly name?: unknown; readonly message?: unknown }): boolean {
  return name === 'TypeError' && typeof message === 'string' && FETCH_FAILED.test(message)
}
