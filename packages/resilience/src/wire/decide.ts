import { classifyStatus } from '../classify/status.ts'
import type { Outcome } from '../classify/outcome.ts'
import { timeoutHeader } from '../deadline/decide.ts'
import type { Attempt } from '../retry/options.ts'
import { askedWaitOf } from '../retry/rate-limit-headers.ts'
import type { HeaderSource } from '../retry/retry-after.ts'

/** RFC 9110 §9.2.2: made twice, they leave the server as made once. */
const IDEMPOTENT_METHODS: readonly string[] = ['GET', 'HEAD', 'OPTIONS', 'TRACE', 'PUT', 'DELETE']

export interface Repetition {
  /** In capital letters. */
  readonly method: string
  readonly hasKey: boolean
  /** What the caller says, which is worth more than what the method promises. */
  readonly idempotent: boolean | undefined
  readonly maxAttempts: number
}

/** Whether another attempt may follow one that reached the server. */
export function mayRepeat({ method, hasKey, idempotent, maxAttempts }: Repetition): boolean {
  return maxAttempts > 1 && (idempotent ?? (hasKey || IDEMPOTENT_METHODS.includes(method)))
}

/** Why a call is made only once though its policy has more attempts; undefined when it is not so. */
export function onceBecause(call: Repetition, isSingleUse: boolean): 'not-idempotent' | 'not-replayable' | undefined {
  if (call.maxAttempts === 1 || mayRepeat(call)) return undefined
  return isSingleUse ? 'not-replayable' : 'not-idempotent'
}

/** What a response means to a caller whose policy retries these statuses; `now` is wall time. */
export function classifyResponse(
  { status, headers }: { readonly status: number; readonly headers: HeaderSource },
  retryableStatusCodes: readonly number[],
  now: number,
): Outcome {
  const isRetryable = retryableStatusCodes.includes(status)
  return classifyStatus(status, retryableStatusCodes, isRetryable ? askedWaitOf(headers, now) : undefined)
}

/** What an attempt tells the server of itself: which one it is, and how long somebody waits for it. */
export function attemptHeaders({ attempt, remainingMs }: Pick<Attempt, 'attempt' | 'remainingMs'>): AttemptHeaders {
  return { 'retry-attempt': String(attempt), 'x-timeout-ms': timeoutHeader(remainingMs) }
}

export type AttemptHeaders = { readonly [name in 'retry-attempt' | 'x-timeout-ms']: string }

/** Of a failed response so much is read before the next attempt; a longer one costs more than a new connection. */
export const MOST_DRAINED_BYTES = 65_536 // more than any page that says sorry

export function sayWithheld(method: string, origin: string): string {
  return `${method} ${origin} failed and was not retried: a lost answer can mean that it was carried out. Choose one:
  idempotencyKey: true          sends an Idempotency-Key, the same on every attempt, to a server that keeps to it
  idempotent: true              you know that it does no harm to make the call twice
  policy: { maxAttempts: 1 }    one attempt is meant`
}
