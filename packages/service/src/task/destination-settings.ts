import type { LaneInput } from '@secondwind/resilience/rules'
import { WATCHED_RAMP_MS } from './stop-rule.ts'

/**
 * What was set for one destination: by a tenant for itself, or by an operator for every tenant; each part with
 * who set it, and when. Where there are both, both hold. Plain JSON.
 */
export interface DestinationSettings {
  /** Another way to say which destination. */
  readonly name?: string
  readonly limits?: DestinationLimits
  /** Who set the limits. */
  readonly limitsBy?: SetBy
  readonly paused?: Paused
  /** How the last pause was lifted: the way back is a ramp from then on. */
  readonly resumed?: Resumed
  readonly draining?: SetBy
  readonly forced?: Forced
}

/** Instead of what every destination has; what is left out stays as it is for all. */
export interface DestinationLimits extends Pick<LaneInput, 'credit' | 'budget' | 'rateLimit'> {
  /** Requests under way at once. */
  readonly concurrency?: number
}

/** What was set for a destination: for every tenant, and by the lane's own. */
export interface Standing {
  readonly all?: DestinationSettings
  readonly own?: DestinationSettings
}

export interface SetBy {
  readonly since: number
  readonly by: string
  /** An operator has set it: no tenant takes it back. */
  readonly isByOperator?: true
  readonly reason?: string
}

export interface Paused extends SetBy, ComingBack {
  readonly until?: number
}

export interface Resumed extends SetBy, ComingBack, Partial<StopRule> {}

/** The way back, when something that held a destination is over. */
export interface ComingBack {
  /** The whole limit is there after so long; absent: it doubles at its usual pace. */
  readonly rampMs?: number
}

/** `auto`: it opens and closes by itself again, by a ramp from then on. */
export interface Forced extends SetBy {
  readonly breaker: 'open' | 'closed' | 'auto'
}

/** While a destination that was resumed comes back: too many failures among its last attempts, and it is paused again. */
export interface StopRule {
  /** From 0 to 1. */
  readonly stopOnFailureRate: number
  /** Fewer attempts than these say nothing yet. */
  readonly overLast: number
}

/** As it is now: a pause whose time is over has been lifted by it. */
export function settingsAt({ paused, ...rest }: DestinationSettings, now: number): DestinationSettings {
  if (paused === undefined) return rest
  const { until, reason: _, ...resumed } = paused
  if (until === undefined || now < until) return { ...rest, paused }
  const ordered = paused.isByOperator ? undefined : orderedBack(rest, now)
  return { ...rest, resumed: ordered ?? { ...resumed, since: until } }
}

/** The way back that an operator has ordered, while it lasts: a pause of the tenant's own meanwhile does not shorten it. */
export function orderedBack({ resumed }: DestinationSettings, now: number): Resumed | undefined {
  return resumed?.isByOperator && isUnderWay(resumed, now) ? resumed : undefined
}

/** Whether there is anything to resume: a pause, or a way back that another one can replace. */
export function isHeldBack({ paused, resumed }: DestinationSettings, now: number): boolean {
  return paused !== undefined || (resumed !== undefined && isUnderWay(resumed, now))
}

function isUnderWay({ since, rampMs }: Resumed, now: number): boolean {
  // Without a time, its usual pace gives every limit by then.
  return now < since + (rampMs ?? WATCHED_RAMP_MS)
}

/** An operator has set the credit of this lane: a tenant that held its breaker closed would be free of that limit. */
export function creditOrder({ all, own }: Standing): SetBy | undefined {
  return [all, own].find(settings => settings?.limits?.credit !== undefined && settings.limitsBy?.isByOperator)
    ?.limitsBy
}

export function without(
  settings: DestinationSettings,
  ...parts: readonly (keyof DestinationSettings)[]
): DestinationSettings {
  return Object.fromEntries(
    Object.entries(settings).filter(([part]) => !parts.includes(part as keyof DestinationSettings)),
  )
}

export function laneInputOf({ concurrency, ...limits }: DestinationLimits): LaneInput {
  return { ...limits, ...(concurrency !== undefined && { limit: concurrency }) }
}
