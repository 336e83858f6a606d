import { systemClock } from '../ports/system-clock.ts'
import { warnOnce } from '../ports/telemetry.ts'
import { compilePolicy, frozenCopy, type CompiledPolicy } from '../retry/compile.ts'
import { historyOf } from '../retry/history.ts'
import type { RetryOptions } from '../retry/options.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { retryCompiled } from '../retry/run.ts'
import { readCall, type FetchCall } from './call.ts'
import { classifyResponse, sayWithheld } from './decide.ts'
import { ExpectedCalls } from './expected-call.ts'
import { Instances } from './instances.ts'
import {
  checkFetchOptions,
  DEFAULT_MAX_REPLAY_BYTES,
  type FetchOptions,
  type RetryingFetch,
  type RetryingInit,
} from './options.ts'
import { isAttempt, requestOf, Sender, type SendOptions } from './send.ts'

const instances = /* @__PURE__ */ new Instances()

/**
 * A `fetch` that keeps a policy; create it once and share it, for it learns how long its calls take.
 *
 * GET, HEAD, OPTIONS, TRACE, PUT and DELETE are repeated; other calls only with an idempotency key, on the caller's
 * word, or when the failure proves that nothing was sent. As with `fetch`, a failed response is returned and a failed
 * connection is thrown: the last one, with `historyOf` beside it. The time-out and the deadline of the policy cover an
 * attempt until its headers are there; while the body is read, the caller's own signal counts, and nothing else.
 */
export function createFetch<A = never>(policy: RetryPolicyInput = {}, options: FetchOptions<A> = {}): RetryingFetch<A> {
  const compiled = compilePolicy(policy)
  checkFetchOptions(options)
  const ownPolicy = frozenCopy(policy)
  const uses = instances.add(options.telemetry)
  const shared: Shared<A> = { options: { ...options }, expectedCalls: new ExpectedCalls() }
  const underlying = globalThis.fetch
  const retryingFetch: RetryingFetch<A> = async (input, init) => {
    uses.count++
    // Whoever puts this fetch in the place of the global one, or something around it, does not want it to call itself.
    if (isAttempt(init)) return underlying(input, init as RequestInit)
    const isGlobal = (globalThis.fetch as unknown) === retryingFetch
    const fetch = shared.options.fetch ?? (isGlobal ? underlying : globalThis.fetch)
    const kept = init?.policy === undefined ? compiled : compilePolicy({ ...ownPolicy, ...init.policy })
    return run(input, init ?? {}, kept, fetch, shared)
  }
  return retryingFetch
}

/** What all calls of one fetch have in common. */
interface Shared<A> {
  readonly options: FetchOptions<A>
  readonly expectedCalls: ExpectedCalls
}

async function run<A>(
  input: string | URL | Request,
  init: RetryingInit,
  policy: CompiledPolicy,
  fetch: SendOptions['fetch'],
  shared: Shared<A>,
): Promise<Response | A> {
  const { maxReplayBytes = DEFAULT_MAX_REPLAY_BYTES, sendHeaders = !isBrowser(), ports, telemetry } = shared.options
  const call = readCall(input, init, { maxAttempts: policy.policy.maxAttempts, maxReplayBytes })
  const sender = new Sender(call, { fetch, sendHeaders, clock: ports?.clock ?? systemClock })
  const work = sender.send.bind(sender)
  const teach = (result: unknown): void => {
    if (call.once === undefined || call.isOnceByWord || historyOf(result)?.reason !== call.once) return
    warnOnce('not-idempotent', `${call.method} ${call.origin}`, sayWithheld(call.method, call.origin), telemetry)
  }
  try {
    const answer = await retryCompiled(work, policy, optionsOf(call, policy, sender, shared))
    sender.succeeded(answer)
    teach(answer)
    return answer
  } catch (error) {
    sender.failed()
    teach(error)
    throw error
  }
}

function optionsOf<A>(
  call: FetchCall,
  { policy: { retryableStatusCodes } }: CompiledPolicy,
  sender: Sender,
  { options, expectedCalls }: Shared<A>,
): RetryOptions<Response, A> {
  const { onExhausted, ...others } = options
  const { clock = systemClock } = options.ports ?? {}
  const { origin, signal, idempotencyKey, once } = call
  return {
    name: 'fetch',
    ...others,
    ...(onExhausted && { onExhausted: exhausted => onExhausted({ ...exhausted, request: () => requestOf(call) }) }),
    signal,
    idempotencyKey,
    once,
    expectedCallMs: expectedCalls.expectedMs(origin),
    classifyResult: response => {
      const outcome = classifyResponse(response, retryableStatusCodes, clock.now())
      if (outcome.kind === 'success') expectedCalls.add(origin, sender.elapsedMs)
      return outcome
    },
    discard: () => sender.drain(),
  }
}

/** Browsers and their workers call themselves Mozilla; servers and edges do not. */
function isBrowser(): boolean {
  return globalThis.navigator?.userAgent?.startsWith('Mozilla/') ?? false
}
