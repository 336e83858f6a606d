import type { QueueScope } from './control.ts'
import type { ComingBack, StopRule } from './destination-settings.ts'

/** Asked for without a time, a way back that is watched takes a minute: long enough to see something. */
export const WATCHED_RAMP_MS = 60_000

/** A way back under a rule, from when to when. */
export interface Watch extends StopRule {
  /** Which order it comes after: one way of it begins at one instant. */
  readonly of: string
  readonly since: number
  readonly until: number
  /** The attempts that are judged. */
  readonly scope: QueueScope
  /** If it is stopped, for every tenant; else for the lane's own. */
  readonly isForAll: boolean
  readonly isByOperator: boolean
}

type Judged = Pick<Watch, 'of' | 'since' | 'scope' | 'isForAll' | 'isByOperator'>

/** None where no rule was given. */
export function watchOf(
  judged: Judged,
  { rampMs = WATCHED_RAMP_MS, stopOnFailureRate, overLast }: ComingBack,
): Watch[] {
  if (stopOnFailureRate === undefined || overLast === undefined) return []
  return [{ ...judged, until: judged.since + rampMs, stopOnFailureRate, overLast }]
}

export function isWatched({ since, until }: Watch, now: number): boolean {
  return since <= now && now < until
}

/** What has been seen on a way back. Changed in place: it is written at every attempt. */
export interface Trial {
  /** Of the latest attempts, the oldest first: whether each failed. */
  readonly latest: boolean[]
  failed: number
}

export function newTrial(): Trial {
  return { latest: [], failed: 0 }
}

/** Another attempt has ended. True when it failed, and is one too many: whatever those still to come would be. */
export function seeAttempt({ stopOnFailureRate, overLast }: StopRule, trial: Trial, hasFailed: boolean): boolean {
  trial.latest.push(hasFailed)
  if (hasFailed) trial.failed++
  while (trial.latest.length > overLast) if (trial.latest.shift()) trial.failed--
  return hasFailed && trial.failed >= stopOnFailureRate * overLast - EPSILON
}

/** What has been seen on a way back that several tenants share: each is judged by its own attempts. */
export type SharedTrial = Map<string, TenantTrial>

interface TenantTrial {
  trial: Trial
  /** It had one failure too many, and has not since had as many attempts as are judged without another. */
  isAtFault: boolean
}

/** Another attempt of a tenant has ended. True when it failed, and is one too many for that tenant. */
export function seeAttemptOf(rule: StopRule, shared: SharedTrial, tenant: string, hasFailed: boolean): boolean {
  const known = shared.get(tenant) ?? { trial: newTrial(), isAtFault: false }
  shared.set(tenant, known)
  const isOneTooMany = seeAttempt(rule, known.trial, hasFailed)
  if (isOneTooMany) known.trial = newTrial()
  if (isOneTooMany || known.trial.latest.length >= rule.overLast) known.isAtFault = isOneTooMany
  return isOneTooMany
}

/**
 * Whether a way back that several tenants share has gone wrong for all of them: for more than half of those that sent, or
 * may do so, and not for one alone unless nobody else is there. What fails for one, by a time-out that nobody can keep or a
 * path that is not there, is its own fault.
 */
export function isWrongForAll(shared: SharedTrial, others: Iterable<string>): boolean {
  const tenants = new Set([...shared.keys(), ...others])
  const atFault = [...shared.values()].filter(({ isAtFault }) => isAtFault).length
  return 2 * atFault > tenants.size
}

/** Seven hundredths of a hundred are a little more than seven. */
const EPSILON = 1e-9
