import type { Outcome } from '../classify/outcome.ts'
import { InvalidPolicyError, RefusedError } from '../errors.ts'
import type { GateOptions } from '../gate-options.ts'
import { systemRandom, type Random } from '../ports/random.ts'
import type { Gate } from '../retry/companion.ts'
import { LimiterCompanion } from './companion.ts'
import { hasRoom, nextLimit, wasDropped, wholeLimit } from './decide.ts'
import { checkLimiter, withLimiterDefaults, type LimiterInput, type LimiterPolicy } from './policy.ts'
import { startLimit, within, type CallSample, type LimitState } from './state.ts'

/** A limiter, to be created once per dependency and shared by all calls to it: each of them teaches it. */
export function createLimiter(policy: LimiterInput, options: GateOptions = {}): Limiter {
  const problems = checkLimiter(policy)
  if (problems.length > 0) throw new InvalidPolicyError(problems)
  return new Limiter(withLimiterDefaults(policy), options)
}

export class Limiter implements Gate {
  readonly name: string
  readonly policy: LimiterPolicy
  readonly #random: Random
  readonly #state: LimitState
  #inFlight = 0

  constructor(policy: LimiterPolicy, { name = 'limiter', random = systemRandom }: GateOptions) {
    this.name = name
    this.policy = Object.freeze(policy)
    this.#random = random
    this.#state = startLimit(policy)
  }

  /** So many calls may be under way at present. */
  get limit(): number {
    return wholeLimit(this.#state)
  }

  /** Calls under way, those that were given up and have not ended included. */
  get inFlight(): number {
    return this.#inFlight
  }

  /** Asked before every attempt: nothing, and there is one more under way until `leave`, or what the caller is told. */
  ask(): RefusedError | undefined {
    if (!hasRoom(this.#state, this.#inFlight)) return this.#refusal()
    this.#inFlight++
    return undefined
  }

  leave(): void {
    this.#inFlight--
  }

  learn(outcome: Outcome, { durationMs, inFlight }: Pick<CallSample, 'durationMs' | 'inFlight'>): void {
    const dropped = wasDropped(outcome)
    if (dropped === undefined) return
    nextLimit(this.policy, this.#state, { durationMs, inFlight, dropped, roll: this.#random() })
  }

  /** Goes on from a limit that was found before, in this process or another; what it compares with is found anew. */
  restore(limit: number): void {
    this.#state.limit = within(this.policy, limit)
  }

  accompany(): LimiterCompanion {
    return new LimiterCompanion(this)
  }

  #refusal(): RefusedError {
    const { minLimit, maxLimit } = this.policy
    return new RefusedError(
      'throttled',
      `the limiter "${this.name}" has found that the dependency bears ${this.limit} calls at once (of ${minLimit} to ` +
        `${maxLimit}), and ${this.#inFlight} are under way. Call less at once; if it bears more, raise minLimit or slowCallMs`,
    )
  }
}
