import type { ReplayStatus } from '@secondwind/client'
import type { GiveUpReason } from '@secondwind/resilience'
import type { ReplayCounts } from './counts.ts'

/** What made its rule stop it. */
export interface Stopped {
  /** So many of so many failed at first: those whose end was known. */
  readonly failed: number
  readonly of: number
  /** So many its rule judges; absent in what older versions wrote, whose `of` it was. */
  readonly overLast?: number
}

/**
 * A replay of many dead letters: first a plan that can be read, then the run of exactly that plan.
 *
 *   PLANNING ──► PLANNED ──run──► CANARY ──► RUNNING ──► FINISHED
 *                   │              │  ▲        │  ▲
 *                   │        pause ▼  │ resume ▼  │
 *                   │            PAUSED, or STOPPED by its own rule
 *                   └──── cancel, at any time, or not run in time ───► CANCELLED
 *
 *  1. The selection is frozen: a filter, and dead letters that died before `asOf`. One that is brought back and dies
 *     again has died later, and is not brought back twice.
 *  2. What is brought back is due at an instant of its own, at most a tenth of a second ahead: whatever ends the run, the rest has
 *     stayed dead.
 *  3. Everything to go on with is in here and in the counts, so that anybody can go on.
 */
export interface ReplayDocument extends ReplayPlan {
  readonly createdBy: string
  readonly asOf: number
  readonly status: ReplayStatus
  readonly statusSince: number
  readonly selected: number
  readonly skipped: readonly Skipped[]
  /** Of what was selected; some of them where there are many. */
  readonly destinations: readonly string[]
  readonly hasMoreDestinations: boolean
  /** Where counting, and later moving, goes on; absent at the beginning. */
  readonly cursor?: string
  /** Nothing is left behind the cursor. */
  readonly isWalked: boolean
  /** When the next one's turn is. */
  readonly nextAt: number
  /** Of the latest run or resume: what came before is not held against it. */
  readonly start: { readonly at: number; readonly moved: number; readonly sent: number }
  /** Its canary came back alive. */
  readonly isProven: boolean
  /** How many were sent, some seconds ago and some more: what the rate is now. */
  readonly pulses: readonly Pulse[]
  /** Another replay that has one of its destinations for itself. */
  readonly waitsFor?: string
  /** There was no room for the next one to wait in: it is a dead letter still. */
  readonly waitsForRoom?: true
  readonly stopped?: Stopped
  /** Why it was cancelled, when nobody did it. */
  readonly endedFor?: 'not-run' | 'not-resumed'
}

/** What was asked for. */
export interface ReplayPlan {
  readonly filter: ReplayFilter
  readonly include: readonly Includable[]
  readonly ratePerSecond: number
  /** So many first; then their results are waited for. */
  readonly canary: number
  readonly stopOnFailureRate: number
  readonly overLast: number
  readonly reason?: string
}

export interface ReplayFilter {
  readonly destination?: string
  readonly causeId?: string
  readonly reason?: GiveUpReason
  readonly policyId?: string
  readonly errorCode?: string
  readonly createdFrom?: number
  readonly createdTo?: number
  readonly endedFrom?: number
  readonly endedTo?: number
  /** These and no others. */
  readonly taskIds?: readonly string[]
}

export const PLAN_DEFAULTS: Pick<ReplayPlan, 'include' | 'canary' | 'stopOnFailureRate' | 'overLast'> = {
  include: [],
  canary: 5, // enough to see whether the target is well, few enough to be forgiven
  stopOnFailureRate: 0.2, // what is still broken shows at once; what fails now and then does not stop a run
  overLast: 50,
}

/** Endings that a replay would most likely repeat, or worse: they are left out unless they are asked for. */
export const INCLUDABLE = ['permanent', 'not-idempotent'] as const
export type Includable = (typeof INCLUDABLE)[number]

export type SkippedBecause = (typeof SKIPPED_BECAUSE)[number]

export const SKIPPED_BECAUSE = [
  'permanent',
  'not-idempotent',
  'body-missing',
  'policy-missing',
  'no-longer-dead',
] as const

export interface Skipped {
  readonly because: SkippedBecause
  readonly count: number
  /** Some of them. */
  readonly sampleTaskIds: readonly string[]
}

export interface Pulse {
  readonly at: number
  readonly sent: number
}

export function newReplay(plan: ReplayPlan, { createdBy, now }: { createdBy: string; now: number }): ReplayDocument {
  return {
    ...plan,
    createdBy,
    asOf: now,
    status: 'PLANNING',
    statusSince: now,
    selected: 0,
    skipped: [],
    destinations: [],
    hasMoreDestinations: false,
    isWalked: false,
    nextAt: now,
    start: { at: now, moved: 0, sent: 0 },
    isProven: false,
    pulses: [],
  }
}

export function isUnderWay({ status }: Pick<ReplayDocument, 'status'>): boolean {
  return status === 'CANARY' || status === 'RUNNING'
}

/** Whether it was ever set going. */
export function hasRun({ pulses }: Pick<ReplayDocument, 'pulses'>): boolean {
  return pulses.length > 0
}

/** What an operator wants of a replay. */
export type ReplayAction =
  | { readonly kind: 'run' }
  | { readonly kind: 'pause' }
  | { readonly kind: 'resume'; readonly ratePerSecond?: number }
  | { readonly kind: 'cancel' }

/** What it becomes; itself where that has been done already, undefined where its status does not allow it. */
export function act(
  replay: ReplayDocument,
  action: ReplayAction,
  { counts, now }: { readonly counts: ReplayCounts; readonly now: number },
): ReplayDocument | undefined {
  switch (action.kind) {
    case 'run':
      if (isUnderWay(replay)) return replay
      return replay.status === 'PLANNED' ? setGoing(replay, counts, now) : undefined
    case 'pause':
      if (replay.status === 'PAUSED') return replay
      return isUnderWay(replay) ? become(replay, 'PAUSED', now) : undefined
    case 'resume': {
      const { ratePerSecond = replay.ratePerSecond } = action
      if (isUnderWay(replay)) return ratePerSecond === replay.ratePerSecond ? replay : { ...replay, ratePerSecond }
      const isHalted = replay.status === 'PAUSED' || replay.status === 'STOPPED'
      return isHalted ? setGoing({ ...replay, ratePerSecond }, counts, now) : undefined
    }
    case 'cancel':
      if (replay.status === 'CANCELLED') return replay
      return replay.status === 'FINISHED' ? undefined : become(replay, 'CANCELLED', now)
  }
}

/** What was stopped by its rule, or never proven, begins with a canary. */
function setGoing(replay: ReplayDocument, { moved, sent }: ReplayCounts, now: number): ReplayDocument {
  const isProven = replay.canary === 0 || (replay.isProven && replay.status !== 'STOPPED')
  return {
    ...become(replay, isProven ? 'RUNNING' : 'CANARY', now),
    isProven,
    nextAt: Math.max(now, replay.nextAt),
    start: { at: now, moved, sent },
    pulses: [{ at: now, sent }],
  }
}

/** What was true only of the status before is left behind. */
export function become(replay: ReplayDocument, status: ReplayStatus, now: number): ReplayDocument {
  const { waitsFor: _, waitsForRoom: __, stopped: ___, ...rest } = replay
  return { ...rest, status, statusSince: now }
}

/** Whether two of one tenant send to the same destination. */
export function overlap(one: ReplayDocument, other: ReplayDocument): boolean {
  if (one.hasMoreDestinations || other.hasMoreDestinations) return true
  return one.destinations.some(destination => other.destinations.includes(destination))
}
