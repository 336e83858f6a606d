import type { Dispatcher } from 'undici'
import type { Clock } from '../ports/clock.ts'
import type { Attempt } from '../retry/options.ts'
import { attemptHeaders } from '../wire/decide.ts'
import type { WireSender } from '../wire/run.ts'
import { withHeaders, type UndiciCall } from './call.ts'
import type { CallController } from './controller.ts'
import { Exchange } from './exchange.ts'

export interface SenderOptions {
  readonly call: UndiciCall
  readonly request: Dispatcher.DispatchOptions
  readonly dispatch: Dispatcher.Dispatch
  readonly handler: Dispatcher.DispatchHandler
  readonly controller: CallController
  readonly sendHeaders: boolean
  readonly clock: Clock
}

export class Sender implements WireSender<Exchange> {
  readonly #options: SenderOptions
  #exchange: Exchange | undefined

  constructor(options: SenderOptions) {
    this.#options = options
  }

  get elapsedMs(): number {
    return this.#options.clock.monotonic() - this.#exchange!.startedAt
  }

  send(attempt: Attempt): Promise<Exchange> {
    this.#exchange?.drop()
    const { call, request, dispatch, handler, controller, sendHeaders, clock } = this.#options
    const headers = sendHeaders ? withHeaders(request.headers, attemptHeaders(attempt)) : request.headers
    return new Promise((resolve, reject) => {
      const settle = (error?: Error): void => (error === undefined ? resolve(exchange) : reject(error))
      const exchange = (this.#exchange = new Exchange(handler, controller, clock.monotonic(), settle))
      attempt.signal.addEventListener('abort', () => exchange.abort(attempt.signal.reason as Error), { once: true })
      dispatch({ ...request, headers: headers ?? null, body: call.body ?? null }, exchange)
    })
  }

  drain(): void {
    this.#exchange?.drain()
  }

  succeeded(): void {
    this.#exchange!.deliver()
  }

  failed(): void {
    this.#exchange?.drop()
  }
}
