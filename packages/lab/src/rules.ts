/**
 * The rules that the simulated world goes by: the library's own, and no others. What stands in this file itself is what
 * the library keeps to itself as yet; it has one place here, so that it can go without a trace.
 */
import type { BreakerPolicy, CallResult, LimiterPolicy, Outcome } from '@secondwind/resilience'
import type { limiter } from '@secondwind/resilience/rules'

export type LimitState = Parameters<typeof limiter.nextLimit>[1]

/** As `limiter/state.ts` begins. */
export function startLimit(policy: LimiterPolicy): LimitState {
  return { limit: policy.initialLimit, baseMs: 0, samples: 0, probeShare: 0.75, calls: 0, totalMs: 0 }
}

/** As `breaker/run.ts` reads an outcome. */
export function resultOf(policy: BreakerPolicy, outcome: Outcome, durationMs: number): CallResult {
  if (outcome.kind === 'failure' && outcome.fault === 'ignored') return 'ignored'
  if (outcome.kind === 'failure' && (outcome.fault !== 'permanent' || outcome.unknown === true)) return 'failed'
  return policy.slowCallMs !== undefined && durationMs > policy.slowCallMs ? 'slow' : 'good'
}
