import { systemClock } from '../ports/system-clock.ts'
import { warnOnce } from '../ports/telemetry.ts'
import type { CompiledPolicy } from '../retry/compile.ts'
import type { Exhausted } from '../retry/exhausted.ts'
import { historyOf } from '../retry/history.ts'
import type { Attempt, CallOptions, RetryOptions } from '../retry/options.ts'
import type { HeaderSource } from '../retry/retry-after.ts'
import { retryCompiled } from '../retry/run.ts'
import { classifyResponse, sayWithheld } from './decide.ts'
import type { ExpectedCalls } from './expected-call.ts'
import type { WireOptions } from './options.ts'

/** One call, as far as its repetition goes. */
export interface WireCall extends Pick<CallOptions, 'signal' | 'idempotencyKey' | 'once'> {
  /** Empty when the URL cannot be read, which whoever makes the call will say. */
  readonly origin: string
  /** In capital letters. */
  readonly method: string
  /** The caller said that it is made once, and need not be told. */
  readonly isOnceByWord: boolean
}

/** Makes the attempts of one call, one after the other, and holds the response of the newest only. */
export interface WireSender<R> {
  send(attempt: Attempt): Promise<R>
  /** Since the newest attempt began. */
  readonly elapsedMs: number
  /** The response failed, and another attempt is to follow. */
  drain(): void
  /** The end of the operation, with the newest response or with what took its place. */
  succeeded(answer: unknown): void
  failed(): void
}

/** What all calls of one client have in common. */
export interface WireClient<R, A> {
  readonly options: WireOptions<R>
  readonly expectedCalls: ExpectedCalls
  readonly read: (response: R) => { readonly status: number; readonly headers: HeaderSource }
  readonly onExhausted?: ((exhausted: Exhausted) => A | PromiseLike<A>) | undefined
}

/** Makes a call until it succeeds, or until its policy says that it is enough. */
export async function carryOut<R, A = never>(
  call: WireCall,
  sender: WireSender<R>,
  policy: CompiledPolicy,
  client: WireClient<R, A>,
): Promise<R | A> {
  const teach = (result: unknown): void => {
    if (call.once === undefined || call.isOnceByWord || historyOf(result)?.reason !== call.once) return
    const place = `${call.method} ${call.origin}`
    warnOnce('not-idempotent', place, sayWithheld(call.method, call.origin), client.options.telemetry)
  }
  try {
    const answer = await retryCompiled(sender.send.bind(sender), policy, optionsOf(call, sender, policy, client))
    sender.succeeded(answer)
    teach(answer)
    return answer
  } catch (error) {
    sender.failed()
    teach(error)
    throw error
  }
}

function optionsOf<R, A>(
  { origin, signal, idempotencyKey, once }: WireCall,
  sender: WireSender<R>,
  { policy: { retryableStatusCodes } }: CompiledPolicy,
  { options, expectedCalls, read, onExhausted }: WireClient<R, A>,
): RetryOptions<R, A> {
  const { clock = systemClock } = options.ports ?? {}
  return {
    ...options,
    ...(onExhausted && { onExhausted }),
    signal,
    idempotencyKey,
    once,
    expectedCallMs: expectedCalls.expectedMs(origin),
    classifyResult: response => {
      const outcome = classifyResponse(read(response), retryableStatusCodes, clock.now())
      if (outcome.kind === 'success') expectedCalls.add(origin, sender.elapsedMs)
      return outcome
    },
    discard: () => sender.drain(),
  }
}
