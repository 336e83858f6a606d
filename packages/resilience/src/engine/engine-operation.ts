export type OperationStatus = 'PENDING' | 'RETRYING' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED'

/**
 * What is remembered of one operation.
 *
 *   PENDING ── an attempt failed, another follows ──► RETRYING
 *   PENDING, RETRYING ── the action succeeded ──► SUCCEEDED
 *   PENDING, RETRYING ── the last attempt failed ──► FAILED
 *   PENDING, RETRYING ── cancel ──► CANCELLED
 *
 *  1. A cancelled operation starts no attempt, and nothing that ends later changes what it says.
 *  2. A cancel that comes too late leaves the status true, and holds all the same: see `isCancelled`.
 *  3. Each `execute` has one of its own: what an earlier one brings home late reaches nobody.
 */
export class EngineOperation {
  status: OperationStatus = 'PENDING'
  lastError: string | null = null
  nextRetryDelayMs = 0
  readonly startedAts: number[] = []
  /** No attempt begins any more, and none under this id until it is reset. */
  isCancelled = false
  /** Only while it runs: thousands of operations are remembered after their end. */
  #canceller: AbortController | undefined = undefined

  /** Aborts when the operation is cancelled. */
  begin(): AbortSignal {
    this.#canceller = new AbortController()
    return this.#canceller.signal
  }

  startAttempt(now: number): void {
    this.startedAts.push(now)
    this.nextRetryDelayMs = 0
  }

  wait(delayMs: number): void {
    if (this.isCancelled) return
    this.status = 'RETRYING'
    this.nextRetryDelayMs = delayMs
  }

  end(status: 'SUCCEEDED' | 'FAILED'): void {
    if (this.status !== 'CANCELLED') this.status = status
    this.nextRetryDelayMs = 0
    this.#canceller = undefined
  }

  cancel(): void {
    this.isCancelled = true
    if (this.status === 'PENDING' || this.status === 'RETRYING') this.status = 'CANCELLED'
    this.nextRetryDelayMs = 0
    this.#canceller?.abort()
  }
}
