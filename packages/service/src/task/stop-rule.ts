import type { Resumed, StopRule } from './destination-settings.ts'

/** A way back under a rule takes a minute unless told: long enough to see something. */
export const WATCHED_RAMP_MS = 60_000

/** A way back under a rule, from when to when. */
export interface Watch extends StopRule {
  /** Who resumed: an operator for every tenant, or the lane's own record. */
  readonly of: 'all' | 'own'
  readonly since: number
  readonly until: number
  readonly isByOperator: boolean
}

/** None where no rule was given. */
export function watchOf(of: Watch['of'], resumed: Resumed | undefined): Watch[] {
  if (resumed === undefined) return []
  const { since, rampMs = WATCHED_RAMP_MS, stopOnFailureRate, overLast, isByOperator = false } = resumed
  if (stopOnFailureRate === undefined || overLast === undefined) return []
  return [{ of, since, until: since + rampMs, stopOnFailureRate, overLast, isByOperator }]
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

/** Seven hundredths of a hundred are a little more than seven. */
const EPSILON = 1e-9
