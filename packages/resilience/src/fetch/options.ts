import { aFunction, wholeNumber, type FieldCheck } from '../check/problems.ts'
import type { Exhausted } from '../retry/exhausted.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { checkOptions, WIRE_FIELDS, type CallWords, type WireOptions } from '../wire/options.ts'

/** `fetch`, to be called like the one it stands in for. `A` is what `onExhausted` puts in the place of a failure. */
export interface RetryingFetch<A = never> {
  (input: string | URL | Request, init?: RetryingInit): Promise<Response | A>
}

/** What a call may say beyond `fetch`'s own fields. */
export interface RetryingInit extends Omit<RequestInit, 'body'>, CallWords {
  /** As in `fetch`, or a function that makes a new body for each attempt. A stream can be sent only once. */
  readonly body?: RequestBody | null | BodyMaker | undefined
  /** Fields that replace those of the fetch's own policy, for this call. */
  readonly policy?: RetryPolicyInput | undefined
}

export type RequestBody = NonNullable<RequestInit['body']>

export type BodyMaker = () => RequestBody | null | PromiseLike<RequestBody | null>

/** What surrounds all calls of one fetch and is no part of the policy. */
export interface FetchOptions<A = never> extends WireOptions<Response> {
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
  checkOptions('createFetch', options, OPTION_FIELDS, WRONG_WORDS)
}

const OPTION_FIELDS: { readonly [option in keyof FetchOptions]-?: FieldCheck } = {
  ...WIRE_FIELDS,
  onExhausted: aFunction,
  fetch: aFunction,
  maxReplayBytes: wholeNumber(0, Number.MAX_SAFE_INTEGER),
}

const WRONG_WORDS = {
  signal: 'fetch(url, { signal }): each call has its own',
}
