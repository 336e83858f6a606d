import { systemClock } from '../ports/system-clock.ts'
import { compilePolicy, frozenCopy, type CompiledPolicy } from '../retry/compile.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { ExpectedCalls } from '../wire/expected-call.ts'
import { carryOut } from '../wire/run.ts'
import { readCall } from './call.ts'
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
  { options, expectedCalls }: Shared<A>,
): Promise<Response | A> {
  const { maxReplayBytes = DEFAULT_MAX_REPLAY_BYTES, sendHeaders = !isBrowser(), ports, onExhausted } = options
  const call = readCall(input, init, { maxAttempts: policy.policy.maxAttempts, maxReplayBytes })
  const sender = new Sender(call, { fetch, sendHeaders, clock: ports?.clock ?? systemClock })
  return carryOut(call, sender, policy, {
    options: { name: 'fetch', ...options },
    expectedCalls,
    read: response => response,
    onExhausted: onExhausted && (exhausted => onExhausted({ ...exhausted, request: () => requestOf(call) })),
  })
}

/** Browsers and their workers call themselves Mozilla; servers and edges do not. */
function isBrowser(): boolean {
  return globalThis.navigator?.userAgent?.startsWith('Mozilla/') ?? false
}
