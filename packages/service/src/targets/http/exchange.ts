import { NOT_ARMED, type Alarm, type Clock } from '@secondwind/resilience'
import { errors, type Dispatcher } from 'undici'
import type { Delivery, Sending, TargetAnswer } from '../target.ts'
import { Blotter, Capture, type ResponseHeaders } from './answer.ts'
import type { Connection } from './connection.ts'
import { answerless, cutOff, TargetError, type Failed, type NotTried } from './failures.ts'

type Controller = Dispatcher.DispatchController

/** Where an exchange waits for a connection. */
export interface Line {
  /** It waits no longer. */
  withdraw(exchange: Exchange): void
  /** undici has let go of it: its connection is free, or gone. */
  leave(exchange: Exchange): void
}

export interface ExchangeOptions {
  readonly delivery: Delivery
  readonly request: Dispatcher.DispatchOptions
  readonly clock: Clock
  readonly line: Line
  readonly limits: ResponseLimits
}

export interface ResponseLimits {
  /** Of a body so much is kept. */
  readonly captureBytes: number
  /** So much is read, that the connection can be used again; then it is closed. */
  readonly readBytes: number
}

/**
 * One request on the wire.
 *
 *   waiting ──► sent ──► answering
 *      └──────────┴──────────┴────► over
 *
 *  1. `sent` begins when undici is about to write: until then nothing can have reached the server.
 *  2. It is written once at the most: asked to start again, it refuses.
 *  3. It is over when it has its answer, or when the time or somebody's patience ends; what comes later changes nothing.
 *  4. An answer counts when its body was read, or so much of it as is ever read. Of a failure the status is enough.
 */
export class Exchange implements Dispatcher.DispatchHandler, Sending, Alarm {
  readonly request: Dispatcher.DispatchOptions
  readonly answer: Promise<TargetAnswer>
  readonly dueAt: number
  slot: number = NOT_ARMED
  /** Its line's own note of where it is sent. Not in a map of the line's: see `UnderWay`, it would outlive its collection. */
  connection: Connection | undefined = undefined
  readonly #options: ExchangeOptions
  #resolve!: (answer: TargetAnswer) => void
  #controller: Controller | undefined = undefined
  #answer: { readonly status: number; readonly headers: ResponseHeaders } | undefined = undefined
  #capture: Capture | undefined = undefined
  #isOver = false

  constructor(options: ExchangeOptions) {
    const { request, clock, delivery } = options
    this.#options = options
    this.request = request
    this.dueAt = clock.monotonic() + delivery.timeoutMs
    this.answer = new Promise(resolve => (this.#resolve = resolve))
    clock.arm(this)
  }

  onRequestStart(controller: Controller): void {
    // Thrown and not aborted: so undici drops the request before it is written, and keeps the connection.
    if (this.#isOver || this.#isSent) throw new TargetError('aborted', 'the attempt is over')
    this.#controller = controller
  }

  onResponseStart(_controller: Controller, status: number, headers: ResponseHeaders): void {
    // RFC 9110 §15.2: any number of interim answers may come before the one that counts.
    if (status >= 200) this.#answer = { status, headers }
  }

  onResponseData(controller: Controller, chunk: Buffer): void {
    const { limits } = this.#options
    this.#capture ??= new Capture(limits.captureBytes)
    this.#capture.add(chunk)
    if (this.#capture.bytes <= limits.readBytes) return
    this.#end(this.#answered(false))
    controller.abort(new TargetError('aborted', 'the rest of the answer is not read'))
  }

  onResponseEnd(): void {
    this.#end(this.#answered(true))
    this.#options.line.leave(this)
  }

  onResponseError(_controller: Controller, error: Error): void {
    if (!this.#isOver) this.#fail(answerless(error, this.#isSent))
    this.#options.line.leave(this)
  }

  /** The time is over. */
  ring(): void {
    const { timeoutMs } = this.#options.delivery
    if (this.#isSent) this.giveUp(new TargetError('attempt-timeout', `the attempt did not end within ${timeoutMs} ms`))
    else this.giveUp(new errors.ConnectTimeoutError())
  }

  cut(reason: unknown): void {
    if (this.#isOver) return
    this.#fail(cutOff(reason, this.#isSent))
    this.#abort(new TargetError('aborted', 'the attempt was cut off'))
  }

  /** Ends it here and now, for this reason. */
  giveUp(error: Error): void {
    if (this.#isOver) return
    this.#fail(answerless(error, this.#isSent))
    this.#abort(error)
  }

  get #isSent(): boolean {
    return this.#controller !== undefined
  }

  /** A server that said no has answered, even if it could not finish the sentence. */
  #fail(failed: Failed | NotTried): void {
    this.#end(this.#answer !== undefined && this.#answer.status >= 400 ? this.#answered(false) : failed)
  }

  #answered(isWhole: boolean): TargetAnswer {
    const { delivery, limits } = this.#options
    const { status, headers } = this.#answer!
    const capture = this.#capture ?? new Capture(limits.captureBytes)
    const blotter = new Blotter(delivery.request.headers, delivery.headers)
    return { kind: 'answered', status, headers, response: capture.keep(headers, blotter, isWhole) }
  }

  #end(answer: TargetAnswer): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#options.clock.disarm(this)
    this.#resolve(answer)
  }

  /** Frees the connection at once: for HTTP/1.1 that is to close it. */
  #abort(reason: Error): void {
    if (this.#controller === undefined) this.#options.line.withdraw(this)
    else this.#controller.abort(reason)
  }
}
