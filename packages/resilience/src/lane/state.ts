import { BUDGET_RULES } from '../budget/decide.ts'
import { noLatencies, type Latencies } from '../latency/decide.ts'
import { startLimit, type LimitState } from '../limiter/state.ts'
import type { Tokens } from '../tokens/decide.ts'
import type { WindowCounts } from '../window/decide.ts'
import { fullCredit, type CreditState } from './credit.ts'
import type { LanePolicy } from './policy.ts'
import { rampLimit } from './ramp.ts'

/** What is remembered of a lane while it is served. */
export interface LaneState {
  readonly credit: CreditState
  /** Absent where the policy has none. */
  readonly budget: WindowCounts | Tokens | undefined
  readonly bucket: Tokens | undefined
  readonly learned: LimitState | undefined
  readonly latencies: Latencies
  /** The destination asked to be left alone until then; the limit grows from one since. */
  heldUntil: number
  /** Attempts under way that were asked for by hand and had no credit. */
  freeByHand: number
  /** When an attempt was last made that its deadline would probably cut off. */
  doubtedAt: number
  /** When an attempt last began or ended. */
  latestAt: number
}

/** No hold has ever ended then, not even where time begins at 0. */
const NEVER = 0

/** The latest successes of a lane, for the expected duration of the next call. */
const KEPT_LATENCIES = 64

/** A lane that nobody has ever served: it owes nothing, and has all that its policy gives. */
export function newLane(policy: LanePolicy, now: number): LaneState {
  return {
    credit: fullCredit(policy.credit),
    budget: policy.budget && (BUDGET_RULES[policy.budget.kind].start(policy.budget, now) as WindowCounts | Tokens),
    bucket: policy.rateLimit && { tokens: policy.rateLimit.burst, countedAt: now },
    learned: policy.limiter && startLimit(policy.limiter),
    latencies: noLatencies(KEPT_LATENCIES),
    heldUntil: NEVER,
    freeByHand: 0,
    doubtedAt: now,
    latestAt: now,
  }
}

/** After a hold the limit grows from one, whatever it is. */
export function limitAfterHold({ heldUntil }: LaneState, now: number): number {
  return heldUntil === NEVER ? Infinity : Math.max(1, rampLimit(heldUntil, now))
}

/** A lane that has been quiet for so long is like a new one. */
const AT_REST_AFTER_MS = 60_000

/** Whether a new lane would be served in the same way: nobody need keep this one. */
export function isAtRest({ budget, credit, limit }: LanePolicy, state: LaneState, now: number): boolean {
  const memoryMs = Math.max(AT_REST_AFTER_MS, credit.probeMaxMs, budget?.kind === 'ratio' ? budget.windowMs : 0)
  return limitAfterHold(state, now) >= limit && now >= state.latestAt + memoryMs
}
