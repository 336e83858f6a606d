import {
  checkFields,
  isRecord,
  milliseconds,
  numberBetween,
  oneOf,
  text,
  wholeNumber,
  withoutUndefined,
  type Fields,
  type Problem,
} from '../check/problems.ts'

/**
 * Where the calls of one dependency go when it has several addresses. A replica that failed is set back: others are
 * preferred to it until its time is over. Plain JSON, but an option of a pipeline in code: addresses belong to a
 * deployment, not to a policy.
 */
export interface ReplicasPolicy {
  readonly replicas: readonly Replica[]
  readonly choice: 'round-robin' | 'random'
  /** How long a replica is set back after a failure; each further one in a row doubles it. */
  readonly setBackMs: number
  readonly maxSetBackMs: number
  /** This share of the replicas stays in the choice, at least one: those set back whose time ends first. */
  readonly minShare: number
  /** The region whose replicas are called first; absent: all are alike. */
  readonly home?: string
  /** So many attempts of an operation are made at home before the others are called. */
  readonly homeAttempts: number
  /** Operations that leave a region do so within this time, each region after the one listed before it. */
  readonly regionOffsetMs: number
}

export interface Replica {
  /** What the work is handed: an address, usually. */
  readonly name: string
  readonly region?: string
}

/** In turn; five seconds set back; at home twice, elsewhere within a tenth of a second for each region. */
export const DEFAULT_REPLICAS: Omit<ReplicasPolicy, 'replicas'> = {
  choice: 'round-robin', // the most even share; random is for callers too short-lived to have turns
  setBackMs: 5_000, // Finagle's first; one failure is weak evidence, and a healthy replica is missed dearly
  maxSetBackMs: 300_000, // where Finagle and Envoy end too: a replica that is back is noticed within five minutes
  minShare: 0.5, // Envoy's panic threshold: the few that are left would fall under the load of all
  homeAttempts: 2, // of three by default: one retry nearby, the last one far away
  regionOffsetMs: 100, // less than most deadlines notice, and a herd becomes a stream
}

/** What users write: names, or replicas with their regions, and what differs from the defaults. */
export type ReplicasInput = Partial<Omit<ReplicasPolicy, 'replicas'>> & {
  readonly replicas: readonly (string | Replica)[]
}

export function withReplicasDefaults(input: ReplicasInput): ReplicasPolicy {
  const replicas = input.replicas.map(replica => (typeof replica === 'string' ? { name: replica } : replica))
  const policy = { ...DEFAULT_REPLICAS, ...withoutUndefined(input), replicas }
  // Whoever chose a longer time to begin with did not mean it to be cut short.
  const { maxSetBackMs = Math.max(policy.maxSetBackMs, policy.setBackMs) } = input
  return { ...policy, maxSetBackMs }
}

/** More would be a load balancer's work; each call looks at all of them. */
const MOST_REPLICAS = 1_000

/** All problems of a choice among replicas. */
export function checkReplicas(input: unknown, path = ''): Problem[] {
  if (!isRecord(input)) return [{ at: path, is: input, say: 'must be an object with replicas and what differs' }]
  const at = path && `${path}.`
  const { replicas } = input
  const isList = Array.isArray(replicas) && replicas.length > 0 && replicas.length <= MOST_REPLICAS
  const problems = [
    ...checkFields(input, fields(), WRONG_WORDS, at),
    ...(isList
      ? replicas.flatMap((replica, place) => checkReplica(replica, `${at}replicas.${place}`))
      : [{ at: `${at}replicas`, is: replicas, say: `must be a list of 1 to ${MOST_REPLICAS} replicas` }]),
  ]
  return problems.length > 0 ? problems : checkTogether(withReplicasDefaults(input as unknown as ReplicasInput), at)
}

function checkReplica(replica: unknown, at: string): Problem[] {
  if (isRecord(replica)) {
    const given = { name: null, ...replica }
    return checkFields(given, { name: text(2_000), region: text(200) }, REPLICA_WRONG_WORDS, `${at}.`)
  }
  const wanted = text(2_000)(replica)
  return wanted === undefined ? [] : [{ at, is: replica, say: `must be ${wanted}, or { name, region }` }]
}

/** What each field alone cannot see. */
function checkTogether({ replicas, home, setBackMs, maxSetBackMs }: ReplicasPolicy, at: string): Problem[] {
  const names = replicas.map(({ name }) => name)
  const problems: Problem[] = names
    .filter((name, place) => names.indexOf(name) < place)
    .map(name => ({ at: `${at}replicas`, is: name, say: 'is there twice: its failures would count by halves' }))
  if (home !== undefined && replicas.every(({ region }) => region !== home))
    problems.push({ at: `${at}home`, is: home, say: 'is the region of no replica' })
  if (setBackMs > maxSetBackMs)
    problems.push({ at: `${at}setBackMs`, is: setBackMs, say: `must not exceed maxSetBackMs, ${maxSetBackMs}` })
  return problems
}

/** Made when an option is checked: whoever lives with the defaults need not carry it. */
function fields(): Fields {
  return {
    replicas: () => undefined,
    choice: oneOf('round-robin', 'random'),
    setBackMs: milliseconds(),
    maxSetBackMs: milliseconds(),
    minShare: numberBetween(0, 1),
    home: text(200),
    homeAttempts: wholeNumber(1, 1_000),
    regionOffsetMs: milliseconds(),
  }
}

/** What other libraries call it. */
const WRONG_WORDS = {
  hosts: 'replicas',
  endpoints: 'replicas',
  strategy: 'choice',
  ejectionTimeMs: 'setBackMs',
  markDeadFor: 'setBackMs',
  region: 'home',
}

const REPLICA_WRONG_WORDS = { url: 'name', host: 'name', address: 'name', zone: 'region' }
