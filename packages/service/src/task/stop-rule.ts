import type { Resumed, StopRule } from './destination-settings.ts'

/** Asked for without a time, a way back that is watched takes a minute: long enough to see something. */
export const WATCHED_RAMP_MS = 60_000

/** What has been seen since a destination was resumed. Changed in place: it is written at every attempt. */
export interface Trial {
  /** Of the latest attempts, the oldest first: whether each failed. */
  readonly latest: boolean[]
  failed: number
}

export function newTrial(): Trial {
  return { latest: [], failed: 0 }
}

/** The rule of a way back, as long as it lasts. */
export function ruleOf(resumed: Resumed | undefined, now: number): StopRule | undefined {
  if (resumed?.stopOnFailureRate === undefined || resumed.overLast === undefined) return undefined
  const { since, rampMs = WATCHED_RAMP_MS, stopOnFailureRate, overLast } = resumed
  return now >= since && now < since + rampMs ? { stopOnFailureRate, overLast } : undefined
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
