import type { GiveUpReason, RetryPolicy, RetryPolicyInput } from '@secondwind/resilience'
import type { ControlLevel } from './control.ts'

/** What the service is asked to send, and under which conditions. */
export interface RetryTaskInput {
  /** http or https, without credentials and fragment. */
  readonly targetUrl: string
  /** POST unless told. */
  readonly method?: Method
  /** Sent with every attempt. */
  readonly headers?: TextByName
  /** Sent in UTF-8, character by character. */
  readonly body?: string
  /** Bytes that are no text, instead of `body`. */
  readonly bodyBase64?: string
  /** A body that was uploaded with `client.bodies.upload`, instead of `body`. */
  readonly bodyRef?: string
  /** A policy that the service knows; `default` unless told. */
  readonly policyId?: string
  /** A policy of the task's own, instead of `policyId`. */
  readonly policy?: RetryPolicyInput
  /** The same key and the same request: the same task. Sent as `Idempotency-Key` with every attempt. */
  readonly idempotencyKey?: string
  /** How long to wait before the first attempt. */
  readonly delayMs?: number
  /** No attempt before this instant; instead of `delayMs`. */
  readonly notBefore?: number
  /** No attempt after this instant, whatever the policy allows. */
  readonly deadlineAt?: number
  /** Of a hand-over: attempts that were made in process. */
  readonly attemptsMade?: number
  /** Of a hand-over: time that was spent in process. */
  readonly elapsedMs?: number
  /** Kept and shown, never sent. */
  readonly metadata?: TextByName
  /** Told of the end, by one POST that is a task of its own. */
  readonly callbackUrl?: string
}

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

export type TextByName = { readonly [name: string]: string }

/** A task as it is shown: without its body, and with `[redacted]` in the place of what is secret. */
export interface RetryTask {
  readonly taskId: string
  /** Whose it is. */
  readonly tenant: string
  readonly status: TaskStatus
  /** Attempts made in this generation, those before a hand-over included. */
  readonly attemptNumber: number
  /** Of a `PENDING` task. */
  readonly nextAttemptAt?: number
  /** Why it waits, and until when, in a sentence. Not in the answer to `enqueue`. */
  readonly waits?: string
  /** Why an `EXHAUSTED` task was given up. */
  readonly reason?: GiveUpReason
  /** The gate that held it until its deadline, and since when it did: since the task was due. */
  readonly heldBy?: GateReason
  readonly heldSince?: number
  /** Of a task that has ended. */
  readonly endedAt?: number
  /** The attempt that is under way is the last. */
  readonly cancelRequested?: true
  readonly lastAttempt?: AttemptEnd
  readonly targetUrl: string
  readonly method: string
  readonly headers: TextByName
  /** Absent in lists, except of a body that is kept apart. */
  readonly bodyBytes?: number
  /** Of a body that is kept apart: one that was uploaded, or is large. */
  readonly bodyRef?: string
  /** The origin of `targetUrl`, without a dot at the end of its host. */
  readonly destination: string
  /** `inline` for a task that came with a policy of its own. */
  readonly policyId: string
  readonly policyVersion: number
  readonly policy?: RetryPolicy
  readonly idempotencyKey: string
  readonly createdAt: number
  /** The deadline: no attempt begins later. */
  readonly expiresAt: number
  /** The deadline that the caller gave. */
  readonly deadlineAt?: number
  /** 1, and one more with every replay. */
  readonly generation: number
  readonly metadata?: TextByName
  /** Told of its end. */
  readonly callbackUrl?: string
  /** The id of the key that brought it; `admin`, `local` or `system` where it was none that was made. */
  readonly createdBy?: string
  /** Grows with every change. */
  readonly version: number
  /** What whoever created it should know. */
  readonly note?: string
}

export type TaskStatus = 'PENDING' | 'IN_FLIGHT' | 'SUCCEEDED' | 'EXHAUSTED' | 'CANCELLED'

/** How an attempt ended. */
export interface AttemptEnd {
  readonly outcome: AttemptOutcome
  readonly responseStatus?: number
  /** Stable: `http-503`, `connect-refused`, `attempt-timeout` … */
  readonly errorCode?: string
  readonly errorMessage?: string
}

export type AttemptOutcome = 'success' | 'transient' | 'throttled' | 'ambiguous' | 'permanent' | 'ignored'

/** One attempt, as the log keeps it. */
export interface Attempt extends AttemptEnd {
  readonly taskId: string
  readonly generation: number
  /** The first is 1. */
  readonly attemptNumber: number
  readonly startedAt: number
  readonly durationMs: number
  readonly response?: CapturedResponse
}

/** What a target answered, up to a limit. */
export interface CapturedResponse {
  readonly headers: TextByName
  readonly body: string
  readonly bodyEncoding: 'utf8' | 'base64'
  readonly truncated: boolean
}

/** Why a task is not under way. */
export interface Explanation {
  readonly taskId: string
  readonly status: TaskStatus
  readonly explanation: string
  readonly nextAttemptAt?: number
  /** The gate that keeps it, if one does. */
  readonly hold?: Hold
}

/** A closed gate. */
export interface Hold {
  readonly reason: HoldReason
  /** When it opens, as far as the service knows; behind `breaker-open` and `credit` the next probe is sent then. */
  readonly until?: number
  /** Of `breaker-open`: since when nothing but failures has come back from the destination. */
  readonly since?: number
  /** Of `breaker-open` and `credit`: how far apart probes are sent now. */
  readonly everyMs?: number
  /** Of the kill switch. */
  readonly level?: ControlLevel
  readonly controlId?: string
  /** What was said when it was shut. */
  readonly because?: string
  /** An operator has shut it, and only an operator can open it. */
  readonly isByOperator?: true
  /** A stop rule has shut it again, no operator by hand. */
  readonly isByRule?: true
  /** What else is shut now, and opens no later. */
  readonly others?: readonly Hold[]
}

export type HoldReason =
  | 'kill-switch'
  | 'paused'
  | 'breaker-open'
  | 'probing'
  | 'retry-after'
  | 'slow-start'
  | 'concurrency'
  | 'rate-limited'
  | 'credit'
  | 'budget'
  | 'slots'
  | 'store'

/** What can keep a task until its deadline: not what the service itself lacks. */
export type GateReason = Exclude<HoldReason, 'slots' | 'store'>

/** Which tasks to list; all that is given must hold. */
export interface TaskFilter {
  readonly status?: TaskStatus
  /** Its origin, in any spelling, or the name that it was given. */
  readonly destination?: string
  readonly policyId?: string
  /** The one task that has this key. */
  readonly idempotencyKey?: string
  /** At least so many attempts made. */
  readonly attemptFrom?: number
  /** Of the newest attempt. */
  readonly errorCode?: string
  /** Accepted at this instant or later. */
  readonly createdFrom?: number
  /** Accepted before this instant. */
  readonly createdTo?: number
  /** Dead letters that were given up at this instant or later. */
  readonly endedFrom?: number
  /** Dead letters that were given up before this instant. */
  readonly endedTo?: number
}
