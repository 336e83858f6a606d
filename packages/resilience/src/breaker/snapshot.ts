import { isRecord, type Problem } from '../check/problems.ts'
import type { BreakerPhase, BreakerState } from './decide.ts'
import { emptyMemory, type CallMemory } from './memory.ts'
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

/** All problems of what claims to be a snapshot: it may come from a file, and rules trust what they are given. */
export function checkSnapshot(input: unknown): Problem[] {
  const problem = (say: string): Problem[] => [{ at: 'snapshot', is: typeof input, say }]
  if (!isRecord(input) || !Number.isFinite(input['takenAt']) || !Number.isFinite(input['monotonicAt']))
    return problem('must be what snapshot() returned')
  const { state } = input
  if (!isRecord(state) || !areCounts(state, 'generation', 'openings') || !FORCED.includes(state['forced']))
    return problem('must have a state with generation, openings and forced')
  return isPhase(state['phase']) ? [] : problem('must have a phase that is closed, open or half-open, with its fields')
}

const FORCED: readonly unknown[] = [null, 'open', 'closed']

function isPhase(phase: unknown): boolean {
  if (!isRecord(phase)) return false
  if (phase['kind'] === 'open') return Number.isFinite(phase['until'])
  if (phase['kind'] === 'half-open') return isProbes(phase['probes'])
  return phase['kind'] === 'closed' && isMemory(phase['memory'])
}

function isProbes(probes: unknown): boolean {
  if (!isRecord(probes) || !areCounts(probes, 'nextLease', 'good', 'failed', 'slow')) return false
  return isList(
    probes['leases'],
    lease => isRecord(lease) && areCounts(lease, 'lease') && Number.isFinite(lease['endsAt']),
  )
}

function isMemory(memory: unknown): boolean {
  if (!isRecord(memory)) return false
  if (memory['kind'] === 'consecutive') return areCounts(memory, 'badInARow')
  if (memory['kind'] === 'count') return isRing(memory)
  return memory['kind'] === 'time' && isWindow(memory['window'])
}

function isRing({ latest, oldest, sums }: { readonly [field: string]: unknown }): boolean {
  if (!isCounts([oldest], 1) || !isCounts(sums, 3)) return false
  if (!isList(latest, result => ['good', 'failed', 'slow'].includes(result as string))) return false
  const have = (wanted: string): number => latest.filter(result => result === wanted).length
  return sums[0] === latest.length && sums[1] === have('failed') && sums[2] === have('slow')
}

function isWindow(window: unknown): boolean {
  if (!isRecord(window) || !areCounts(window, 'current')) return false
  const { current, sliceMs, endsAt, slices, sums } = window
  return (
    Number.isFinite(sliceMs) &&
    Number.isFinite(endsAt) &&
    isList(slices, slice => isCounts(slice, 3)) &&
    slices.length === 10 &&
    (current as number) < slices.length &&
    isCounts(sums, 3) &&
    sums.every((sum, column) => sum === sumOf(slices as readonly number[][], column))
  )
}

/** What leaves the window is taken from the sums: they would be less than nothing if they were not those of its slices. */
function sumOf(slices: readonly number[][], column: number): number {
  return slices.reduce((sum, slice) => sum + slice[column]!, 0)
}

function areCounts(record: { readonly [field: string]: unknown }, ...fields: readonly string[]): boolean {
  return isCounts(
    fields.map(field => record[field]),
    fields.length,
  )
}

function isCounts(list: unknown, length: number): list is readonly number[] {
  return isList(list, entry => Number.isInteger(entry) && (entry as number) >= 0) && list.length === length
}

function isList(list: unknown, check: (entry: unknown) => boolean): list is readonly unknown[] {
  return Array.isArray(list) && Array.from(list).every(check)
}

function movedPhase(
  phase: BreakerPhase,
  policy: BreakerPolicy,
  moved: (at: number) => number,
  now: number,
): BreakerPhase {
  switch (phase.kind) {
    case 'open':
      // Nobody opened it for longer than the policy allows.
      return { kind: 'open', until: Math.min(moved(phase.until), now + policy.maxOpenMs) }
    case 'half-open': {
      const leases = phase.probes.leases.map(({ lease, endsAt }) => ({ lease, endsAt: moved(endsAt) }))
      return { kind: 'half-open', probes: { ...phase.probes, leases } }
    }
    case 'closed':
      return { kind: 'closed', memory: movedMemory(phase.memory, policy, moved, now) }
  }
}

/** What was counted in another kind of window, or in one of another size, cannot be judged by this policy. */
function movedMemory(
  memory: CallMemory,
  policy: BreakerPolicy,
  moved: (at: number) => number,
  now: number,
): CallMemory {
  const empty = emptyMemory(policy, now)
  if (memory.kind !== empty.kind) return empty
  if (memory.kind === 'count') return fitsRing(memory, policy.windowCalls) ? memory : empty
  if (memory.kind !== 'time' || empty.kind !== 'time') return memory
  if (memory.window.sliceMs !== empty.window.sliceMs) return empty
  return { kind: 'time', window: { ...memory.window, endsAt: moved(memory.window.endsAt) } }
}

/** Not yet full, or full to the very size: in a ring of another size the oldest would not be where it is looked for. */
function fitsRing({ latest, oldest }: { latest: readonly unknown[]; oldest: number }, size: number): boolean {
  return latest.length === size ? oldest < size : latest.length < size && oldest === latest.length
}
