import type { Dispatcher } from 'undici'
import { systemClock } from '../ports/system-clock.ts'
import { compilePolicy } from '../retry/compile.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { ExpectedCalls } from '../wire/expected-call.ts'
import { checkOptions, WIRE_FIELDS, type WireOptions } from '../wire/options.ts'
import { carryOut, type WireClient } from '../wire/run.ts'
import { readCall } from './call.ts'
import { CallController } from './controller.ts'
import type { Exchange } from './exchange.ts'
import { Sender } from './send.ts'

export type UndiciOptions = WireOptions<unknown>

/**
 * An interceptor for a dispatcher: `new Agent().compose(retrying(policy))`. What goes through it is repeated by the
 * rules of `createFetch`; as with undici itself, a failed response is an answer, and a failed connection an error.
 *
 * A body that is a stream can be sent once, and so is the call; `replayable` makes one that can be sent again.
 */
export function retrying(
  policy: RetryPolicyInput = {},
  options: UndiciOptions = {},
): Dispatcher.DispatcherComposeInterceptor {
  const compiled = compilePolicy(policy)
  checkOptions('retrying', options, WIRE_FIELDS)
  const client: WireClient<Exchange, never> = {
    options: { name: 'undici', ...options },
    expectedCalls: new ExpectedCalls(),
    read: exchange => exchange.answer!,
  }
  const { sendHeaders = true, ports } = options
  return dispatch => (request, handler) => {
    // A connection that becomes something else is no call that could be made again.
    if (request.upgrade || request.method === 'CONNECT') return dispatch(request, handler)
    const controller = new CallController()
    const call = readCall(request, compiled.policy.maxAttempts, controller.signal)
    const sender = new Sender({
      call,
      request,
      dispatch,
      handler,
      controller,
      sendHeaders,
      clock: ports?.clock ?? systemClock,
    })
    // Before anything else: whoever aborts while nothing is sent yet must have something to abort.
    handler.onRequestStart?.(controller, null)
    carryOut(call, sender, compiled, client).catch((error: Error) => handler.onResponseError?.(controller, error))
    return true
  }
}
