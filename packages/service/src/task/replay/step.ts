/** What a replay does next: a pure rule, asked many times a second by whoever looks after it. */
import type { ReplayCounts } from './counts.ts'
import { become, hasRun, isUnderWay, type ReplayDocument, type Stopped } from './replay.ts'
import { withGone } from './selection.ts'

export type ReplayStep =
  | { readonly kind: 'rest' }
  /** A page more of the selection is to be counted. */
  | { readonly kind: 'count' }
  /** So many are to be brought back, each due at its turn. */
  | { readonly kind: 'move'; readonly turns: readonly number[] }
  | { readonly kind: 'become'; readonly replay: ReplayDocument }
  /** It ended long ago. */
  | { readonly kind: 'forget' }

export interface ReplayMoment {
  readonly counts: ReplayCounts
  /** A replay that was set going earlier and has one of the destinations for itself. */
  readonly ahead?: string
  readonly now: number
}

const MINUTE_MS = 60_000
const DAY_MS = 86_400_000

/** A plan that is older speaks of a world that is gone. */
const PLAN_LASTS_MS = 15 * MINUTE_MS
/** Whoever paused or was told of a stop had a week to come back. */
const HALT_LASTS_MS = 7 * DAY_MS
const KEPT_MS = 7 * DAY_MS
/** What never ran did nothing that anybody would ask for, and leaves room for other plans. */
const UNRUN_KEPT_MS = DAY_MS

export function nextStep(replay: ReplayDocument, moment: ReplayMoment): ReplayStep {
  const { now } = moment
  const heldMs = now - replay.statusSince
  switch (replay.status) {
    case 'PLANNING':
      return { kind: 'count' }
    case 'PLANNED':
      return heldMs < PLAN_LASTS_MS ? REST : lapsed(replay, 'not-run', now)
    case 'PAUSED':
    case 'STOPPED':
      return heldMs < HALT_LASTS_MS ? REST : lapsed(replay, 'not-resumed', now)
    case 'CANCELLED':
    case 'FINISHED':
      return heldMs < (hasRun(replay) ? KEPT_MS : UNRUN_KEPT_MS) ? REST : { kind: 'forget' }
    case 'CANARY':
    case 'RUNNING':
      return stepOfRun(replay, moment)
  }
}

const REST: ReplayStep = { kind: 'rest' }

function lapsed(replay: ReplayDocument, endedFor: 'not-run' | 'not-resumed', now: number): ReplayStep {
  return { kind: 'become', replay: { ...become(replay, 'CANCELLED', now), endedFor } }
}

function stepOfRun(replay: ReplayDocument, moment: ReplayMoment): ReplayStep {
  const { counts, ahead, now } = moment
  const stopped = stopOf(replay, counts)
  if (stopped !== undefined) return { kind: 'become', replay: { ...become(replay, 'STOPPED', now), stopped } }
  if (ahead !== replay.waitsFor) return { kind: 'become', replay: waitingFor(replay, ahead) }
  if (ahead !== undefined) return REST
  const isSeen = counts.waiting + counts.underWay === 0
  if (replay.isWalked && isSeen)
    return { kind: 'become', replay: withGone(become(replay, 'FINISHED', now), counts.moved) }
  if (!replay.isProven && isSeen && counts.moved - replay.start.moved >= replay.canary)
    return { kind: 'become', replay: { ...become(replay, 'RUNNING', now), isProven: true } }
  const turns = turnsOf(replay, counts, now)
  if (turns.length > 0) return { kind: 'move', turns }
  return isPulseDue(replay, now) ? { kind: 'become', replay: withPulse(replay, counts, now) } : REST
}

function waitingFor(replay: ReplayDocument, ahead: string | undefined): ReplayDocument {
  const { waitsFor: _, ...rest } = replay
  return ahead === undefined ? rest : { ...rest, waitsFor: ahead }
}

/**
 * What trips the stop rule: too many failures for the last so many to be any good, however those still to come turn out.
 * A canary, and a replay of few, is judged by as many as it has.
 */
