import { seededRandom } from '@secondwind/resilience/testing'
import type { Random } from '@secondwind/resilience'
import type { Lane } from '../../task/lane.ts'
import type { Weather } from './faulty-store.test-kit.ts'
import type { LedgerOptions } from './ledger.test-kit.ts'
import { pick, type Behaviour } from './scripted-target.test-kit.ts'
import { neighbourOf } from './world.test-kit.ts'

/** What will happen in a random history, but for what is drawn on the way. */
export interface StormPlan {
  readonly limit: number
  readonly rate: { readonly perSecond: number; readonly burst: number }
  readonly minRetries: number
  readonly slots: number
  readonly listAgainMs: number
  readonly instances: number
  readonly weather: Weather
  readonly disasters: readonly Disaster[]
  readonly lanes: readonly Lane[]
  /** By destination, one for every five seconds. */
  readonly behaviours: ReadonlyMap<string, readonly Behaviour[]>
}

export interface Disaster {
  readonly at: number
  readonly what: (typeof DISASTERS)[number]
  readonly ms: number
}

const DISASTERS = ['kill', 'freeze', 'suspend', 'wall', 'store-clock', 'outage', 'stop', 'join'] as const

/** Until then anything may happen; from then on nothing bad does. */
export const CALM_AT = 30_000

export const BEHAVIOUR_MS = 5_000

const CALM: Weather = { slow: 0, lost: 0, failed: 0 }
const WEATHERS: readonly Weather[] = [
  CALM,
  { slow: 0.05, lost: 0.02, failed: 0.02 },
  { slow: 0.1, lost: 0.08, failed: 0.05 },
]

export const WELL_BEHAVED: Behaviour = { kind: 'answers', status: 200, ms: 30 }
const BEHAVIOURS: readonly Behaviour[] = [
  WELL_BEHAVED,
  { kind: 'answers', status: 200, ms: 900 },
  { kind: 'answers', status: 503, ms: 10 },
  { kind: 'answers', status: 429, ms: 5, retryAfterS: 2 },
  { kind: 'answers', status: 404, ms: 5 },
  { kind: 'refuses', ms: 2 },
  { kind: 'hangs', ms: 20_000 },
]

const NO_RATE = { perSecond: 1_000, burst: 1_000 }

export function planOf(seed: number): StormPlan {
  const random = seededRandom(seed)
  const lanes = lanesOf(random)
  return {
    limit: 1 + Math.floor(random() * 5),
    rate: pick([NO_RATE, { perSecond: 2, burst: 3 }], random),
    minRetries: pick([100, 2], random),
    slots: 2 + Math.floor(random() * 8),
    listAgainMs: random() < 0.1 ? 1_000 : 30_000,
    instances: 1 + Math.floor(random() * 2),
    weather: pick(WEATHERS, random),
    disasters: disastersOf(random),
    lanes,
    behaviours: new Map(lanes.map(({ destination }) => [destination, behavioursOf(random)])),
  }
}

export type Kindness = Pick<LedgerOptions, 'isKind' | 'isCalm' | 'isAlone' | 'isUnbroken' | 'areClocksRight'>

/** What can be expected in such a world. */
export function kindnessOf({ weather, disasters, instances }: StormPlan): Kindness {
  const areOnly = (...what: readonly string[]): boolean => disasters.every(disaster => what.includes(disaster.what))
  // Nobody takes over what it has not yet been able to write.
  const isAlone = instances === 1 && areOnly('wall')
  return {
    isAlone,
    isUnbroken: isAlone && weather === CALM,
    isKind: isAlone || (weather === CALM && areOnly('wall', 'stop', 'join')),
    isCalm: weather === CALM && areOnly(),
    areClocksRight: areOnly('kill', 'freeze', 'outage', 'stop', 'join', 'suspend'),
  }
}

export function isCalm(weather: Weather): boolean {
  return weather === CALM
}

function lanesOf(random: Random): Lane[] {
  const lanes = Array.from({ length: 1 + Math.floor(random() * 3) }, (_, n) => ({
    tenant: pick(['acme', 'globex'], random),
    destination: `https://api-${n}.example`,
  }))
  return [...lanes, neighbourOf(lanes[0]!)]
}

function disastersOf(random: Random): Disaster[] {
  return Array.from({ length: Math.floor(random() * 5) }, () => {
    const at = 1_000 * Math.floor((random() * CALM_AT) / 1_000)
    return { at, what: pick(DISASTERS, random), ms: Math.min(CALM_AT - at, 500 + Math.floor(random() * 15_000)) }
  })
}

function behavioursOf(random: Random): Behaviour[] {
  return Array.from({ length: CALM_AT / BEHAVIOUR_MS }, () => pick(BEHAVIOURS, random))
}
