import type { Dispatcher } from 'undici'
import { MOST_DRAINED_BYTES } from '../wire/decide.ts'
import type { CallController } from './controller.ts'

type Controller = Dispatcher.DispatchController
type Headers = Parameters<NonNullable<Dispatcher.DispatchHandler['onResponseStart']>>[2]

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly message: string | undefined
}

/**
 * One attempt on the wire.
 *
 *   waiting ──► held ──► delivered
 *      │          └──► drained ──► dropped, or delivered after all
 *      └──► failed
 *
 *  1. `held`: the headers are there, and nobody has decided yet. What comes meanwhile is kept.
 *  2. `drained`: another attempt follows. The body is read so that its connection is free, and kept, for if no attempt
 *     follows after all it is the caller's.
 *  3. Only what is delivered reaches the caller; once that has begun, there is no other attempt.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly startedAt: number
  answer: Answer | undefined = undefined
  readonly #handler: Dispatcher.DispatchHandler
  readonly #caller: CallController
  readonly #settle: (error?: Error) => void
  #controller: Controller | undefined = undefined
  #phase: 'waiting' | 'held' | 'drained' | 'delivered' | 'dropped' = 'waiting'
  #chunks: Buffer[] = []
  #bytes = 0
  #end: { readonly trailers: Headers } | { readonly error: Error } | undefined = undefined
  #abortedWith: Error | undefined = undefined

  /** `settle` is called once: when the headers are there, or with what came in their place. */
  constructor(
    handler: Dispatcher.DispatchHandler,
    caller: CallController,
    startedAt: number,
    settle: (error?: Error) => void,
  ) {
    this.#handler = handler
    this.#caller = caller
    this.startedAt = startedAt
    this.#settle = settle
  }

  onRequestStart(controller: Controller): void {
    this.#controller = controller
    if (this.#abortedWith !== undefined) controller.abort(this.#abortedWith)
  }

  onResponseStart(controller: Controller, status: number, headers: Headers, message?: string): void {
    if (status < 200) return this.#handler.onResponseStart?.(this.#caller, status, headers, message)
    this.answer = { status, headers, message }
    this.#phase = 'held'
    controller.pause()
    return this.#settle()
  }

  onResponseData(_controller: Controller, chunk: Buffer): void {
    if (this.#phase === 'delivered') return this.#handler.onResponseData?.(this.#caller, chunk)
    this.#chunks.push(chunk)
    this.#bytes += chunk.byteLength
    if (this.#phase === 'drained' && this.#bytes > MOST_DRAINED_BYTES) this.abort(new Error('the body is too long'))
  }

  onResponseEnd(_controller: Controller, trailers: Headers): void {
    if (this.#phase === 'delivered') this.#handler.onResponseEnd?.(this.#caller, trailers)
    else this.#end = { trailers }
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (this.#phase === 'waiting') this.#settle(error)
    else if (this.#phase === 'delivered') this.#handler.onResponseError?.(this.#caller, error)
    else this.#end = { error }
  }

  onBodySent(chunk: Buffer): void {
    this.#handler.onBodySent?.(chunk)
  }

  onRequestSent(): void {
    this.#handler.onRequestSent?.()
  }

  /** Before a connection was found for it, there is nothing to abort but the wish. */
  abort(reason: Error): void {
    this.#abortedWith = reason
    if (this.#controller === undefined) this.#settle(reason)
    else this.#controller.abort(reason)
  }

  drain(): void {
    this.#phase = 'drained'
    this.#controller?.resume()
  }

  /** Another attempt begins, or nobody wants this one. */
  drop(): void {
    if (this.#phase === 'delivered') return
    this.#phase = 'dropped'
    this.#chunks = []
    if (this.#end === undefined) this.abort(new Error('the attempt is over'))
  }

  /** The response is the caller's: what has come of it, and what will come. */
  deliver(): void {
    const { status, headers, message } = this.answer!
    this.#phase = 'delivered'
    this.#caller.target = this.#controller
    try {
      this.#handler.onResponseStart?.(this.#caller, status, headers, message)
      for (const chunk of this.#chunks) this.#handler.onResponseData?.(this.#caller, chunk)
    } catch (error) {
      // As undici has it: whoever cannot take a response ends it.
      return this.abort(error as Error)
    }
    this.#chunks = []
    if (this.#end === undefined && !this.#caller.paused) this.#controller?.resume()
    else if (this.#end !== undefined && 'error' in this.#end)
      this.#handler.onResponseError?.(this.#caller, this.#end.error)
    else if (this.#end !== undefined) this.#handler.onResponseEnd?.(this.#caller, this.#end.trailers)
  }
}
