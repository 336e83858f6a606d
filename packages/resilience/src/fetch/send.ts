import type { Clock } from '../ports/clock.ts'
import type { Attempt } from '../retry/options.ts'
import { isStream } from '../wire/body.ts'
import { attemptHeaders } from '../wire/decide.ts'
import { NotReplayableError } from '../wire/errors.ts'
import type { WireSender } from '../wire/run.ts'
import type { SentBody } from './body.ts'
import type { FetchCall } from './call.ts'
import { Exchange } from './exchange.ts'
import type { FetchOptions } from './options.ts'

export interface SendOptions {
  readonly fetch: NonNullable<FetchOptions['fetch']>
  readonly sendHeaders: boolean
  readonly clock: Clock
}

/** Known by every copy of this library: a call that carries it is an attempt, and not to be retried by another. */
const ATTEMPT = Symbol.for('@secondwind/resilience.attempt')

export function isAttempt(init: object | undefined): boolean {
  return init !== undefined && ATTEMPT in init
}

/** Makes the attempts of one call, one after the other, and holds the response of the newest only. */
export class Sender implements WireSender<Response> {
  readonly #call: FetchCall
  readonly #options: SendOptions
  #exchange: Exchange | undefined

  constructor(call: FetchCall, options: SendOptions) {
    this.#call = call
    this.#options = options
  }

  get elapsedMs(): number {
    return this.#options.clock.monotonic() - this.#exchange!.startedAt
  }

  async send(attempt: Attempt): Promise<Response> {
    this.#exchange?.drop()
    const { fetch, clock } = this.#options
    const exchange = (this.#exchange = new Exchange(attempt.signal, clock.monotonic()))
    const body = await this.#call.body.next(exchange.signal)
    const init = {
      ...initOf(this.#call, body),
      headers: this.#headersOf(attempt),
      signal: exchange.signal,
      [ATTEMPT]: true,
    }
    return exchange.arrived(await fetch(this.#call.input, init))
  }

  /** The response failed, and another attempt is to follow. */
  drain(): void {
    this.#exchange?.drain()
  }

  /** The end of the operation, with the newest response or with what took its place. */
  succeeded(answer: unknown): void {
    this.#call.body.end?.()
    if (this.#exchange?.response === answer) this.#exchange?.handOver(this.#call.signal)
    else this.#exchange?.replacedBy(answer)
  }

  failed(): void {
    this.#call.body.end?.()
    this.#exchange?.drop()
  }

  #headersOf(attempt: Attempt): Headers {
    const headers = new Headers(this.#call.headers)
    if (!this.#options.sendHeaders) return headers
    // What the caller wrote is the caller's.
    for (const [name, value] of Object.entries(attemptHeaders(attempt)))
      if (!headers.has(name)) headers.set(name, value)
    return headers
  }
}

/** The call once more, for whoever takes it over. */
export async function requestOf(call: FetchCall): Promise<Request> {
  if (call.body.isSingleUse) throw new NotReplayableError('the body was a stream, which has been sent')
  const body = await call.body.next(new AbortController().signal)
  return new Request(call.input, { ...initOf(call, body), headers: call.headers, signal: null })
}

function initOf(call: FetchCall, body: SentBody): RequestInit {
  if (body === undefined) return call.init
  // Not every library of types knows the field yet; without it a stream is refused.
  return isStream(body) ? Object.assign({ duplex: 'half' }, call.init, { body }) : { ...call.init, body }
}
