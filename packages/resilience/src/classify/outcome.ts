/** What an attempt came to. */
export type Outcome = Success | Failure

export interface Success {
  readonly kind: 'success'
}

export interface Failure {
  readonly kind: 'failure'
  readonly fault: Fault
  /** The server asked to be left alone for so long. */
  readonly retryAfterMs?: number
  /** The failure proves that nothing reached the server: even a call that must not be repeated may be made again. */
  readonly unsent?: boolean
  /** Nothing is known about the error: it is permanent only because a bug does not pass by itself. */
  readonly unknown?: boolean
}

/**
 * What kind of failure it was.
 *
 * - `transient`: likely to pass by itself.
 * - `throttled`: the server is there and asks for less.
 * - `ambiguous`: the call may or may not have been carried out (a time-out, a connection lost half-way).
 * - `permanent`: the same call would fail the same way.
 * - `ignored`: says nothing about the server (the caller went away); breakers and limits do not count it.
 */
export type Fault = 'transient' | 'throttled' | 'ambiguous' | 'permanent' | 'ignored'

export const FAULTS: readonly Fault[] = ['transient', 'throttled', 'ambiguous', 'permanent', 'ignored']

export const SUCCESS: Success = { kind: 'success' }

export function failure(fault: Fault, retryAfterMs?: number): Failure {
  return retryAfterMs === undefined ? { kind: 'failure', fault } : { kind: 'failure', fault, retryAfterMs }
}
