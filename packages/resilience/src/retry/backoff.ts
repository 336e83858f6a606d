import type { RetryPolicy } from './policy.ts'

/** The whole milliseconds among which a wait is drawn, all equally likely. */
export interface DelayRange {
  readonly minMs: number
  readonly maxMs: number
}

/** What a delay depends on besides the policy. */
export interface DelayState {
  /** Attempts made so far: the wait before retry n follows attempt n. */
  readonly attempt: number
  /** The wait before, for `DECORRELATED`; `initialDelayMs` when there was none. */
  readonly previousDelayMs: number
}

/** The wait after attempt `state.attempt`: one of its range, chosen by `roll`, a number in [0, 1]. */
export function delayMs(policy: RetryPolicy, state: DelayState, roll: number): number {
  const { minMs, maxMs } = drawRange(policy, state)
  // A die that shows no number is read as its lowest: no wait is worse than one that has an end.
  const drawn = Math.min(maxMs, minMs + Math.floor((roll || 0) * (maxMs - minMs + 1)))
  // Capped after the draw, so that a decorrelated wait can reach the cap.
  return Math.max(policy.minDelayMs, policy.jitterType === 'DECORRELATED' ? Math.min(policy.maxDelayMs, drawn) : drawn)
}

/** Where the wait after attempt `state.attempt` lies, floor and cap included. */
export function delayRange(policy: RetryPolicy, state: DelayState): DelayRange {
  const { minMs, maxMs } = drawRange(policy, state)
  const cap = policy.jitterType === 'DECORRELATED' ? policy.maxDelayMs : maxMs
  return {
    minMs: Math.max(policy.minDelayMs, Math.min(cap, minMs)),
    maxMs: Math.max(policy.minDelayMs, Math.min(cap, maxMs)),
  }
}

/** The delay before jitter. Capped here, before jitter, so that a full spread survives at the cap. */
export function plainDelayMs(policy: RetryPolicy, retry: number): number {
  return Math.min(policy.maxDelayMs, curve(policy, retry))
}

function drawRange(policy: RetryPolicy, state: DelayState): DelayRange {
  const delay = plainDelayMs(policy, state.attempt)
  switch (policy.jitterType) {
    case 'NONE':
      return { minMs: Math.round(delay), maxMs: Math.round(delay) }
    case 'FULL':
      return between(0, delay)
    case 'EQUAL':
      return between(delay / 2, delay)
    case 'DECORRELATED':
      return between(policy.initialDelayMs, 3 * Math.max(policy.initialDelayMs, state.previousDelayMs))
    case 'PROPORTIONAL':
      return between(delay * (1 - policy.jitterRatio), delay * (1 + policy.jitterRatio))
  }
}

/**
 * Timers know whole milliseconds. A range that holds fewer than two of them would be no jitter at all, so it is
 * widened by one, downward: the upper end is a promise.
 */
function between(from: number, to: number): DelayRange {
  const maxMs = Math.floor(to)
  return { minMs: Math.max(0, Math.min(Math.ceil(from), maxMs - 1)), maxMs }
}

function curve(policy: RetryPolicy, retry: number): number {
  switch (policy.backoffType) {
    case 'EXPONENTIAL':
      // Zero times infinity would be no number.
      return policy.initialDelayMs === 0 ? 0 : policy.initialDelayMs * policy.multiplier ** (retry - 1)
    case 'LINEAR':
      return policy.initialDelayMs * retry
    case 'FIXED':
      return policy.initialDelayMs
    case 'FIBONACCI':
      return fibonacciDelayMs(policy.initialDelayMs, retry, policy.maxDelayMs)
    case 'CUSTOM':
      return policy.delaysMs![Math.min(retry, policy.delaysMs!.length) - 1]!
  }
}

/** Stops at the cap: what is above it makes no difference, and the sequence outgrows every number. */
function fibonacciDelayMs(unitMs: number, retry: number, capMs: number): number {
  let [before, delay] = [0, unitMs]
  for (let n = 1; n < retry && delay > 0 && delay < capMs; n++) [before, delay] = [delay, before + delay]
  return delay
}
