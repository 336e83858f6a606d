import type { Clock } from '../ports/clock.ts'
import { warnOnce } from '../ports/telemetry.ts'
import { nextTurn } from '../ports/turn.ts'
import type { Attempt } from './options.ts'
import type { Setup } from './setup.ts'

/** What an attempt asks of the operation it belongs to. */
interface Owner extends Pick<Attempt, 'idempotencyKey' | 'lastError'> {
  /** When the attempt has had its time. */
  readonly dueAt: number
  readonly setup: { readonly clock: Clock }
  /** Hears the caller's signal from now on. */
  follow(): void
}

/** One call under way. Its identity tells its result from that of an attempt that was given up. */
export class RunningAttempt implements Attempt {
  readonly attempt: number
  readonly startedAt: number
  /** Set when it is told to stop. */
  stopped: Stop | undefined
  /** Its work has settled, in time or not. */
  hasEnded = false
  readonly #owner: Owner
  #controller: AbortController | undefined

  constructor(owner: Owner, attempt: number, startedAt: number) {
    this.#owner = owner
    this.attempt = attempt
    this.startedAt = startedAt
  }

  /** Made only for those who look: a controller costs more than all the rest of a call that succeeds. */
  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#owner.follow()
      this.#controller = new AbortController()
      if (this.stopped !== undefined) this.#controller.abort(this.stopped.error)
    }
    return this.#controller.signal
  }

  get idempotencyKey(): string {
    return this.#owner.idempotencyKey
  }

  get remainingMs(): number {
    return Math.max(0, Math.round(this.#owner.dueAt - this.#owner.setup.clock.monotonic()))
  }

  get lastError(): unknown {
    return this.#owner.lastError
  }

  /** Tells it to stop. It has until the next turn of the event loop to bring a success home; then it is `onDeaf`. */
  stop(stopped: Stop, onDeaf: () => void): void {
    if (this.stopped === undefined) nextTurn(onDeaf)
    this.stopped = stopped
    this.#controller?.abort(stopped.error)
  }

  /** Its result came when nobody waited for it any more. */
  endLate<T, A>(setup: Setup<T, A>, name: string): void {
    this.warnIfDeaf(setup, name)
    this.stopped = undefined
  }

  /** Two attempts that run at once are what a time-out was meant to prevent: said once, with the remedy. */
  warnIfDeaf<T, A>({ clock, options }: Setup<T, A>, name: string): void {
    if (this.stopped === undefined || clock.monotonic() - this.stopped.at < DEAF_AFTER_MS) return
    const say = `attempt ${this.attempt} of ${name} goes on though its signal was aborted: hand attempt.signal to what it calls`
    warnOnce('signal-ignored', name, say, options.telemetry)
  }
}

/** An attempt that goes on for so long after it was told to stop has not heard it. */
const DEAF_AFTER_MS = 1_000

export interface Stop {
  readonly reason: 'aborted' | 'attempt-timeout' | 'deadline'
  readonly error: unknown
  readonly at: number
}
