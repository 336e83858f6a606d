import type { Fault } from '../classify/outcome.ts'
import type { GiveUpReason } from './decide.ts'

/** What led to an error: read beside it, for the error itself is the caller's own and stays unchanged. */
export interface History {
  /** Why there was no further attempt. */
  readonly reason: GiveUpReason
  /** Attempts made, also those that `failures` has forgotten. */
  readonly attempts: number
  readonly elapsedMs: number
  /** How each attempt failed, the newest last; the latest 32 are kept. */
  readonly failures: readonly FailedAttempt[]
}

export interface FailedAttempt {
  readonly attempt: number
  readonly durationMs: number
  readonly fault: Fault
  /** What it threw, or the value that it returned and that was judged a failure. */
  readonly error: unknown
  readonly returned: boolean
  /** What the server asked for. */
  readonly retryAfterMs: number | undefined
  /** Nothing was known about the error: it was not retried for that reason alone. */
  readonly unknown: boolean
}

export const KEPT_FAILURES = 32

const histories = new WeakMap<object, History>()

/** The history behind an error, or behind a failed response that was returned; undefined if no retry was involved. */
export function historyOf(error: unknown): History | undefined {
  return histories.get(error as object)
}

/** A thrown text or number cannot carry a history; it is thrown all the same. */
export function rememberHistory(error: unknown, history: History): void {
  if (Object(error) === error) histories.set(error as object, history)
}

const UNKNOWN_HINT =
  '; an error without a status or a code is not retried: throw new Error(…, { cause: response }), or transient(error)'

/** The history in one sentence, for a log. */
export function describeHistory({ reason, attempts, elapsedMs, failures }: History): string {
  const errors = failures.map(({ error }) => shortly(error)).join(', ')
  const calls = `${attempts} attempt${attempts === 1 ? '' : 's'}`
  const hint = failures.at(-1)?.unknown ? UNKNOWN_HINT : ''
  return `${calls} in ${Math.round(elapsedMs)} ms${errors && `: ${errors}`} (stopped: ${reason}${hint})`
}

/** The most telling part of an error: its status, its network code or its cause's, else its name and message. */
function shortly(error: unknown): string {
  try {
    return tellingPart(error)
  } catch {
    return typeof error
  }
}

function tellingPart(error: unknown): string {
  const { status, statusCode, response, code, cause, name, message } = Object(error) as ErrorParts
  const found = [status, statusCode, response?.status, cause?.status].find(part => typeof part === 'number')
  if (found !== undefined) return `HTTP ${found}`
  const telling = [code, cause?.code].find(part => typeof part === 'string')
  return String(telling ?? (name === undefined ? error : `${String(name)}: ${String(message)}`)).slice(0, 60)
}

interface ErrorParts {
  readonly status?: unknown
  readonly statusCode?: unknown
  readonly response?: { readonly status?: unknown }
  readonly code?: unknown
  readonly cause?: { readonly code?: unknown; readonly status?: unknown }
  readonly name?: unknown
  readonly message?: unknown
}
