import type { Dispatcher } from 'undici'

type Controller = Dispatcher.DispatchController

/**
 * What the caller steers its call with, from before the first attempt until the body was read. Each attempt has a
 * connection and a controller of its own; a caller that held one of those would steer a connection that is gone.
 */
export class CallController implements Controller {
  /** The controller of the attempt whose response is delivered. */
  target: Controller | undefined = undefined
  readonly #abort = new AbortController()
  #isPaused = false

  /** Ends the operation, also while it waits. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  get aborted(): boolean {
    return this.#abort.signal.aborted
  }

  get reason(): Error | null {
    return (this.#abort.signal.reason as Error | undefined) ?? null
  }

  get paused(): boolean {
    return this.#isPaused
  }

  get rawHeaders(): Exclude<Controller['rawHeaders'], undefined> {
    return this.target?.rawHeaders ?? null
  }

  get rawTrailers(): Exclude<Controller['rawTrailers'], undefined> {
    return this.target?.rawTrailers ?? null
  }

  abort(reason: Error): void {
    this.#abort.abort(reason)
    this.target?.abort(reason)
  }

  pause(): void {
    this.#isPaused = true
    this.target?.pause()
  }

  resume(): void {
    this.#isPaused = false
    this.target?.resume()
  }
}