export function stopOf(replay: ReplayDocument, counts: ReplayCounts): Stopped | undefined {
  const sent = counts.sent - replay.start.sent
  const size = replay.isProven ? replay.selected : Math.min(replay.canary, replay.selected)
  const overLast = Math.max(1, Math.min(replay.overLast, size))
  const outcomes = sent === 0 ? '' : counts.recent.slice(-Math.min(overLast, sent))
  const failed = outcomes.split('1').length - 1
  return failed / overLast > replay.stopOnFailureRate ? { failed, of: outcomes.length, overLast } : undefined
}

/** So far ahead, and so much unsent, at most: that is what a pause, a stop or a cancel comes too late for. */
export const LOOKAHEAD_MS = 100
/** So much of what nobody could plan in time is made up for, a look ahead at a time: a busy moment costs no rate. */
const MADE_UP_MS = 500
/** In one write. */
const MOST_TURNS = 250

/**
 * The instants of the next ones. They follow each other at the rate, whenever they are planned, so that nothing drifts. A
 * longer time in which nothing could be planned is not made up for, so that nothing bursts.
 */
export function turnsOf(replay: ReplayDocument, { moved, waiting }: ReplayCounts, now: number): number[] {
  if (replay.isWalked) return []
  const gapMs = 1_000 / replay.ratePerSecond
  const hasBegun = moved > replay.start.moved
  const first = Math.max(hasBegun ? now - MADE_UP_MS : now, replay.nextAt)
  const mostUnsent = Math.max(1, Math.ceil(LOOKAHEAD_MS / gapMs))
  const canaryLeft = replay.isProven ? Infinity : replay.start.moved + replay.canary - moved
  const room = Math.min(mostUnsent - waiting, canaryLeft, MOST_TURNS)
  const inTime = Math.floor((now + LOOKAHEAD_MS - first) / gapMs) + 1
  return Array.from({ length: Math.max(0, Math.min(room, inTime)) }, (_, at) => first + at * gapMs)
}

/**
 * When a task whose turn it is becomes due. Those of one beat go together, for then one write claims them and one settles
 * them: at some hundreds a second that halves the work, and live tasks find the service free.
 */
export function dueAtOf(turn: number): number {
  return Math.ceil(turn / BEAT_MS) * BEAT_MS
}

const BEAT_MS = 10

/** What a step of moving leads to: where to go on, and when the next one's turn is. */
export interface MovedStep {
  /** The turns that were taken. */
  readonly taken: readonly number[]
  /** Nothing of the selection is left. */
  readonly isWalked: boolean
  /** Where to go on; undefined: at its beginning. */
  readonly nextCursor: string | undefined
}

export function afterMove(
  replay: ReplayDocument,
  { taken, isWalked, nextCursor }: MovedStep,
  { counts, now }: ReplayMoment,
): ReplayDocument {
  const { cursor: _, waitsForRoom: __, ...rest } = replay
  const last = taken.at(-1)
  const place = { ...(isWalked && { isWalked }), ...(nextCursor !== undefined && { cursor: nextCursor }) }
  const nextAt = last === undefined ? replay.nextAt : last + 1_000 / replay.ratePerSecond
  const moved = { ...rest, ...place, nextAt }
  return isPulseDue(replay, now) ? withPulse(moved, counts, now) : moved
}

/** The rate is told over five to ten seconds. */
const PULSE_MS = 5_000

function isPulseDue({ pulses }: ReplayDocument, now: number): boolean {
  return now - (pulses.at(-1)?.at ?? 0) >= PULSE_MS
}

function withPulse(replay: ReplayDocument, { sent }: ReplayCounts, now: number): ReplayDocument {
  return { ...replay, pulses: [...replay.pulses.slice(-1), { at: now, sent }] }
}

/** Sent per second, lately. */
export function rateNow(replay: ReplayDocument, { sent }: Pick<ReplayCounts, 'sent'>, now: number): number {
  const [before] = replay.pulses
  if (!isUnderWay(replay) || before === undefined || now <= before.at) return 0
  return ((sent - before.sent) * 1_000) / Math.max(1_000, now - before.at)
}

/** Selected, and neither moved nor found to be gone. */
export function leftOf(replay: ReplayDocument, { moved }: Pick<ReplayCounts, 'moved'>): number {
  return replay.status === 'FINISHED' ? 0 : Math.max(0, replay.selected - moved)
}
