import { force, type BreakerState } from '../breaker/decide.ts'
import { stateFrom, takeSnapshot } from '../breaker/snapshot.ts'
import { startLimit, within } from '../limiter/state.ts'
import type { Tokens } from '../tokens/decide.ts'
import { newLane, type LaneState } from './decide.ts'
import { unknownSpending } from './memory.ts'
import type { LanePolicy } from './policy.ts'

/**
 * A lane whose policy has changed while it is served. It keeps what it remembers: an open breaker stays open, a hold and a
 * ramp go on. What cannot be read by the new policy, because it was counted in another way, is taken from the safe side.
 */
export function changeLane(before: LanePolicy, after: LanePolicy, state: LaneState, now: number): LaneState {
  return {
    ...state,
    ...spendingUnder(before, after, state, now),
    breaker: breakerUnder(before, after, state.breaker, now),
    learned: after.limiter && {
      ...(state.learned ?? startLimit(after.limiter)),
      limit: within(after.limiter, state.learned?.limit ?? after.limiter.initialLimit),
    },
  }
}

function spendingUnder(before: LanePolicy, after: LanePolicy, state: LaneState, now: number): Spending {
  const unknown = unknownSpending(after, newLane(after, now), now)
  return {
    ...(countsAlike(before, after)
      ? budgetUnder(after, state)
      : { budget: unknown.budget, floorSince: unknown.floorSince }),
    // A burst that nobody has spent yet is no reason for one.
    bucket: after.rateLimit && (cappedAt(after.rateLimit.burst, state.bucket) ?? unknown.bucket),
  }
}

type Spending = ReturnType<typeof unknownSpending>

function countsAlike({ budget: before }: LanePolicy, { budget: after }: LanePolicy): boolean {
  if (before.kind === 'ratio') return after.kind === 'ratio' && after.windowMs === before.windowMs
  return after.kind === 'rate'
}

function budgetUnder({ budget }: LanePolicy, state: LaneState): Pick<Spending, 'budget' | 'floorSince'> {
  const { floorSince } = state
  if (budget.kind === 'ratio') return { budget: state.budget, floorSince }
  return { budget: cappedAt(budget.burst, state.budget as Tokens)!, floorSince }
}

function cappedAt(burst: number, tokens: Tokens | undefined): Tokens | undefined {
  return tokens && { ...tokens, tokens: Math.min(burst, tokens.tokens) }
}

function breakerUnder(before: LanePolicy, after: LanePolicy, state: BreakerState, now: number): BreakerState {
  const at = { now, monotonic: now }
  const isSame = JSON.stringify(before.breaker) === JSON.stringify(after.breaker)
  const breaker = isSame ? state : stateFrom(takeSnapshot(state, at), after.breaker, at)
  const forced = after.orders?.forced ?? null
  if (forced !== breaker.forced) force(after.breaker, breaker, forced, now)
  return breaker
}
