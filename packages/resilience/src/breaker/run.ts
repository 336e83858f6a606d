import { RefusedError, refuseProblems } from '../errors.ts'
import { classifyError } from '../classify/classify-error.ts'
import { failure, SUCCESS, type Outcome } from '../classify/outcome.ts'
import type { Clock } from '../ports/clock.ts'
import { systemClock } from '../ports/system-clock.ts'
import { emit, type Telemetry } from '../ports/telemetry.ts'
import type { Accompanied, Gate } from '../retry/companion.ts'
import { DEFAULT_POLICY } from '../retry/policy.ts'
import { BreakerCompanion } from './companion.ts'
import {
  closedBreaker,
  force,
  mayStart,
  phaseOf,
  record,
  resultOf,
  type BreakerPhaseName,
  type BreakerState,
  type Permit,
} from './decide.ts'
import { checkBreaker, withBreakerDefaults, type BreakerInput, type BreakerPolicy } from './policy.ts'
import { checkSnapshot, stateFrom, takeSnapshot, type BreakerSnapshot, type Instant } from './snapshot.ts'

export interface BreakerOptions {
  readonly name?: string
  readonly clock?: Clock
  readonly telemetry?: Telemetry | undefined
}

const IGNORED: Outcome = failure('ignored')

/** A breaker, to be created once per dependency and shared by all calls to it. */
export function createBreaker(policy: BreakerInput = {}, options: BreakerOptions = {}): Breaker {
  refuseProblems(checkBreaker(policy))
  return new Breaker(withBreakerDefaults(policy), options)
}

export class Breaker implements Gate {
  readonly name: string
  readonly policy: BreakerPolicy
  readonly clock: Clock
  readonly #telemetry: Telemetry | undefined
  #state: BreakerState
  #toldGeneration = 0
  #toldPhase: BreakerPhaseName = 'closed'

  constructor(policy: BreakerPolicy, options: BreakerOptions) {
    this.name = options.name ?? 'breaker'
    this.policy = Object.freeze(policy)
    this.clock = options.clock ?? systemClock
    this.#telemetry = options.telemetry
    this.#state = closedBreaker(policy, this.clock.monotonic())
  }

  get phase(): BreakerPhaseName {
    return phaseOf(this.#state, this.clock.monotonic())
  }

  /** Runs one call under the breaker; refused with `RefusedError` while it is open. */
  async run<T>(work: () => T | PromiseLike<T>): Promise<T> {
    const permit = this.ask()
    if (permit instanceof RefusedError) throw permit
    const startedAt = this.clock.monotonic()
    const end = (outcome: Outcome): void => this.end(permit, outcome, this.clock.monotonic() - startedAt)
    try {
      const value = await work()
      end(SUCCESS)
      return value
    } catch (error) {
      end(classifyError(error, DEFAULT_POLICY.retryableStatusCodes, this.clock.now()))
      throw error
    }
  }

  /** Asked before every attempt: leave to start, to be handed back when it ends, or what the caller is to be told. */
  ask(held?: Permit, now: number = this.clock.monotonic()): Permit | RefusedError {
    const answer = mayStart(this.policy, this.#state, now, held)
    this.#tellChange()
    return answer.kind === 'yes' ? answer.permit : this.#refusal(answer.until)
  }

  /** `outcome` is what the call came to; absent when none was made, which says nothing. */
  end(permit: Permit, outcome: Outcome = IGNORED, durationMs = 0, now: number = this.clock.monotonic()): void {
    record(this.policy, this.#state, permit, resultOf(this.policy, outcome, durationMs), now)
    this.#tellChange()
  }

  accompany(operation: Accompanied): BreakerCompanion {
    return new BreakerCompanion(this, operation)
  }

  /** By hand: lets nothing through, until `release`. */
  forceOpen(): void {
    this.#force('open')
  }

  /** By hand: lets everything through, until `release`. */
  forceClosed(): void {
    this.#force('closed')
  }

  /** Lets the breaker judge for itself again, closed and with an empty memory. */
  release(): void {
    this.#force(null)
  }

  snapshot(): BreakerSnapshot {
    return takeSnapshot(this.#state, this.#instant())
  }

  /** Goes on from a snapshot, of this process or another; the time that has passed since counts. */
  restore(snapshot: BreakerSnapshot): void {
    refuseProblems(checkSnapshot(snapshot))
    this.#state = stateFrom(snapshot, this.policy, this.#instant())
    this.#toldGeneration = -1
    this.#tellChange()
  }

  #refusal(until: number): RefusedError {
    if (this.phase === 'forced-open')
      return new RefusedError(
        'breaker-open',
        `the breaker "${this.name}" was opened by hand, until release() is called`,
      )
    const waitMs = Math.max(0, Math.ceil(until - this.clock.monotonic()))
    const say = `the breaker "${this.name}" is ${this.phase} and lets nothing through; ask again in ${waitMs} ms`
    return new RefusedError('breaker-open', say, waitMs)
  }

  #instant(): Instant {
    return { now: this.clock.now(), monotonic: this.clock.monotonic() }
  }

  #force(forced: 'open' | 'closed' | null): void {
    force(this.policy, this.#state, forced, this.clock.monotonic())
    this.#tellChange()
  }

  /** Every change of phase is told, whatever brought it about; without one this costs a comparison. */
  #tellChange(): void {
    if (this.#state.generation === this.#toldGeneration) return
    const from = this.#toldPhase
    const to = phaseOf(this.#state, -Infinity)
    this.#toldGeneration = this.#state.generation
    this.#toldPhase = to
    if (from !== to) emit({ kind: 'breaker-changed', name: this.name, from, to }, this.#telemetry)
  }
}
