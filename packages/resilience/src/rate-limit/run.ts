import type { Arrival } from '../bulkhead/decide.ts'
import { RefusedError, refuseProblems } from '../errors.ts'
import type { GateOptions } from '../gate-options.ts'
import type { Clock } from '../ports/clock.ts'
import { systemClock } from '../ports/system-clock.ts'
import type { Accompanied, Gate } from '../retry/companion.ts'
import { RateLimitCompanion } from './companion.ts'
import {
  changeRate,
  fullBucket,
  giveBack,
  recordStart,
  redeem,
  reserve,
  reserveAgain,
  type Bucket,
  type RateAnswer,
} from './decide.ts'
import { checkRateLimit, withRateLimitDefaults, type RateLimitInput, type RateLimitPolicy } from './policy.ts'

/** A rate limit, to be created once per dependency and shared by all calls to it. */
export function createRateLimit(policy: RateLimitInput, options: GateOptions = {}): RateLimit {
  refuseProblems(checkRateLimit(policy))
  return new RateLimit(withRateLimitDefaults(policy), options)
}

/** What rate limits of one dependency have in common. */
interface Known {
  policy: RateLimitPolicy
  readonly bucket: Bucket
  /** Those that have a token and have not started, in the order in which they came. */
  readonly holders: Set<RateLimitCompanion>
}

export class RateLimit implements Gate {
  readonly name: string
  readonly #clock: Clock
  readonly #known: Known

  constructor(policy: RateLimitPolicy, { name = 'rate limit', clock = systemClock }: GateOptions, known?: Known) {
    this.name = name
    this.#clock = clock
    this.#known = known ?? {
      policy: Object.freeze(policy),
      bucket: fullBucket(policy, this.now),
      holders: new Set(),
    }
  }

  /** Of all that share this bucket the newest: two rates for one dependency would add up. */
  get policy(): RateLimitPolicy {
    return this.#known.policy
  }

  /** Another rate for the same bucket: whoever waits is told a new instant at once, in the order of their coming. */
  under(policy: RateLimitPolicy): RateLimit {
    const { bucket, holders, policy: old } = this.#known
    changeRate(old, policy, bucket, this.now)
    this.#known.policy = Object.freeze(policy)
    for (const holder of holders) holder.reserveAgain()
    return new RateLimit(policy, { name: this.name, clock: this.#clock }, this.#known)
  }

  /** The clock that tokens are counted by. */
  get now(): number {
    return this.#clock.monotonic()
  }

  /** The instant of a token that is the holder's from now on, or what the caller is to be told. */
  reserve(holder: RateLimitCompanion, arrival: Arrival): number | RefusedError {
    this.#known.holders.add(holder)
    return this.#told(reserve(this.policy, this.#known.bucket, arrival), arrival.now)
  }

  /** The same for one that has been promised a token of another rate. */
  reserveAgain(deadlineAt: number): number | RefusedError {
    const { now } = this
    return this.#told(reserveAgain(this.policy, this.#known.bucket, { now, deadlineAt }), now)
  }

  /** The instant has come: when its holder may really start, or what the caller is to be told. */
  redeem(arrival: Arrival): number | RefusedError {
    return this.#told(redeem(this.policy, this.#known.bucket, arrival), arrival.now)
  }

  started(holder: RateLimitCompanion): void {
    this.#known.holders.delete(holder)
    recordStart(this.policy, this.#known.bucket, this.now)
  }

  /** The attempt that `at` was reserved for, if anything was, will not be made. */
  giveBack(holder: RateLimitCompanion, at: number | undefined): void {
    this.#known.holders.delete(holder)
    if (at !== undefined) giveBack(this.#known.bucket, at, this.now)
  }

  accompany(operation: Accompanied): RateLimitCompanion {
    return new RateLimitCompanion(this, operation)
  }

  #told(answer: RateAnswer, now: number): number | RefusedError {
    return answer.kind === 'yes' ? answer.at : this.#refusal(Math.ceil(answer.until - now))
  }

  #refusal(waitMs: number): RefusedError {
    const { perSecond, maxQueued, maxWaitMs } = this.policy
    return new RefusedError(
      'throttled',
      `the rate limit "${this.name}" of ${perSecond} a second has its next token in ${waitMs} ms, beyond the ` +
        `deadline, maxWaitMs (${maxWaitMs}) or maxQueued (${maxQueued}). Call less often, or raise perSecond if the ` +
        'dependency allows it',
      waitMs,
    )
  }
}
