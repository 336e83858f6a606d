import { request as requestHttp, type ClientRequest, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { pipeline } from 'node:stream'
import type { Clock } from '../ports/clock.ts'
import { followSignal, unfollowSignal } from '../ports/signals.ts'
import type { Attempt } from '../retry/options.ts'
import { attemptHeaders, MOST_DRAINED_BYTES } from '../wire/decide.ts'
import type { WireSender } from '../wire/run.ts'
import { withHeader, type HttpBody, type HttpCall } from './call.ts'

export interface SendOptions {
  readonly sendHeaders: boolean
  readonly clock: Clock
}

export class Sender implements WireSender<IncomingMessage> {
  readonly #call: HttpCall
  readonly #options: SendOptions
  #response: IncomingMessage | undefined
  #startedAt = 0

  constructor(call: HttpCall, options: SendOptions) {
    this.#call = call
    this.#options = options
  }

  get elapsedMs(): number {
    return this.#options.clock.monotonic() - this.#startedAt
  }

  async send(attempt: Attempt): Promise<IncomingMessage> {
    this.failed()
    this.#startedAt = this.#options.clock.monotonic()
    const { signal } = attempt
    const body = await this.#call.body.next(signal)
    const request = this.#request(attempt)
    try {
      return (this.#response = await responseTo(request, body, signal))
    } catch (error) {
      request.destroy()
      throw error
    }
  }

  /** Read to its end, its connection goes back to the agent before the wait. A longer one costs more than a new one. */
  drain(): void {
    const response = this.#response!
    let bytes = 0
    response.on('error', () => {})
    response.on('data', (chunk: Buffer) => {
      if ((bytes += chunk.byteLength) > MOST_DRAINED_BYTES) response.destroy()
    })
  }

  succeeded(answer: unknown): void {
    const { signal } = this.#call
    const response = this.#response
    if (response !== answer) return this.failed()
    if (response === undefined || signal === undefined || response.closed) return
    // The caller's signal also ends the reading of the body, and knows nothing of it afterwards.
    const follower = { onAbort: (reason: unknown): unknown => response.destroy(reason as Error) }
    if (signal.aborted) return void follower.onAbort(signal.reason)
    followSignal(signal, follower)
    response.once('close', () => unfollowSignal(signal, follower))
  }

  /** Another attempt begins, or there is no use for the last one: what is not read by now is not wanted. */
  failed(): void {
    this.#response?.destroy()
    this.#response = undefined
  }

  #request(attempt: Attempt): ClientRequest {
    const { url, options } = this.#call
    let { headers } = this.#call
    if (this.#options.sendHeaders)
      for (const [name, value] of Object.entries(attemptHeaders(attempt))) headers = withHeader(headers, name, value)
    return (url.protocol === 'https:' ? requestHttps : requestHttp)(url, { ...options, headers })
  }
}

function responseTo(request: ClientRequest, body: HttpBody, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    // Heard also when there is a response: an error of a request that nobody hears ends the process.
    request.on('response', resolve).on('error', reject)
    signal.addEventListener('abort', () => request.destroy(signal.reason as Error), { once: true })
    if (signal.aborted) request.destroy(signal.reason as Error)
    else if (body === null || body === undefined) request.end()
    else if (typeof body === 'string' || ArrayBuffer.isView(body)) request.end(body)
    // A body that was cut off by an early response has done its part; that one has been taken by then.
    else pipeline(body, request, error => error && reject(error))
  })
}
