import { failure, type Failure } from './outcome.ts'

/** The connection never came about, or (RFC 9113 §8.7) its stream was refused: nothing reached the server. */
const UNSENT =
  'ECONNREFUSED ENOTFOUND EAI_AGAIN EHOSTUNREACH EHOSTDOWN ENETUNREACH ENETDOWN UND_ERR_CONNECT_TIMEOUT NGHTTP2_REFUSED_STREAM'

/** The connection broke or went silent, or somebody's time-out struck: the request may have been carried out. */
const AMBIGUOUS =
  'ECONNRESET ECONNABORTED EPIPE ETIMEDOUT ESOCKETTIMEDOUT ERR_NETWORK ERR_SOCKET_CONNECTION_TIMEOUT ' +
  'ERR_STREAM_PREMATURE_CLOSE ERR_HTTP2_STREAM_ERROR ERR_HTTP2_SESSION_ERROR UND_ERR_SOCKET UND_ERR_HEADERS_TIMEOUT ' +
  'UND_ERR_BODY_TIMEOUT TimeoutError attempt-timeout'

const NOTHING_SENT: Failure = { kind: 'failure', fault: 'transient', unsent: true }

const FAILURES: ReadonlyMap<unknown, Failure> = /* @__PURE__ */ new Map<unknown, Failure>([
  ...UNSENT.split(' ').map((code): [string, Failure] => [code, NOTHING_SENT]),
  ...AMBIGUOUS.split(' ').map((code): [string, Failure] => [code, failure('ambiguous')]),
])

/** What an error's code (or, for DOM exceptions, its name) says about the network; undefined when it says nothing. */
export function classifyNetworkCode(code: unknown): Failure | undefined {
  return FAILURES.get(code)
}

/** Browsers and React Native give no code, only one of these texts in a `TypeError`. */
const FETCH_FAILED =
  /^(Failed to fetch|fetch failed|Load failed|NetworkError|Network request failed|network error|The Internet conn)/i

export function isFetchFailure({ name, message }: { readonly name?: unknown; readonly message?: unknown }): boolean {
  return name === 'TypeError' && typeof message === 'string' && FETCH_FAILED.test(message)
}
