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

/** The history in one sentence, for a log. */
export function describeHistory({ reason, attempts, elapsedMs, failures }: History): string {
  const errors = failures.map(({ error }) => shortly(error)).join(', ')
  const calls = `${attempts} attempt${attempts === 1 ? '' : 's'}`
  return `${calls} in ${Math.round(elapsedMs)} ms${errors && `: ${errors}`} (stopped: ${reason})`
}

function shortly(error: unknown): string {
  const { code, status, name } = Object(error) as { code?: unknown; status?: unknown; name?: unknown }
  return String(code ?? (status === undefined ? name : `HTTP ${String(status)}`) ?? error).slice(0, 60)
}
