import type { Budget } from '../budget/budget.ts'
import type { Breaker } from '../breaker/run.ts'
import type { Failure, Fault, Outcome } from '../classify/outcome.ts'
import type { Clock } from '../ports/clock.ts'
import type { Random } from '../ports/random.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import type { Gate } from './companion.ts'
import type { Curve } from './curves.ts'
import type { Exhausted } from './exhausted.ts'

/** What the work is given. */
export interface Attempt {
  /** The first is 1. */
  readonly attempt: number
  /** Aborts when the caller does, when this attempt has had its time, and at the deadline. Made when it is read. */
  readonly signal: AbortSignal
  /** One for the whole operation, the same on every attempt; made when it is read, if the caller gave none. */
  readonly idempotencyKey: string
  /** How long this attempt may take: its time-out, or what is left until the deadline. */
  readonly remainingMs: number
  /** Why there is another attempt; undefined in the first. */
  readonly lastError: unknown
}

export type Work<T> = (attempt: Attempt) => T | PromiseLike<T>

/** What one operation has of its own. */
export interface CallOptions {
  /** What events call the operation. */
  readonly name?: string | undefined
  /** The caller's own: ends a wait at once, and rejects with its reason. */
  readonly signal?: AbortSignal | undefined
  readonly idempotencyKey?: string | undefined
  /** Inside of another operation's attempt it makes one attempt only, if `./context` is there to tell; unless this is said. */
  readonly nested?: 'allow' | undefined
  /** Your word that the call may be made twice at once, which hedging needs; a key says so too. */
  readonly idempotent?: boolean | undefined
  /**
   * Why the call must not be made twice. `not-idempotent`: unless the first provably never arrived; `not-replayable`:
   * not even then, for its body may have been read. Absent: the caller says it may.
   */
  readonly once?: 'not-idempotent' | 'not-replayable' | undefined
  /** An earlier end than the policy's: wall time, in ms since the epoch. */
  readonly deadlineAt?: number | undefined
  /** How long a call usually takes: an attempt that cannot end in time is not begun. */
  readonly expectedCallMs?: number | undefined
}

export const NO_OPTIONS: CallOptions = {}

/** What surrounds a call and is no part of the policy. `A` is what `onExhausted` puts in the place of an error. */
export interface RetryOptions<T = unknown, A = never> extends CallOptions {
  /** What the pipeline is called that the operation belongs to, and its key in there. */
  readonly client?: string
  readonly key?: string
  /** Shared with other calls; `false`: none, and nothing but the policy limits the retries. Default: the process's. */
  readonly budget?: Budget | false
  readonly breaker?: Breaker
  /** What else every attempt must pass, after the breaker, in this order: bulkheads, limits, a kill switch. */
  readonly gates?: readonly Gate[]
  /** What a thrown error means; undefined leaves it to the ordinary rules. */
  readonly classify?: (error: unknown) => Fault | Failure | undefined
  /** What a returned value means; undefined is a success. A failure that is not retried any more is returned all the same. */
  readonly classifyResult?: (value: T) => Fault | Outcome | undefined
  /** A returned failure will be retried: its resources can go. */
  readonly discard?: (value: T) => void
  /** The waits as a function, in place of the policy's curve and jitter; its floor and its cap still hold. */
  readonly curve?: Curve
  /** Whether the last attempt is made only `if-it-fits` the deadline by `expectedCallMs` (the default), or `always`. */
  readonly lastAttempt?: 'if-it-fits' | 'always'
  /** How long a call usually takes, asked when it matters, where `expectedCallMs` does not say. */
  readonly usualCallMs?: () => number
  /** How long an attempt may take, asked before each, in place of the policy's own number. */
  readonly attemptTimeoutMs?: () => number
  /** Asked when retries could not help: its answer takes the error's place. */
  readonly onExhausted?: (exhausted: Exhausted) => A | PromiseLike<A>
  readonly telemetry?: Telemetry
  /** Time and chance, for tests. */
  readonly ports?: { readonly clock?: Clock; readonly random?: Random }
}
