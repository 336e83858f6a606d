/**
 * Which replica the next call goes to.
 *
 *  1. Who: an operation's first attempts go home, the others elsewhere. Among those a replica that it has not called
 *     yet is preferred, then one other than its latest.
 *  2. Health: of these the replicas that are not set back, and at least `minShare` of them: then also those whose time
 *     ends first. So the last healthy one never bears the load of all, and there always is one.
 *  3. Turn: the one whose turn is longest ago, or any.
 *
 * A replica's results count only in the generation in which the call was sent: a hundred calls that were under way when
 * it failed are one failure, and a late success does not bring it back. Nobody is probed: a call of a replica whose time
 * is over finds out.
 *
 * The state is plain data, changed in place: it is written at every call.
 */
import { delayMs } from '../retry/backoff.ts'
import { DEFAULT_POLICY } from '../retry/policy.ts'
import type { Replica, ReplicasPolicy } from './policy.ts'

export interface ReplicasState {
  /** Turns taken so far. */
  turns: number
  /** In the order of the policy's list. */
  readonly replicas: readonly ReplicaState[]
}

export interface ReplicaState {
  /** Its latest turn. */
  turn: number
  /** Set back until then. */
  until: number
  /** Failures in a row. */
  failures: number
  /** Grows each time that it is set back or recovers. */
  generation: number
}

/** All of the outside world that the choice may see. */
export interface ReplicaMoment {
  readonly now: number
  readonly roll: number
  /** The replicas that the operation has called, hedges included, in this order. */
  readonly tried: readonly ReplicaChoice[]
}

/** To be handed back with the result. */
export interface ReplicaChoice {
  readonly replica: Replica
  readonly place: number
  readonly generation: number
  /** To be waited for before the call, on top of any other wait: what spreads a region's fail-over over time. */
  readonly waitMs: number
}

/** The die says whose turn is first, so that clients that start together do not begin with the same replica. */
export function healthyReplicas({ replicas }: ReplicasPolicy, roll: number): ReplicasState {
  const turns = replicas.length
  const first = Math.floor((roll || 0) * turns)
  const turnOf = (place: number): number => (place - first + turns) % turns
  return {
    turns,
    replicas: replicas.map((_, place) => ({ turn: turnOf(place), until: 0, failures: 0, generation: 0 })),
  }
}

export function chooseReplica(policy: ReplicasPolicy, state: ReplicasState, moment: ReplicaMoment): ReplicaChoice {
  const places = inChoice(policy, state, wanted(policy, moment.tried), moment.now)
  const roll = moment.roll || 0
  const { place, rest } = policy.choice === 'random' ? anyOf(places, roll) : nextOf(places, state, roll)
  const replica = policy.replicas[place]!
  const chosen = state.replicas[place]!
  chosen.turn = state.turns++
  const waitMs = isFailOver(policy, replica, moment.tried) ? failOverMs(policy, rest) : 0
  return { replica, place, generation: chosen.generation, waitMs }
}

/** How a call ended. `failed` is for what another replica might do better; a permanent failure is an answer. */
export interface ReplicaResult {
  readonly failed: boolean
  readonly now: number
  readonly roll: number
}

export function settleReplica(
  policy: ReplicasPolicy,
  state: ReplicasState,
  { place, generation }: ReplicaChoice,
  { failed, now, roll }: ReplicaResult,
): void {
  const called = state.replicas[place]!
  // A success of a healthy replica is no news, and the usual case.
  if (called.generation !== generation || (!failed && called.failures === 0)) return
  called.generation++
  called.failures = failed ? called.failures + 1 : 0
  called.until = failed ? now + setBackMs(policy, called.failures, roll) : now
}

/** The first rule. */
function wanted(policy: ReplicasPolicy, tried: readonly ReplicaChoice[]): number[] {
  const atHome = tried.filter(({ replica }) => isAtHome(policy, replica)).length
  const preferences: ((place: number) => boolean)[] = [
    place => isAtHome(policy, policy.replicas[place]!) === atHome < policy.homeAttempts,
    place => tried.at(-1)?.place !== place,
    place => tried.every(choice => choice.place !== place),
  ]
  let places = [...policy.replicas.keys()]
  for (const prefers of preferences) {
    const preferred = places.filter(prefers)
    // A preference that leaves nobody to choose is none.
    if (preferred.length > 0) places = preferred
  }
  return places
}

/** The second rule. */
function inChoice(policy: ReplicasPolicy, { replicas }: ReplicasState, places: number[], now: number): number[] {
  const fewest = Math.max(1, Math.ceil(policy.minShare * places.length))
  const healthy = places.filter(place => replicas[place]!.until <= now)
  if (healthy.length >= fewest) return healthy
  return places.toSorted((a, b) => replicas[a]!.until - replicas[b]!.until).slice(0, fewest)
}

interface Draw {
  readonly place: number
  /** What is left of the die: as evenly spread as before, and independent of the place. */
  readonly rest: number
}

function anyOf(places: readonly number[], roll: number): Draw {
  const at = roll * places.length
  const index = Math.min(Math.floor(at), places.length - 1)
  return { place: places[index]!, rest: at - index }
}

/** The one whose turn is longest ago: fair among whichever replicas there are to choose from. */
function nextOf(places: readonly number[], { replicas }: ReplicasState, rest: number): Draw {
  const place = places.reduce((next, place) => (replicas[place]!.turn < replicas[next]!.turn ? place : next))
  return { place, rest }
}

function isAtHome({ home }: ReplicasPolicy, { region }: Replica): boolean {
  return home === undefined || region === home
}

function isFailOver(policy: ReplicasPolicy, replica: Replica, tried: readonly ReplicaChoice[]): boolean {
  return !isAtHome(policy, replica) && tried.every(choice => isAtHome(policy, choice.replica))
}

/** Each region has its own slice of time, so that two that fail together do not fall on the third together. */
function failOverMs({ replicas, home, regionOffsetMs }: ReplicasPolicy, roll: number): number {
  const regions = [...new Set(replicas.map(({ region }) => region))]
  return Math.floor((regions.indexOf(home) + roll) * regionOffsetMs)
}

/** The waits of a retry, with equal jitter: clients that saw the same failure do not come back together. */
function setBackMs(policy: ReplicasPolicy, failures: number, roll: number): number {
  const waits = { ...DEFAULT_POLICY, initialDelayMs: policy.setBackMs, maxDelayMs: policy.maxSetBackMs }
  return delayMs({ ...waits, jitterType: 'EQUAL' }, { attempt: failures, previousDelayMs: 0 }, roll)
}
