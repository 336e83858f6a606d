import type { Outcome } from '../classify/outcome.ts'
import { RefusedError, refuseProblems } from '../errors.ts'
import type { GateOptions } from '../gate-options.ts'
import type { Clock } from '../ports/clock.ts'
import { systemRandom, type Random } from '../ports/random.ts'
import { systemClock } from '../ports/system-clock.ts'
import type { Gate } from '../retry/companion.ts'
import type { WindowCounts } from '../window/decide.ts'
import { ThrottleCompanion } from './companion.ts'
import { admitCall, answerOf, presentChance, recordAnswer, startThrottle } from './decide.ts'
import { checkThrottle, withThrottleDefaults, type ThrottleInput, type ThrottlePolicy } from './policy.ts'

/** A throttle, to be created once per dependency and shared by all calls to it. */
export function createThrottle(policy: ThrottleInput = {}, options: GateOptions = {}): Throttle {
  refuseProblems(checkThrottle(policy))
  return new Throttle(withThrottleDefaults(policy), options)
}

export class Throttle implements Gate {
  readonly name: string
  readonly policy: ThrottlePolicy
  readonly #clock: Clock
  readonly #random: Random
  readonly #window: WindowCounts

  constructor(
    policy: ThrottlePolicy,
    { name = 'throttle', clock = systemClock, random = systemRandom }: GateOptions,
    window?: WindowCounts,
  ) {
    this.name = name
    this.policy = Object.freeze(policy)
    this.#clock = clock
    this.#random = random
    this.#window = window ?? startThrottle(policy, clock.monotonic())
  }

  /** Other numbers for what has been counted so far, by both from now on; a window of another length begins empty. */
  under(policy: ThrottlePolicy): Throttle {
    const options = { name: this.name, clock: this.#clock, random: this.#random }
    return new Throttle(policy, options, policy.windowMs === this.policy.windowMs ? this.#window : undefined)
  }

  /** The chance, 0 to 1, that the next call is kept back. */
  get presentChance(): number {
    return presentChance(this.policy, this.#window, this.#clock.monotonic())
  }

  /** Draws, once for each attempt: nothing, and it is sent, or what the caller is to be told. */
  ask(): RefusedError | undefined {
    const chance = this.presentChance
    const moment = { now: this.#clock.monotonic(), roll: this.#random() }
    return admitCall(this.policy, this.#window, moment) ? undefined : this.#refusal(chance)
  }

  record(outcome: Outcome): void {
    const answer = answerOf(outcome)
    if (answer !== undefined) recordAnswer(this.#window, answer, this.#clock.monotonic())
  }

  accompany(): ThrottleCompanion {
    return new ThrottleCompanion(this)
  }

  #refusal(chance: number): RefusedError {
    const { acceptMultiplier, windowMs } = this.policy
    return new RefusedError(
      'throttled',
      `the throttle "${this.name}" keeps ${Math.round(chance * 100)} % of all calls back, and this was one: in the last ` +
        `${windowMs} ms more than ${acceptMultiplier} were wanted for each that was accepted. Come back later; it ends ` +
        'by itself when the dependency accepts again',
    )
  }
}
