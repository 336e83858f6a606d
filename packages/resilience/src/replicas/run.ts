import { withoutUndefined } from '../check/problems.ts'
import type { Outcome } from '../classify/outcome.ts'
import { InvalidPolicyError, refuseProblems } from '../errors.ts'
import type { Clock } from '../ports/clock.ts'
import { systemRandom, type Random } from '../ports/random.ts'
import { systemClock } from '../ports/system-clock.ts'
import type { Companion, Gate } from '../retry/companion.ts'
import type { Attempt, RetryOptions, Work } from '../retry/options.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { retry } from '../retry/run.ts'
import { chooseReplica, healthyReplicas, settleReplica, type ReplicaChoice, type ReplicasState } from './decide.ts'
import { checkReplicas, withReplicasDefaults, type Replica, type ReplicasInput, type ReplicasPolicy } from './policy.ts'

/** A name, usually an address, or anything that has one and perhaps a region: a client, say. */
export type AnyReplica = string | Replica

export interface ReplicasOptions {
  /** Time and chance, for tests. */
  readonly ports?: { readonly clock?: Clock; readonly random?: Random }
}

/** The same dependency at several addresses; to be created once and shared by all calls to it. */
export function replicas<const R extends AnyReplica>(
  input: readonly R[] | (Omit<ReplicasInput, 'replicas'> & { readonly replicas: readonly R[] }),
  options?: ReplicasOptions,
): Replicas<R> {
  const given = 'replicas' in input ? input : { replicas: input }
  return new Replicas<R>({ ...given, replicas: given.replicas.map(nameAndRegion) }, given.replicas, options)
}

export interface FailOver<R extends AnyReplica> extends Partial<Omit<ReplicasPolicy, 'replicas' | 'home'>> {
  readonly home: R | readonly R[]
  readonly others: readonly R[]
}

/**
 * Calls at home first; after `homeAttempts` of an operation the other regions, each region's callers in a slice of time
 * of their own. A replica without a region is one by its name. Slices are by the order of the regions' names: it is the
 * same everywhere, whichever of them is home.
 */
export function failOver<const R extends AnyReplica>(
  { home, others, ...policy }: FailOver<R>,
  options?: ReplicasOptions,
): Replicas<R> {
  const atHome = [home].flat() as R[]
  const [first] = atHome
  if (first === undefined)
    throw new InvalidPolicyError([{ at: 'home', is: home, say: 'must be a replica, or a list of at least one' }])
  const homeRegion = regionNamed(first)
  const regionOf = (replica: R): string => (atHome.includes(replica) ? homeRegion : regionNamed(replica))
  const all = [...atHome, ...others].toSorted((one, other) => compare(regionOf(one), regionOf(other)))
  const replicas = all.map(replica => ({ ...nameAndRegion(replica), region: regionOf(replica) }))
  return new Replicas<R>({ ...policy, replicas, home: homeRegion }, all, options)
}

export class Replicas<R extends AnyReplica> implements Gate {
  readonly policy: ReplicasPolicy
  readonly #entries: readonly R[]
  readonly #clock: Clock
  readonly #random: Random
  readonly #state: ReplicasState
  readonly #assigned = new WeakMap<Attempt, R>()

  constructor(input: ReplicasInput, entries: readonly R[], { ports = {} }: ReplicasOptions = {}) {
    refuseProblems(checkReplicas(input))
    this.policy = Object.freeze(withReplicasDefaults(input))
    this.#entries = [...entries]
    this.#clock = ports.clock ?? systemClock
    this.#random = ports.random ?? systemRandom
    this.#state = healthyReplicas(this.policy, this.#random())
  }

  /** Retries a call, each attempt at another replica than the one that has just failed it. */
  run<T, A = never>(
    call: (replica: R, attempt: Attempt) => T | PromiseLike<T>,
    policy?: RetryPolicyInput,
    options: RetryOptions<T, A> = {},
  ): Promise<T | A> {
    return retry(this.work(call), policy, { ...options, gates: [...(options.gates ?? []), this] })
  }

  /** The same call for whoever has these replicas among its gates. */
  work<T>(call: (replica: R, attempt: Attempt) => T | PromiseLike<T>): Work<T> {
    return attempt => call(this.of(attempt), attempt)
  }

  /** Where an attempt is to go. */
  of(attempt: Attempt): R {
    const replica = this.#assigned.get(attempt)
    if (replica === undefined) throw new TypeError('the replicas must be among the gates of the operation')
    return replica
  }

  accompany(): Companion {
    const tried: ReplicaChoice[] = []
    const underWay: ReplicaChoice[] = []
    let chosen: ReplicaChoice | undefined
    let dueAt = 0
    return {
      // Chosen once for each attempt, however often its gates are asked: a turn that is taken is taken.
      enter: now => {
        if (chosen === undefined) {
          chosen = this.pick(tried)
          dueAt = now + chosen.waitMs
        }
        return now < dueAt ? dueAt : undefined
      },
      // More than once in an attempt that is hedged: each copy goes to a replica of its own.
      around: (call, attempt) => {
        const choice = chosen ?? this.pick(tried)
        chosen = undefined
        tried.push(choice)
        underWay.push(choice)
        this.#assigned.set(attempt, this.#entries[choice.place]!)
        return call(attempt)
      },
      ended: ({ outcome }) => {
        const called = underWay.splice(0)
        // Of several copies one has succeeded, and nobody says which.
        if (outcome.kind === 'success' && called.length > 1) return
        for (const choice of called) this.settle(choice, outcome)
      },
    }
  }

  /** By hand: a replica for a call of an operation that has called `tried`, to be settled when the call has ended. */
  pick(tried: readonly ReplicaChoice[] = []): ReplicaChoice {
    const moment = { now: this.#clock.monotonic(), roll: this.#random(), tried }
    return chooseReplica(this.policy, this.#state, moment)
  }

  settle(choice: ReplicaChoice, outcome: Outcome): void {
    // Who went away, or threw what nobody knows, has learnt nothing about the replica.
    if (outcome.kind === 'failure' && (outcome.fault === 'ignored' || outcome.unknown === true)) return
    const failed = outcome.kind === 'failure' && outcome.fault !== 'permanent'
    settleReplica(this.policy, this.#state, choice, { failed, now: this.#clock.monotonic(), roll: this.#random() })
  }
}

/** What a policy knows of a replica; all else is its caller's own. */
function nameAndRegion(replica: AnyReplica): Replica {
  if (typeof replica === 'string') return { name: replica }
  return withoutUndefined({ name: replica.name, region: replica.region! })
}

function regionNamed(replica: AnyReplica): string {
  return typeof replica === 'string' ? replica : (replica.region ?? replica.name)
}

function compare(one: string, other: string): number {
  return Number(one > other) - Number(one < other)
}
