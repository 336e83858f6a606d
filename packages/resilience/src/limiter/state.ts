import type { LimiterPolicy } from './policy.ts'

/** What a limiter remembers. Plain data, changed in place: it is written at every call. */
export interface LimitState {
  /** So many calls may be under way. Its fraction is kept, so that small steps add up. */
  limit: number
  /** What a call is compared with: the fastest one known (Vegas), or their long average (Gradient2). 0: none yet. */
  baseMs: number
  /** Samples since the base was last found anew (Vegas), or those that its average began with (Gradient2). */
  samples: number
  /** Vegas: after which part of its interval the base is found anew, 0.5 to 1. */
  probeShare: number
  /** The calls that are being averaged, and what they took together. */
  calls: number
  totalMs: number
}

/** How one attempt went. One that says nothing about the dependency, an abort for instance, is no sample. */
export interface CallSample {
  readonly durationMs: number
  /** Calls under way when it began, itself included. */
  readonly inFlight: number
  /** It timed out, or was refused for overload. */
  readonly dropped: boolean
  /** A die in [0, 1), for Vegas only: without it, clients that began together go on probing together. */
  readonly roll?: number
}

export function startLimit(policy: LimiterPolicy): LimitState {
  return { limit: policy.initialLimit, baseMs: 0, samples: 0, probeShare: 0.75, calls: 0, totalMs: 0 }
}

export function isDropped({ slowCallMs = Infinity }: LimiterPolicy, { dropped, durationMs }: CallSample): boolean {
  return dropped || durationMs > slowCallMs
}

/** While less is in use, a fast answer says nothing about a higher limit. */
export function isHalfUsed({ limit }: LimitState, { inFlight }: CallSample): boolean {
  return inFlight * 2 >= limit
}

/** A coarse clock may see no time pass at all; durations are divided by. */
export function measuredMs({ durationMs }: CallSample): number {
  return Math.max(0.001, durationMs)
}

export function within({ minLimit, maxLimit }: LimiterPolicy, limit: number): number {
  return Math.min(maxLimit, Math.max(minLimit, limit))
}
