import { followSignal, unfollowSignal, type SignalFollower } from '../ports/signals.ts'
import type { Companion } from '../retry/companion.ts'
import type { Attempt } from '../retry/options.ts'

/** One of the calls that an attempt consists of, with a signal of its own: the others go on when it is cancelled. */
export class Copy implements Attempt, SignalFollower {
  readonly startedAt: number
  /** Whoever holds a place for it until it has really ended. */
  companion: Companion | undefined
  readonly #attempt: Attempt
  #controller: AbortController | undefined = undefined
  #cancelled: { readonly reason: unknown } | undefined = undefined

  constructor(attempt: Attempt, startedAt: number, companion?: Companion) {
    this.#attempt = attempt
    this.startedAt = startedAt
    this.companion = companion
  }

  get attempt(): number {
    return this.#attempt.attempt
  }

  get idempotencyKey(): string {
    return this.#attempt.idempotencyKey
  }

  get remainingMs(): number {
    return this.#attempt.remainingMs
  }

  get lastError(): unknown {
    return this.#attempt.lastError
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      const { signal } = this.#attempt
      if (this.#cancelled !== undefined) this.#controller.abort(this.#cancelled.reason)
      else if (signal.aborted) this.#controller.abort(signal.reason)
      else followSignal(signal, this)
    }
    return this.#controller.signal
  }

  onAbort(reason: unknown): void {
    this.#controller?.abort(reason)
  }

  cancel(reason: unknown): void {
    this.letGo()
    this.#cancelled = { reason }
    this.#controller?.abort(reason)
  }

  /** Nothing will abort it any more: what it has brought home, a body perhaps, outlives the attempt. */
  letGo(): void {
    if (this.#controller !== undefined) unfollowSignal(this.#attempt.signal, this)
  }
}
