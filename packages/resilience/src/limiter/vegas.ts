import type { VegasLimiter } from './policy.ts'
import { isHalfUsed, measuredMs, within, type CallSample, type LimitState } from './state.ts'

/**
 * Vegas, as Netflix's concurrency-limits has it: how much longer than the fastest call a call takes says how many of
 * those under way must be waiting in a queue. A short queue lets the limit grow, a long one makes it shrink.
 */
export function vegas(policy: VegasLimiter, state: LimitState, sample: CallSample): void {
  const durationMs = measuredMs(sample)
  if (isNewBase(policy, state, sample, durationMs)) {
    state.baseMs = durationMs
    return
  }
  const queue = Math.ceil(state.limit * (1 - state.baseMs / durationMs))
  const wanted = within(policy, state.limit + changeFor(queue, state, sample))
  state.limit += policy.smoothing * (wanted - state.limit)
}

function isNewBase(policy: VegasLimiter, state: LimitState, sample: CallSample, durationMs: number): boolean {
  state.samples++
  const isProbe = state.samples >= state.probeShare * policy.probeMultiplier * state.limit
  if (isProbe) {
    state.samples = 0
    state.probeShare = (1 + (sample.roll ?? 0.5)) / 2
  }
  return isProbe || state.baseMs === 0 || durationMs < state.baseMs
}

/** In steps of the limit's order of magnitude: one below a hundred, two below a thousand. */
function changeFor(queue: number, state: LimitState, sample: CallSample): number {
  const step = Math.max(1, Math.floor(Math.log10(state.limit)))
  if (sample.dropped) return -step
  if (!isHalfUsed(state, sample)) return 0
  if (queue <= step) return 6 * step
  if (queue < 3 * step) return step
  return queue > 6 * step ? -step : 0
}
