/**
 * The breaker's rule.
 *
 *               too many bad calls               openMs passed
 *   closed ───────────────────────► open ───────────────────────► half-open
 *     ▲                              ▲                             │     │
 *     │                              └──── probes failed ──────────┘     │
 *     └───────────────────────── probes succeeded ───────────────────────┘
 *
 *  1. Only calls that were made count, and only in the phase that let them start: a permit carries its phase's
 *     generation, and a result from an earlier one changes nothing.
 *  2. Time alone turns open into half-open, when somebody asks: no timer runs.
 *  3. A probe is a lease. One that never ends is forgotten after `probeTimeoutMs`, and its late result with it.
 *  4. Whoever finds no free probe is refused at once, never queued.
 *
 * The state is plain data, changed in place: it is written at every call.
 */
import type { Outcome } from '../classify/outcome.ts'
import { emptyMemory, isTooBad, remember, type CallMemory, type CallResult } from './memory.ts'
import type { BreakerPolicy } from './policy.ts'

export interface BreakerState {
  phase: BreakerPhase
  /** Grows with every change of phase. */
  generation: number
  /** Set by hand: it stays so until it is released. */
  forced: 'open' | 'closed' | null
  /** Openings since the last recovery. */
  openings: number
}

export type BreakerPhase =
  | { readonly kind: 'closed'; readonly memory: CallMemory }
  | { readonly kind: 'open'; readonly until: number }
  | { readonly kind: 'half-open'; readonly probes: Probes }

export interface Probes {
  /** Probes under way, in the order in which they began. */
  readonly leases: { readonly lease: number; readonly endsAt: number }[]
  nextLease: number
  good: number
  failed: number
  slow: number
}

/** Leave to start, to be handed back with the result. */
export interface Permit {
  readonly generation: number
  /** Only probes have one. */
  readonly lease?: number
}

export type BreakerAnswer =
  | { readonly kind: 'yes'; readonly permit: Permit }
  | { readonly kind: 'no'; readonly reason: 'breaker-open'; readonly until: number }

export function closedBreaker(policy: BreakerPolicy, now: number): BreakerState {
  return { phase: { kind: 'closed', memory: emptyMemory(policy, now) }, generation: 0, forced: null, openings: 0 }
}

/** Whether a call may start now. A probe that asks again, for its next attempt, goes on under the lease it holds. */
export function mayStart(policy: BreakerPolicy, state: BreakerState, now: number, held?: Permit): BreakerAnswer {
  if (state.forced === 'open') return { kind: 'no', reason: 'breaker-open', until: now + policy.openMs }
  if (state.phase.kind === 'open' && now >= state.phase.until)
    enter(state, { kind: 'half-open', probes: { leases: [], nextLease: 0, good: 0, failed: 0, slow: 0 } })
  switch (state.phase.kind) {
    case 'closed':
      return { kind: 'yes', permit: { generation: state.generation } }
    case 'open':
      return { kind: 'no', reason: 'breaker-open', until: state.phase.until }
    case 'half-open':
      return mayProbe(policy, state, state.phase.probes, now, held)
  }
}

/** A call ended. */
export function record(
  policy: BreakerPolicy,
  state: BreakerState,
  permit: Permit,
  result: CallResult,
  now: number,
): void {
  if (permit.generation !== state.generation || state.forced !== null) return
  if (state.phase.kind === 'half-open') return recordProbe(policy, state, state.phase.probes, { permit, result, now })
  if (state.phase.kind !== 'closed' || result === 'ignored') return
  remember(policy, state.phase.memory, result, now)
  if (isTooBad(policy, state.phase.memory, now)) open(policy, state, now)
}

