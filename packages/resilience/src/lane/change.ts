import { startLimit, within } from '../limiter/state.ts'
import type { Tokens } from '../tokens/decide.ts'
import { creditUnder } from './credit.ts'
import { unknownSpending } from './memory.ts'
import type { LanePolicy } from './policy.ts'
import { newLane, type LaneState } from './state.ts'

/**
 * A lane whose policy has changed while it is served. It keeps what it remembers: purses keep what they hold, a hold goes
 * on. What was counted in another way begins anew, and a rate begins with nothing to spend.
 */
export function changeLane(before: LanePolicy, after: LanePolicy, state: LaneState, now: number): LaneState {
  const unknown = unknownSpending(after, newLane(after, now), now)
  return {
    ...state,
    credit: creditUnder(after.credit, state.credit, now),
    budget: countsAlike(before, after) ? budgetUnder(after, state.budget) : unknown.budget,
    // A burst that nobody has spent yet is no reason for one.
    bucket: after.rateLimit && (cappedAt(after.rateLimit.burst, state.bucket) ?? unknown.bucket),
    learned: after.limiter && {
      ...(state.learned ?? startLimit(after.limiter)),
      limit: within(after.limiter, state.learned?.limit ?? after.limiter.initialLimit),
    },
  }
}

function countsAlike({ budget: before }: LanePolicy, { budget: after }: LanePolicy): boolean {
  if (before?.kind === 'ratio') return after?.kind === 'ratio' && after.windowMs === before.windowMs
  return before?.kind === after?.kind
}

function budgetUnder({ budget }: LanePolicy, state: LaneState['budget']): LaneState['budget'] {
  return budget?.kind === 'rate' ? cappedAt(budget.burst, state as Tokens | undefined) : state
}

function cappedAt(burst: number, tokens: Tokens | undefined): Tokens | undefined {
  return tokens && { ...tokens, tokens: Math.min(burst, tokens.tokens) }
}
