/**
 * What a contender can be asked to do. One file per contender exports its `calls`; a contender takes part in
 * every work whose call it has. All of them retry the same faults the same number of times; where a
 * contender cannot express a part of it (a predicate, a deadline, full jitter) it goes without, which can only
 * make it faster.
 */

export type Action = () => Promise<unknown>
export type SignalAction = (attempt: { readonly signal: AbortSignal }) => Promise<unknown>

type Call = (action: Action) => Promise<unknown>

export interface Calls {
  /** Three attempts, back-off from 100 ms doubling to 5 s, the contender's policy made once. */
  readonly succeeds?: Call
  /** The same, the policy written out in the call and so made anew by each. */
  readonly succeedsByLiteral?: Call
  /** The same as `succeeds`, and the action is handed an `AbortSignal`. */
  readonly readsSignal?: (action: SignalAction) => Promise<unknown>
  /** Three attempts, 1 ms apart, no jitter. */
  readonly retriesSoon?: Call
  /** Three attempts, the wait between them long enough to be looked at: about `LONG_DELAY_MS`. */
  readonly waitsLong?: Call
  /** `waitsLong`, with full jitter: the waits end evenly spread over `LONG_DELAY_MS`. */
  readonly waitsLongJittered?: Call
  /** Retry, breaker, attempt time-out, bulkhead and budget around the call. */
  readonly pipelineSucceeds?: Call
  /** The same, with one signal of the caller's for all calls. */
  readonly pipelineWithSignal?: Call
  readonly pipelineReadsSignal?: (action: SignalAction) => Promise<unknown>
  readonly pipelineWaitsLong?: Call
  /** One layer at a time, around a call that succeeds at once: company after 1 s; a gradient limit; adaptive throttling. */
  readonly hedged?: Call
  readonly limited?: Call
  readonly throttled?: Call
  readonly newEngine?: () => Engine
}

export interface Engine {
  configure(maxRetries: number, initialDelayMs: number, backoffMultiplier: number, maxDelayMs: number): void
  execute(operationId: string, action: () => boolean): Promise<boolean>
}

export const LONG_DELAY_MS = 5_000

/** Thrown by every failing action: always the same object, so that no contender pays for a stack trace. */
export const RESET: Error = Object.assign(new Error('connection reset'), { code: 'ECONNRESET' })

const TRANSIENT_CODES = new Set<unknown>(['ECONNRESET', 'ECONNREFUSED', 'ETIMEDOUT', 'EPIPE', 'EAI_AGAIN'])

/** The predicate of everybody who takes one. */
export function isTransient(error: unknown): boolean {
  return error instanceof Error && 'code' in error && TRANSIENT_CODES.has(error.code)
}
