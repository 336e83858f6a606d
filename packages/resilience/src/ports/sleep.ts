import { followSignal, unfollowSignal, type SignalFollower } from './signals.ts'
import { NOT_ARMED, type Alarm, type Clock } from './clock.ts'

/** `Clock.sleep` in terms of `arm`, for every clock. */
export function sleepOn(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) reject(signal.reason)
    else new Sleep(clock, signal, resolve, reject).begin(ms)
  })
}

class Sleep implements Alarm, SignalFollower {
  dueAt = 0
  slot: number = NOT_ARMED
  readonly #clock: Clock
  readonly #signal: AbortSignal | undefined
  readonly #resolve: () => void
  readonly #reject: (reason: unknown) => void

  constructor(clock: Clock, signal: AbortSignal | undefined, resolve: () => void, reject: (reason: unknown) => void) {
    this.#clock = clock
    this.#signal = signal
    this.#resolve = resolve
    this.#reject = reject
  }

  begin(ms: number): void {
    this.dueAt = this.#clock.monotonic() + ms
    this.#clock.arm(this)
    if (this.#signal !== undefined) followSignal(this.#signal, this)
  }

  ring(): void {
    if (this.#signal !== undefined) unfollowSignal(this.#signal, this)
    this.#resolve()
  }

  onAbort(reason: unknown): void {
    this.#clock.disarm(this)
    this.#reject(reason)
  }
}
