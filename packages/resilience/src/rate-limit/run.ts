import { InvalidPolicyError, RefusedError } from '../errors.ts'
import type { GateOptions } from '../gate-options.ts'
import type { Clock } from '../ports/clock.ts'
import { systemClock } from '../ports/system-clock.ts'
import type { Accompanied, Gate } from '../retry/companion.ts'
import { RateLimitCompanion } from './companion.ts'
import { fullBucket, giveBack, reserve, type Bucket } from './decide.ts'
import { checkRateLimit, withRateLimitDefaults, type RateLimitInput, type RateLimitPolicy } from './policy.ts'

/** A rate limit, to be created once per dependency and shared by all calls to it. */
export function createRateLimit(policy: RateLimitInput, options: GateOptions = {}): RateLimit {
  const problems = checkRateLimit(policy)
  if (problems.length > 0) throw new InvalidPolicyError(problems)
  return new RateLimit(withRateLimitDefaults(policy), options)
}

export class RateLimit implements Gate {
  readonly name: string
  readonly policy: RateLimitPolicy
  readonly #clock: Clock
  readonly #bucket: Bucket

  constructor(policy: RateLimitPolicy, { name = 'rate limit', clock = systemClock }: GateOptions) {
    this.name = name
    this.policy = Object.freeze(policy)
    this.#clock = clock
    this.#bucket = fullBucket(policy, this.now)
  }

  /** The clock that tokens are counted by. */
  get now(): number {
    return this.#clock.monotonic()
  }

  /** The instant of a token that is taken from now on, or what the caller is to be told. */
  reserve(withinMs: number): number | RefusedError {
    const { now } = this
    const answer = reserve(this.policy, this.#bucket, { now, deadlineAt: now + withinMs })
    return answer.kind === 'yes' ? answer.at : this.#refusal(Math.ceil(answer.until - now))
  }

  /** The attempt that `at` was reserved for will not be made. */
  giveBack(at: number): void {
    giveBack(this.#bucket, at, this.now)
  }

  accompany(operation: Accompanied): RateLimitCompanion {
    return new RateLimitCompanion(this, operation)
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
