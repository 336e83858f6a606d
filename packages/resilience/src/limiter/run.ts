import type { Outcome } from '../classify/outcome.ts'
import { InvalidPolicyError, RefusedError, refuseProblems } from '../errors.ts'
import type { GateOptions } from '../gate-options.ts'
import { systemRandom, type Random } from '../ports/random.ts'
import type { Gate } from '../retry/companion.ts'
import { LimiterCompanion } from './companion.ts'
import { hasRoom, nextLimit, wasDropped, wholeLimit } from './decide.ts'
import { checkLimiter, withLimiterDefaults, type LimiterInput, type LimiterPolicy } from './policy.ts'
import { startLimit, within, type CallSample, type LimitState } from './state.ts'

/** A limiter, to be created once per dependency and shared by all calls to it: each of them teaches it. */
export function createLimiter(policy: LimiterInput, options: GateOptions = {}): Limiter {
  refuseProblems(checkLimiter(policy))
  return new Limiter(withLimiterDefaults(policy), options)
}

/** What limiters of one dependency have in common. */
interface Known {
  policy: LimiterPolicy
  state: LimitState
  inFlight: number
}

export class Limiter implements Gate {
  readonly name: string
  readonly #random: Random
  readonly #known: Known

  constructor(policy: LimiterPolicy, { name = 'limiter', random = systemRandom }: GateOptions, known?: Known) {
    this.name = name
    this.#random = random
    this.#known = known ?? { policy: Object.freeze(policy), state: startLimit(policy), inFlight: 0 }
  }

  /** Of all that share what is known the newest: an older one would take the limit out of its range. */
  get policy(): LimiterPolicy {
    return this.#known.policy
  }

  /** So many calls may be under way at present. */
  get limit(): number {
    return wholeLimit(this.#known.state)
  }

  /** Calls under way, those that were given up and have not ended included. */
  get inFlight(): number {
    return this.#known.inFlight
  }

  /** Other numbers for the same calls: the limit goes on from where it is, or from the nearer end of its new range. */
  under(policy: LimiterPolicy): Limiter {
    const { state } = this.#known
    // What one kind compares calls with means nothing to another.
    if (policy.kind !== this.policy.kind) this.#known.state = { ...startLimit(policy), limit: state.limit }
    this.#known.policy = Object.freeze(policy)
    this.restore(state.limit)
    return new Limiter(policy, { name: this.name, random: this.#random }, this.#known)
  }

  /** Asked before every attempt: nothing, and there is one more under way until `leave`, or what the caller is told. */
  ask(): RefusedError | undefined {
    if (!hasRoom(this.#known.state, this.#known.inFlight)) return this.#refusal()
    this.#known.inFlight++
    return undefined
  }

  leave(): void {
    this.#known.inFlight--
  }

  learn(outcome: Outcome, { durationMs, inFlight }: Pick<CallSample, 'durationMs' | 'inFlight'>): void {
    const dropped = wasDropped(outcome)
    if (dropped === undefined) return
    nextLimit(this.policy, this.#known.state, { durationMs, inFlight, dropped, roll: this.#random() })
  }

  /** Goes on from a limit that was found before, in this process or another; what it compares with is found anew. */
  restore(limit: number): void {
    if (typeof limit !== 'number' || !(limit >= 1))
      throw new InvalidPolicyError([{ at: 'limit', is: limit, say: 'must be a number, 1 or more' }])
    this.#known.state.limit = within(this.policy, limit)
  }

  accompany(): LimiterCompanion {
    return new LimiterCompanion(this)
  }

  #refusal(): RefusedError {
    const { minLimit, maxLimit } = this.policy
    return new RefusedError(
      'throttled',
      `the limiter "${this.name}" has found that the dependency bears ${this.limit} calls at once (of ${minLimit} to ` +
        `${maxLimit}), and ${this.inFlight} are under way. Call less at once; if it bears more, raise minLimit or slowCallMs`,
    )
  }
}
