import { AttemptTimeoutError } from '../errors.ts'
import { recordLatency, type Latencies } from '../latency/decide.ts'
import type { Companion, EndedAttempt, Gate } from '../retry/companion.ts'
import { adaptiveTimeoutMs } from './decide.ts'
import type { AdaptiveTimeoutPolicy } from './policy.ts'

interface Watched {
  readonly attemptTimeoutMs: number
  /** Somebody else records how long calls took, each copy by itself. */
  readonly isHedged: boolean
}

/** Learns how long calls take, and says how long the next one may. One object is companion to all: it keeps nothing of one. */
export class LatencyWatch implements Gate, Companion {
  readonly #latencies: Latencies
  readonly #policy: AdaptiveTimeoutPolicy | undefined
  readonly #attemptTimeoutMs: number
  readonly #isHedged: boolean
  #timeoutsInARow = 0

  constructor(
    latencies: Latencies,
    policy: AdaptiveTimeoutPolicy | undefined,
    { attemptTimeoutMs, isHedged }: Watched,
  ) {
    this.#latencies = latencies
    this.#policy = policy
    this.#attemptTimeoutMs = attemptTimeoutMs
    this.#isHedged = isHedged
  }

  get timeoutMs(): number {
    if (this.#policy === undefined) return this.#attemptTimeoutMs
    const limits = { attemptTimeoutMs: this.#attemptTimeoutMs, timeoutsInARow: this.#timeoutsInARow }
    return adaptiveTimeoutMs(this.#policy, this.#latencies, limits)
  }

  accompany(): Companion {
    return this
  }

  ended({ outcome, durationMs, error }: EndedAttempt): void {
    if (outcome.kind === 'success') {
      this.#timeoutsInARow = 0
      if (!this.#isHedged) recordLatency(this.#latencies, durationMs)
    } else if (error instanceof AttemptTimeoutError) this.#timeoutsInARow++
  }
}
