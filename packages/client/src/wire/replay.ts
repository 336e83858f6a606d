import type { GiveUpReason } from '@secondwind/resilience'

/** The replay of many dead letters: first a plan that can be read, then its run. */
export interface Replay {
  readonly replayId: string
  readonly status: ReplayStatus
  readonly statusSince: number
  /** Where replays are listed, without its `taskIds`. */
  readonly filter: ReplayFilter
  readonly include: readonly ('permanent' | 'not-idempotent')[]
  readonly ratePerSecond: number
  readonly canary: number
  readonly stopOnFailureRate: number
  readonly overLast: number
  readonly reason?: string
  /** The id of a key, or `local`. */
  readonly createdBy: string
  /** What was given up before this instant is selected, and nothing else. */
  readonly asOf: number
  /** Grows while the status is `PLANNING`. */
  readonly selected: number
  /** What fits the filter and is left alone, and why. */
  readonly skipped: readonly SkippedLetters[]
  /** Of what was selected. */
  readonly destinations: readonly string[]
  readonly hasMoreDestinations: boolean
  readonly counts: ReplayCounts
  /** Sent a second, over the last seconds. */
  readonly rateNow: number
  /** Another replay, which has the destination for itself. */
  readonly waitsFor?: string
  /** The backlog is full; what has not been moved is dead still. */
  readonly waitsForRoom?: true
  /** What tripped its stop rule: so many failed at first, of so many whose end was known; it judges `overLast`. */
  readonly stopped?: { readonly failed: number; readonly of: number; readonly overLast?: number }
  /** Why the service cancelled it. */
  readonly endedFor?: 'not-run' | 'not-resumed'
  /** Grows with every change: several times a second while it is under way. */
  readonly version: number
  /** Dead letters that fit the filter and came later; where one replay is asked for. */
  readonly newSince?: { readonly count: number; readonly isExact: boolean }
}

export type ReplayStatus = (typeof REPLAY_STATUSES)[number]

export const REPLAY_STATUSES = [
  'PLANNING',
  'PLANNED',
  'CANARY',
  'RUNNING',
  'PAUSED',
  'STOPPED',
  'CANCELLED',
  'FINISHED',
] as const

export interface SkippedLetters {
  readonly because: 'permanent' | 'not-idempotent' | 'body-missing' | 'policy-missing' | 'no-longer-dead'
  readonly count: number
  /** Some of them. */
  readonly sampleTaskIds: readonly string[]
}

export interface ReplayCounts {
  /** Began their next generation. */
  readonly moved: number
  /** Of these, those whose first attempt has not begun. */
  readonly waiting: number
  /** First attempts that have begun, that have ended, and that failed; most of these are retried. */
  readonly underWay: number
  readonly sent: number
  readonly failed: number
  readonly succeeded: number
  readonly exhausted: number
  readonly cancelled: number
  /** Selected, and still dead. */
  readonly left: number
}

/** Which dead letters. All that is given must hold, and something must be given. */
export interface ReplayFilter {
  /** Its origin, in any spelling, or the name that it was given. */
  readonly destination?: string
  readonly causeId?: string
  /** Why they were given up. */
  readonly reason?: GiveUpReason
  readonly policyId?: string
  /** Of the newest attempt. */
  readonly errorCode?: string
  readonly createdFrom?: number
  readonly createdTo?: number
  /** Given up at this instant or later. */
  readonly endedFrom?: number
  /** Given up before this instant. */
  readonly endedTo?: number
  /** These and no others; with no other field. */
  readonly taskIds?: readonly string[]
}

export interface ReplayInput {
  readonly filter: ReplayFilter
  readonly ratePerSecond: number
  /** So many are sent first, and their results waited for; 5 unless told, 0: none. */
  readonly canary?: number
  /** Stops when more than this part of the last `overLast` failed; 0.2 of 50 unless told, 1: never. */
  readonly stopOnFailureRate?: number
  readonly overLast?: number
  /** Endings that are left alone otherwise. */
  readonly include?: readonly ('permanent' | 'not-idempotent')[]
  /** For whoever reads the audit. */
  readonly reason?: string
}
