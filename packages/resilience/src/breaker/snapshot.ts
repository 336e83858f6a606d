import { isRecord, type Problem } from '../check/problems.ts'
import type { BreakerPhase, BreakerState } from './decide.ts'
import { emptyMemory } from './memory.ts'
import type { BreakerPolicy } from './policy.ts'

/** Everything a breaker remembers, as JSON: survives a restart, or a function that is frozen between calls. */
export interface BreakerSnapshot {
  /** Wall time at which it was taken. */
  readonly takenAt: number
  /** The monotonic instant of the same moment, for the instants inside. */
  readonly monotonicAt: number
  readonly state: BreakerState
}

export interface Instant {
  readonly now: number
  readonly monotonic: number
}

export function takeSnapshot(state: BreakerState, at: Instant): BreakerSnapshot {
  return { takenAt: at.now, monotonicAt: at.monotonic, state: structuredClone(state) }
}

/**
 * The state as it would be at `at`: monotonic clocks of two processes have nothing in common, so every instant is
 * moved by what separates them, and the wall time that has passed meanwhile counts.
 */
export function stateFrom(snapshot: BreakerSnapshot, policy: BreakerPolicy, at: Instant): BreakerState {
  const passedMs = Math.max(0, at.now - snapshot.takenAt)
  const moved = (instant: number): number => instant - snapshot.monotonicAt - passedMs + at.monotonic
  const state = structuredClone(snapshot.state)
  return { ...state, phase: movedPhase(state.phase, policy, moved, at.monotonic) }
}

/** All problems of what claims to be a snapshot. */
export function checkSnapshot(input: unknown): Problem[] {
  const problem = (say: string): Problem[] => [{ at: 'snapshot', is: input, say }]
  if (!isRecord(input) || !Number.isFinite(input['takenAt']) || !Number.isFinite(input['monotonicAt']))
    return problem('must be what snapshot() returned')
  const { state } = input
  if (!isRecord(state) || !isRecord(state['phase']) || !Number.isInteger(state['generation']))
    return problem('must have a state with phase and generation')
  return isPhase(state['phase']) ? [] : problem('must have a phase that is closed, open or half-open, with its fields')
}

function isPhase(phase: { readonly [field: string]: unknown }): boolean {
  const { kind, until, probes, memory } = phase
  if (kind === 'open') return Number.isFinite(until)
  if (kind === 'half-open') return isRecord(probes) && Array.isArray(probes['leases'])
  return kind === 'closed' && isRecord(memory) && typeof memory['kind'] === 'string'
}

function movedPhase(
  phase: BreakerPhase,
  policy: BreakerPolicy,
  moved: (at: number) => number,
  now: number,
): BreakerPhase {
  switch (phase.kind) {
    case 'open':
      return { kind: 'open', until: moved(phase.until) }
    case 'half-open': {
      const leases = phase.probes.leases.map(({ lease, endsAt }) => ({ lease, endsAt: moved(endsAt) }))
      return { kind: 'half-open', probes: { ...phase.probes, leases } }
    }
    case 'closed': {
      // A memory of another kind than the policy now asks for cannot be judged by it.
      if (phase.memory.kind !== policy.window) return { kind: 'closed', memory: emptyMemory(policy, now) }
      if (phase.memory.kind === 'time') phase.memory.window.endsAt = moved(phase.memory.window.endsAt)
      return phase
    }
  }
}
