import type { Attempt } from './options.ts'

/** What an attempt asks of the operation it belongs to. */
type Owner = Pick<Attempt, 'idempotencyKey' | 'lastError' | 'remainingMs'>

/** One call under way. Its identity tells its result from that of an attempt that was given up. */
export class RunningAttempt implements Attempt {
  readonly attempt: number
  readonly startedAt: number
  /** Set when it is told to stop. */
  stopped: Stop | undefined = undefined
  readonly #owner: Owner
  #controller: AbortController | undefined = undefined

  constructor(owner: Owner, attempt: number, startedAt: number) {
    this.#owner = owner
    this.attempt = attempt
    this.startedAt = startedAt
  }

  /** Made only for those who look: a controller costs more than all the rest of a call that succeeds. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.stopped !== undefined) this.#controller.abort(this.stopped.error)
    }
    return this.#controller.signal
  }

  get idempotencyKey(): string {
    return this.#owner.idempotencyKey
  }

  get remainingMs(): number {
    return this.#owner.remainingMs
  }

  get lastError(): unknown {
    return this.#owner.lastError
  }

  stop(stopped: Stop): void {
    this.stopped = stopped
    this.#controller?.abort(stopped.error)
  }
}

export interface Stop {
  readonly reason: 'aborted' | 'attempt-timeout' | 'deadline'
  readonly error: unknown
  readonly at: number
}
