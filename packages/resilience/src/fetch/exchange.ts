import { abortBodyWith } from './body-signal.ts'
import { cancelBody, drain } from './drain.ts'

/** One attempt on the wire: what it holds, and how it is let go. */
export class Exchange {
  readonly startedAt: number
  /** Its signal is what `fetch` hears. It outlives the attempt, for the body is read after it. */
  readonly #controller = new AbortController()
  #response: Response | undefined
  #stopDraining: (() => void) | undefined
  #isDropped = false

  constructor(attemptSignal: AbortSignal, startedAt: number) {
    this.startedAt = startedAt
    attemptSignal.addEventListener('abort', () => this.#controller.abort(attemptSignal.reason), { once: true })
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  get response(): Response | undefined {
    return this.#response
  }

  arrived(response: Response): Response {
    this.#response = response
    // A fetch that does not listen to signals: nobody waits for it any more.
    if (this.#isDropped) cancelBody(response)
    return response
  }

  drain(): void {
    if (this.#response !== undefined) this.#stopDraining = drain(this.#response)
  }

  /** Another attempt begins, or there is no use for this one: also a body that never ends has ended now. */
  drop(): void {
    this.#isDropped = true
    this.#stopDraining?.()
    if (this.#response !== undefined) cancelBody(this.#response)
    this.#controller.abort()
  }

  /** The response is the caller's, and so is its signal. */
  handOver(signal: AbortSignal | undefined): void {
    this.#stopDraining?.()
    if (signal !== undefined) abortBodyWith(signal, this.#response!, this.#controller)
  }

  /** Something else was answered: the response goes, unless it is read by then, or lives on in the answer. */
  replacedBy(answer: unknown): void {
    this.#stopDraining?.()
    const response = this.#response
    if (response !== undefined && (answer as Partial<Response> | undefined)?.body !== response.body)
      cancelBody(response)
  }
}
