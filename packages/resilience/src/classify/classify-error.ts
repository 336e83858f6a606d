import { retryAfterOf, type HeaderSource } from '../retry/retry-after.ts'
import { isObject, markOf } from './marks.ts'
import { classifyNetworkCode, isFetchFailure } from './network-codes.ts'
import { failure, type Failure } from './outcome.ts'
import { classifyStatus } from './status.ts'

/** Errors wrap errors; deeper than this they wrap themselves. */
const DEEPEST_CAUSE = 10

/**
 * What a thrown value says about the call: a mark, a status or a network code, on the error itself or on what
 * caused it. What says nothing is permanent: a bug does not pass by itself. `now` is wall time, for a wait that is
 * given as a date.
 */
export function classifyError(error: unknown, retryableStatusCodes: readonly number[], now: number): Failure {
  let isNetworkFailure = false
  for (let depth = 0; depth < DEEPEST_CAUSE && isObject(error); depth++) {
    const found = classifyOne(error, retryableStatusCodes, now)
    if (found !== undefined) return found
    // "fetch failed" is all that a browser says. A cause that has a code of its own (a certificate, an invalid
    // argument) says more, and nothing that would pass by itself.
    isNetworkFailure = (isNetworkFailure || isFetchFailure(error)) && typeof (error as ErrorLike).code !== 'string'
    error = causeOf(error)
  }
  return isNetworkFailure ? failure('ambiguous') : UNKNOWN
}

/** What an error is that says nothing. */
export const UNKNOWN: Failure = { kind: 'failure', fault: 'permanent', unknown: true }

function classifyOne(error: ErrorLike, retryableStatusCodes: readonly number[], now: number): Failure | undefined {
  const marked = markOf(error)
  if (marked !== undefined) return marked
  // The caller, or somebody on its behalf, went away.
  if (error.name === 'AbortError' || error.code === 'ERR_CANCELED') return failure('ignored')
  const status = statusOf(error)
  const outcome = status && classifyStatus(status, retryableStatusCodes, askedWait(error, now))
  // An error with the status of a success is judged by what else it says.
  return outcome && outcome.kind === 'failure'
    ? outcome
    : (classifyNetworkCode(error.code) ?? classifyNetworkCode(error.name))
}

/** Where clients put the status: fetch wrappers, got and ky, axios, the AWS SDK. */
export function statusOf({ status, statusCode, response, $metadata }: ErrorLike): number | undefined {
  return number(status) ?? number(statusCode) ?? number(response?.status) ?? number($metadata?.httpStatusCode)
}

function number(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

function askedWait({ headers, response }: ErrorLike, now: number): number | undefined {
  const given = headers ?? response?.headers
  return isObject(given) ? retryAfterOf(given, now) : undefined
}

/** An `AggregateError` of several addresses tried at once is judged by the first. */
function causeOf(error: ErrorLike): unknown {
  return error.cause ?? error.errors?.[0]
}

interface ErrorLike {
  readonly name?: unknown
  readonly message?: unknown
  readonly code?: unknown
  readonly status?: unknown
  readonly statusCode?: unknown
  readonly headers?: HeaderSource | undefined
  readonly response?: { readonly status?: unknown; readonly headers?: HeaderSource | undefined } | undefined
  readonly $metadata?: { readonly httpStatusCode?: unknown } | undefined
  readonly cause?: unknown
  readonly errors?: readonly unknown[] | undefined
}
