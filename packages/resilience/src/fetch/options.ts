import { checkFields, isRecord, oneOf, text, wholeNumber, type FieldCheck } from '../check/problems.ts'
import type { Exhausted } from '../retry/exhausted.ts'
import type { RetryOptions } from '../retry/options.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { InvalidOptionError } from './errors.ts'

/** `fetch`, to be called like the one it stands in for. `A` is what `onExhausted` puts in the place of a failure. */
export interface RetryingFetch<A = never> {
  (input: string | URL | Request, init?: RetryingInit): Promise<Response | A>
}

/** What a call may say beyond `fetch`'s own fields. */
export interface RetryingInit extends Omit<RequestInit, 'body'> {
  /** As in `fetch`, or a function that makes a new body for each attempt. A stream can be sent only once. */
  readonly body?: RequestBody | null | BodyMaker | undefined
  /** Sent as `Idempotency-Key`, the same on every attempt: a key of your own, or `true` to have one made. */
  readonly idempotencyKey?: string | true | undefined
  /** Your word that the call may be repeated, or that it may not; else its method and its key tell. */
  readonly idempotent?: boolean | undefined
  /** Fields that replace those of the fetch's own policy, for this call. */
  readonly policy?: RetryPolicyInput | undefined
}

export type RequestBody = NonNullable<RequestInit['body']>

export type BodyMaker = () => RequestBody | null | PromiseLike<RequestBody | null>

/** What surrounds all calls of one fetch and is no part of the policy. */
export interface FetchOptions<A = never> extends Pick<
  RetryOptions<Response>,
  'name' | 'budget' | 'breaker' | 'classify' | 'curve' | 'lastAttempt' | 'telemetry' | 'ports'
> {
  /** Asked when retries could not help: its answer takes the place of the error or the failed response. */
  readonly onExhausted?: (exhausted: ExhaustedFetch) => A | PromiseLike<A>
  /** What makes the calls; else the global `fetch`, as it is at each call. */
  readonly fetch?: (input: string | URL | Request, init?: RequestInit) => Promise<Response>
  /**
   * Whether `Retry-Attempt` and `X-Timeout-Ms` are sent. Not in browsers unless told: to another origin they would
   * cost a preflight, which the server may refuse.
   */
  readonly sendHeaders?: boolean
  /** How much of a `Request`'s body is kept to be sent again; longer ones are refused. 1 MiB unless told. */
  readonly maxReplayBytes?: number
}

export interface ExhaustedFetch extends Exhausted {
  /** The call as it would be made again, key and body included. Rejects if its body was a stream: that is gone. */
  request(): Promise<Request>
}

/** Room for what people send as JSON; an upload that is longer deserves a decision. */
export const DEFAULT_MAX_REPLAY_BYTES = 1_048_576

/** Throws if `createFetch` was given something it cannot use. */
export function checkFetchOptions(options: unknown): void {
  const problems = isRecord(options)
    ? checkFields(options, OPTION_FIELDS, WRONG_WORDS)
    : [{ at: 'options', is: options, say: 'must be an object' }]
  if (problems.length > 0) throw new InvalidOptionError('createFetch cannot use its options', problems)
}

/** Throws if a call says something that is no answer to our own fields; `fetch` checks its own. */
export function checkInit({ idempotencyKey, idempotent }: RetryingInit, keyHeader: string | undefined): void {
  const problems = checkFields({ idempotencyKey, idempotent }, { idempotencyKey: KEY, idempotent: YES_OR_NO })
  if (typeof idempotencyKey === 'string' && keyHeader !== undefined && keyHeader !== idempotencyKey)
    problems.push({ at: 'idempotencyKey', is: idempotencyKey, say: `contradicts the header, "${keyHeader}"` })
  if (problems.length > 0) throw new InvalidOptionError('the call cannot be made', problems)
}

const YES_OR_NO: FieldCheck = value => (typeof value === 'boolean' ? undefined : 'true or false')
const FUNCTION: FieldCheck = value => (typeof value === 'function' ? undefined : 'a function')
const OBJECT: FieldCheck = value => (isRecord(value) ? undefined : 'an object')

/** One key for all calls would make the server answer every call with the first one's result. */
const MADE_KEY_WORDS: readonly unknown[] = ['auto', 'true']

const KEY: FieldCheck = value => {
  if (MADE_KEY_WORDS.includes(value)) return 'true, without quotes, to have a key made for the call'
  if (value === true || (typeof value === 'string' && /^[\x21-\x7e]{1,255}$/.test(value))) return undefined
  return 'a text of 1 to 255 visible ASCII characters, or true to have one made'
}

const OPTION_FIELDS: { readonly [option in keyof FetchOptions]-?: FieldCheck } = {
  name: text(200),
  budget: value => (value === false || isRecord(value) ? undefined : 'a budget, or false'),
  breaker: OBJECT,
  classify: FUNCTION,
  curve: FUNCTION,
  lastAttempt: oneOf('if-it-fits', 'always'),
  telemetry: FUNCTION,
  ports: OBJECT,
  onExhausted: FUNCTION,
  fetch: FUNCTION,
  sendHeaders: YES_OR_NO,
  maxReplayBytes: wholeNumber(0, Number.MAX_SAFE_INTEGER),
}

const WRONG_WORDS = {
  maxAttempts: 'createFetch({ maxAttempts }): the policy is the first argument',
  retries: 'createFetch({ maxAttempts }): it counts all calls, retries + 1',
  timeout: 'createFetch({ attemptTimeoutMs, totalBudgetMs })',
  signal: 'fetch(url, { signal }): each call has its own',
}
