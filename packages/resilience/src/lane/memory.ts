import { phaseOf, type BreakerState } from '../breaker/decide.ts'
import { within } from '../limiter/state.ts'
import type { Tokens } from '../tokens/decide.ts'
import { LONGEST_HOLD_MS, newLane, opensAt, type LaneState } from './decide.ts'
import type { LanePolicy } from './policy.ts'

/** What must outlive whoever serves a lane: flat and small, written when it changes. */
export type LaneMemory = {
  readonly phase: 'closed' | 'held' | 'open' | 'half-open'
  /** The limit grows from one since then; 0 when it has long been whole. */
  readonly since: number
  /** `opensAt`; 0 when the lane is open. */
  readonly until: number
  /** Openings of the breaker since the last recovery. */
  readonly openings: number
  /** What the adaptive limit has learned; null where there is none. */
  readonly limit: number | null
}

export function memoryOf(state: LaneState, now: number): LaneMemory {
  const until = opensAt(state)
  return {
    phase: phaseName(state, now),
    since: state.rampSince,
    until: until > now ? until : 0,
    openings: state.breaker.openings,
    limit: state.learned?.limit ?? null,
  }
}

/**
 * A lane as its next keeper takes it up. What nobody wrote down is taken from the safe side: no tokens, no floor under
 * the budget until a window has passed, and, where nothing at all is remembered, one request at a time to begin with.
 */
export function laneFrom(policy: LanePolicy, memory: unknown, now: number): LaneState {
  const known = isMemory(memory) ? memory : undefined
  const state = newLane(policy, now)
  const { learned } = state
  if (learned !== undefined) learned.limit = within(policy.limiter!, known?.limit ?? learned.limit)
  return {
    ...state,
    ...unknownSpending(policy, state, now),
    breaker: known === undefined ? state.breaker : breakerFrom(policy, known, state.breaker, now),
    heldUntil: known?.phase === 'held' ? Math.min(known.until, now + LONGEST_HOLD_MS) : state.heldUntil,
    rampSince: known === undefined ? now : Math.min(known.since, Math.max(now, known.until)),
  }
}

/** What nobody knows the spending of begins with nothing to spend. */
export function unknownSpending(
  { budget, rateLimit }: LanePolicy,
  state: LaneState,
  now: number,
): Pick<LaneState, 'budget' | 'bucket' | 'floorSince'> {
  const nothing: Tokens = { tokens: 0, countedAt: now }
  return {
    budget: budget.kind === 'rate' ? nothing : state.budget,
    bucket: rateLimit && { ...nothing },
    floorSince: budget.kind === 'rate' ? state.floorSince : now + budget.windowMs,
  }
}

function phaseName(state: LaneState, now: number): LaneMemory['phase'] {
  const phase = phaseOf(state.breaker, now)
  if (phase === 'open' || phase === 'half-open') return phase
  return state.heldUntil > now ? 'held' : 'closed'
}

/** Half-open, its probes begin anew: nobody knows how far the last ones had come. */
function breakerFrom(policy: LanePolicy, known: LaneMemory, closed: BreakerState, now: number): BreakerState {
  if (known.phase === 'closed' || known.phase === 'held' || closed.forced !== null) return closed
  // Nobody opened it for longer than the policies allow.
  const longestMs = Math.max(policy.breaker.maxOpenMs, LONGEST_HOLD_MS)
  return { ...closed, phase: { kind: 'open', until: Math.min(known.until, now + longestMs) }, openings: known.openings }
}

const PHASES: readonly unknown[] = ['closed', 'held', 'open', 'half-open']

/** It comes out of a store that may be older or newer than this program; rules trust what they are given. */
function isMemory(memory: unknown): memory is LaneMemory {
  if (typeof memory !== 'object' || memory === null) return false
  const { phase, since, until, openings, limit } = memory as { readonly [field: string]: unknown }
  const isCount = (value: unknown): boolean => typeof value === 'number' && Number.isFinite(value) && value >= 0
  return PHASES.includes(phase) && [since, until, openings].every(isCount) && (limit === null || isCount(limit))
}
