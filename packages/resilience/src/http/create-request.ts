import type { IncomingMessage } from 'node:http'
import { aFunction } from '../check/problems.ts'
import { systemClock } from '../ports/system-clock.ts'
import { compilePolicy, frozenCopy } from '../retry/compile.ts'
import type { Exhausted } from '../retry/exhausted.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { ExpectedCalls } from '../wire/expected-call.ts'
import { checkOptions, WIRE_FIELDS, type WireOptions } from '../wire/options.ts'
import { carryOut, type WireClient } from '../wire/run.ts'
import { readCall, type HttpInit } from './call.ts'
import { Sender } from './send.ts'

export interface HttpOptions<A = never> extends WireOptions<IncomingMessage> {
  /** Asked when retries could not help: its answer takes the place of the error or the failed response. */
  readonly onExhausted?: (exhausted: Exhausted) => A | PromiseLike<A>
}

/** `A` is what `onExhausted` puts in the place of a failure. */
export interface RetryingRequest<A = never> {
  (url: string | URL, init?: HttpInit): Promise<IncomingMessage | A>
}

/**
 * `request` of `node:http` and `node:https` as a promise of the response, with the rules of `createFetch`: what is
 * repeated, what is waited for, what is sent along. Agents are the caller's, and their connections are kept alive.
 */
export function createRequest<A = never>(
  policy: RetryPolicyInput = {},
  options: HttpOptions<A> = {},
): RetryingRequest<A> {
  const compiled = compilePolicy(policy)
  checkOptions('createRequest', options, { ...WIRE_FIELDS, onExhausted: aFunction }, WRONG_WORDS)
  const ownPolicy = frozenCopy(policy)
  const { onExhausted, sendHeaders = true, ports } = options
  const client: WireClient<IncomingMessage, A> = {
    options: { name: 'http', ...options },
    expectedCalls: new ExpectedCalls(),
    read: ({ statusCode = 0, headers }) => ({ status: statusCode, headers }),
    onExhausted,
  }
  return async (url, init = {}) => {
    const kept = init.policy === undefined ? compiled : compilePolicy({ ...ownPolicy, ...init.policy })
    const call = readCall(new URL(url), init, kept.policy.maxAttempts)
    const sender = new Sender(call, { sendHeaders, clock: ports?.clock ?? systemClock })
    return carryOut(call, sender, kept, client)
  }
}

const WRONG_WORDS = { signal: 'request(url, { signal }): each call has its own' }
