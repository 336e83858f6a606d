/** The gates of a lane, one by one: how much each lets through, and what it says of itself when it is shut. */
import { BUDGET_RULES, ratioBalance } from '../budget/decide.ts'
import { wholeLimit } from '../limiter/decide.ts'
import { nextTokenAt } from '../rate-limit/decide.ts'
import { refill, type Tokens } from '../tokens/decide.ts'
import { sliceEnds, sumsAt, type WindowCounts } from '../window/decide.ts'
import { creditAt, phaseOf, probeIntervalMs, type CreditPhase } from './credit.ts'
import type { LaneHold } from './hold.ts'
import { START_KINDS, type StartKind } from './kind.ts'
import { everyShut, limitByOrders, reachesByOrders, shutBy } from './orders.ts'
import type { LanePolicy } from './policy.ts'
import { rampReaches } from './ramp.ts'
import { limitAfterHold, type LaneState } from './state.ts'

export type KindHolds = { readonly [kind in StartKind]?: LaneHold }

export type LanePhase = CreditPhase | 'forced-open' | 'forced-closed'

/** As people see it. */
export function lanePhase({ credit, orders }: LanePolicy, state: LaneState): LanePhase {
  return orders?.forced === undefined ? phaseOf(credit, state.credit) : `forced-${orders.forced}`
}

/**
 * So many may be under way at once. After a hold the limit grows from one: a destination that is over its own limit says so
 * to the first request too many, and not to a hundred at once.
 */
export function limitAt(policy: LanePolicy, state: LaneState, now: number): number {
  return Math.min(limitByOrders(policy.orders, steadyLimit(policy, state), now), limitAfterHold(state, now))
}

/** Every gate that is shut now, in their order: behind the one that is named first, others may wait. */
export function shutGates(policy: LanePolicy, state: LaneState, now: number, underWay: number): LaneHold[] {
  const { heldUntil } = state
  const holds: LaneHold[] = everyShut(policy.orders ?? {}, now)
  if (policy.orders?.forced === 'open') holds.push({ reason: 'breaker-open' })
  if (now < heldUntil) holds.push({ reason: 'retry-after', until: heldUntil })
  if (underWay >= limitAt(policy, state, now)) holds.push(noRoom(policy, state, now, underWay))
  if (wholeTokens(policy, state, now) < 1) holds.push(noToken(policy, state))
  return holds
}

/** Besides, what keeps the attempts of one kind. */
export function kindHolds(policy: LanePolicy, state: LaneState, now: number): KindHolds {
  const unpaid = budgetHold(policy, state, now)
  const holds = START_KINDS.flatMap((kind): [StartKind, LaneHold][] => {
    const hold = creditHold(policy, state, kind, now) ?? (kind === 'first' ? undefined : unpaid)
    return hold === undefined ? [] : [[kind, hold]]
  })
  return Object.fromEntries(holds)
}

/** Retries that the budget lets start now, whatever the other gates say; without one, all. */
export function budgetBalance({ budget }: LanePolicy, state: LaneState, now: number): number {
  if (budget === undefined || state.budget === undefined) return Infinity
  const balance = BUDGET_RULES[budget.kind].balance(budget, state.budget, now)
  const whole = Math.round(balance)
  return Math.abs(whole - balance) <= EPSILON ? whole : balance
}

export function creditFor(policy: LanePolicy, state: LaneState, kind: StartKind, now: number): number {
  return policy.orders?.forced === 'closed' ? Infinity : creditAt(policy.credit, state.credit, kind, now)
}

function creditHold(policy: LanePolicy, state: LaneState, kind: StartKind, now: number): LaneHold | undefined {
  if (creditFor(policy, state, kind, now) >= 1) return undefined
  const { credit } = state
  const { probeAt, emptySince } = credit.purses[kind]
  const isOpen = phaseOf(policy.credit, credit) === 'open'
  return {
    reason: isOpen ? 'breaker-open' : 'credit',
    until: probeAt,
    ...(isOpen && credit.silentSince !== null && { since: credit.silentSince }),
    everyMs: Math.round(probeIntervalMs(policy.credit, now - (emptySince ?? now))),
  }
}

function budgetHold(policy: LanePolicy, state: LaneState, now: number): LaneHold | undefined {
  if (budgetBalance(policy, state, now) >= 1) return undefined
  const until = budgetOpensAt(policy, state, now)
  return { reason: 'budget', ...(until !== undefined && { until }) }
}

function steadyLimit(policy: LanePolicy, { learned }: LaneState): number {
  return learned === undefined ? policy.limit : Math.min(policy.limit, wholeLimit(learned))
}

export function noRoom(policy: LanePolicy, state: LaneState, now: number, underWay: number): LaneHold {
  if (shutBy(policy.orders, now) !== undefined) return { reason: 'probing' }
  if (underWay >= steadyLimit(policy, state)) return { reason: 'concurrency' }
  const more = underWay + 1
  const reachesAt = reachesByOrders(policy.orders, more, steadyLimit(policy, state), now)
  return { reason: 'slow-start', until: Math.max(reachesAt, rampReaches(more, state.heldUntil)) }
}

export function noToken({ rateLimit }: LanePolicy, { bucket }: LaneState): LaneHold {
  return { reason: 'rate-limited', until: nextTokenAt(rateLimit!, bucket!) }
}

/** A token's worth of refill is seldom exactly one. */
const EPSILON = 1e-9

export function wholeTokens({ rateLimit }: LanePolicy, { bucket }: LaneState, now: number): number {
  if (rateLimit === undefined || bucket === undefined) return Infinity
  refill(rateLimit, bucket, now)
  return Math.floor(bucket.tokens + EPSILON)
}

/** When a retry can be paid for, if nothing starts until then; first attempts may open it earlier. */
function budgetOpensAt({ budget }: LanePolicy, state: LaneState, now: number): number | undefined {
  if (budget === undefined || state.budget === undefined) return undefined
  if (budget.kind === 'rate') return nextTokenAt(budget, state.budget as Tokens)
  const window = state.budget as WindowCounts
  const changes = sliceEnds(window)
    .filter(at => at > now)
    .toSorted((left, right) => left - right)
  return changes.find(at => ratioBalance(budget, sumsAt(window, at)) >= 1)
}