/** What an outcome is to a breaker. */
export function resultOf(policy: BreakerPolicy, outcome: Outcome, durationMs: number): CallResult {
  if (outcome.kind === 'failure' && outcome.fault === 'ignored') return 'ignored'
  // A known permanent failure is an answer: the dependency is there and says no.
  if (outcome.kind === 'failure' && (outcome.fault !== 'permanent' || outcome.unknown === true)) return 'failed'
  return policy.slowCallMs !== undefined && durationMs > policy.slowCallMs ? 'slow' : 'good'
}

/** Sets the breaker by hand, or with null lets it judge for itself again, from the beginning. */
export function force(policy: BreakerPolicy, state: BreakerState, forced: 'open' | 'closed' | null, now: number): void {
  state.forced = forced
  close(policy, state, now)
}

export type BreakerPhaseName = 'closed' | 'open' | 'half-open' | 'forced-open' | 'forced-closed'

/** The phase as users see it. An open breaker whose time is over is half-open, though nobody has asked yet. */
export function phaseOf(state: BreakerState, now: number): BreakerPhaseName {
  if (state.forced !== null) return `forced-${state.forced}`
  return state.phase.kind === 'open' && now >= state.phase.until ? 'half-open' : state.phase.kind
}

function mayProbe(
  policy: BreakerPolicy,
  state: BreakerState,
  probes: Probes,
  now: number,
  held?: Permit,
): BreakerAnswer {
  // Leases end in the order in which they were given.
  while (probes.leases[0] !== undefined && probes.leases[0].endsAt <= now) probes.leases.shift()
  if (held?.generation === state.generation && probes.leases.some(({ lease }) => lease === held.lease))
    return { kind: 'yes', permit: held }
  if (probes.leases.length + endedProbes(probes) >= policy.probes)
    return { kind: 'no', reason: 'breaker-open', until: probes.leases[0]?.endsAt ?? now }
  const lease = probes.nextLease++
  probes.leases.push({ lease, endsAt: now + policy.probeTimeoutMs })
  return { kind: 'yes', permit: { generation: state.generation, lease } }
}

interface ProbeEnd {
  readonly permit: Permit
  readonly result: CallResult
  readonly now: number
}

/** Judged as soon as the probes still to come could not change the verdict. */
function recordProbe(
  policy: BreakerPolicy,
  state: BreakerState,
  probes: Probes,
  { permit, result, now }: ProbeEnd,
): void {
  const place = probes.leases.findIndex(({ lease }) => lease === permit.lease)
  if (place < 0) return
  probes.leases.splice(place, 1)
  if (result === 'ignored') return
  probes[result]++
  const toCome = policy.probes - endedProbes(probes)
  if (areTooBad(policy, probes, 0)) open(policy, state, now)
  else if (!areTooBad(policy, probes, toCome)) close(policy, state, now)
}

function endedProbes({ good, failed, slow }: Probes): number {
  return good + failed + slow
}

/** Seven hundredths of a hundred are a little more than seven. */
const EPSILON = 1e-9

/** By the rates that opened the breaker; where failures in a row did, one is enough. `more` may still turn out bad. */
function areTooBad(policy: BreakerPolicy, { failed, slow }: Probes, more: number): boolean {
  if (policy.window === 'consecutive') return failed + slow + more > 0
  const reaches = (bad: number, rate: number): boolean => bad + more >= rate * policy.probes - EPSILON
  return reaches(failed, policy.failureRate) || (policy.slowCallMs !== undefined && reaches(slow, policy.slowCallRate))
}

function open(policy: BreakerPolicy, state: BreakerState, now: number): void {
  const openMs = Math.min(policy.maxOpenMs, policy.openMs * policy.openMultiplier ** state.openings)
  state.openings++
  enter(state, { kind: 'open', until: now + openMs })
}

function close(policy: BreakerPolicy, state: BreakerState, now: number): void {
  state.openings = 0
  enter(state, { kind: 'closed', memory: emptyMemory(policy, now) })
}

function enter(state: BreakerState, phase: BreakerPhase): void {
  state.phase = phase
  state.generation++
}
