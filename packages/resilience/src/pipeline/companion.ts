import type { BreakerCompanion } from '../breaker/companion.ts'
import type { BulkheadCompanion } from '../bulkhead/companion.ts'
import type { RefusedError } from '../errors.ts'
import { killSwitch } from '../kill-switch/run.ts'
import type { LimiterCompanion } from '../limiter/companion.ts'
import type { RateLimitCompanion } from '../rate-limit/companion.ts'
import type { Accompanied, Companion, EndedAttempt } from '../retry/companion.ts'
import type { ThrottleCompanion } from '../throttle/companion.ts'
import type { LatencyWatch } from '../timeout/run.ts'
import type { Gates } from './parts.ts'

/**
 * One operation before the gates of its pipeline, in the one order in which they are asked. Written out and not a list:
 * the order is what this file is for, and a list of many kinds would cost every call a search for what each of them does.
 */
export class PipelineCompanion implements Companion {
  readonly #operation: Accompanied
  readonly #breaker: BreakerCompanion | undefined
  readonly #bulkhead: BulkheadCompanion | undefined
  readonly #throttle: ThrottleCompanion | undefined
  readonly #limiter: LimiterCompanion | undefined
  readonly #rateLimit: RateLimitCompanion | undefined
  readonly #watch: LatencyWatch
  /** Made at the first pause: an operation that is calling cannot be killed. */
  #kill: Companion | undefined = undefined

  constructor({ breaker, bulkhead, throttle, limiter, rateLimit, watch }: Gates, operation: Accompanied) {
    this.#operation = operation
    this.#breaker = breaker?.accompany(operation)
    this.#bulkhead = bulkhead?.accompany(operation)
    this.#throttle = throttle?.accompany()
    this.#limiter = limiter?.accompany()
    this.#rateLimit = rateLimit?.accompany(operation)
    this.#watch = watch
  }

  enter(now: number): RefusedError | number | undefined {
    return (
      killSwitch.refusalOf(this.#operation) ??
      this.#breaker?.enter(now) ??
      this.#bulkhead?.enter(now) ??
      this.#throttle?.enter() ??
      this.#limiter?.enter() ??
      this.#rateLimit?.enter(now)
    )
  }

  started(): void {
    this.#bulkhead?.started()
    this.#throttle?.started()
    this.#limiter?.started()
    this.#rateLimit?.started()
  }

  ended(ended: EndedAttempt): void {
    this.#breaker?.ended(ended)
    this.#bulkhead?.ended()
    this.#throttle?.ended(ended)
    this.#limiter?.ended(ended)
    this.#watch.ended(ended)
  }

  workEnded(): void {
    this.#bulkhead?.workEnded()
    this.#limiter?.workEnded()
  }

  mayRetry(): RefusedError | undefined {
    return killSwitch.refusalOf(this.#operation)
  }

  mayHedge(): boolean {
    return killSwitch.mayHedge(this.#operation)
  }

  pauses(): void {
    if (this.#kill !== undefined) return
    this.#kill = killSwitch.accompany(this.#operation)
    this.#kill.enter?.(0)
  }

  over(): void {
    this.#breaker?.over()
    this.#bulkhead?.over()
    this.#limiter?.over()
    this.#rateLimit?.over()
    this.#kill?.over?.(undefined)
  }
}
