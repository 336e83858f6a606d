/**
 * An outage, played with the library's own rules in a time that only counts: a slot for each millisecond, and in each
 * slot the calls that arrive then. Nothing waits, nothing is real but the decisions.
 */
import {
  BUDGET_RULES,
  DEFAULT_BUDGET,
  DEFAULT_POLICY,
  decide,
  type Outcome,
  type RatioBudget,
  type RetryPolicy,
  type RetryState,
} from '@secondwind/resilience'
import { seededRandom } from '@secondwind/resilience/testing'

/** Calls that arrived within one second. */
export interface Second {
  readonly first: number
  readonly retries: number
}

export const CALLS_PER_SECOND = 1_000
export const SECONDS = 20
/** The dependency fails every call from here … */
export const DOWN_FROM_S = 5
/** … to here. */
export const DOWN_UNTIL_S = 13

export const POLICY: RetryPolicy = { ...DEFAULT_POLICY, maxAttempts: 5 }
export const BUDGET: RatioBudget = DEFAULT_BUDGET

/** Before the picture begins: long enough to fill the budget's window, as in a client that has run for a while. */
const WARM_UP_S = 10
const SEED = 2_026

const FAILED: Outcome = { kind: 'failure', fault: 'transient' }

/** The same calls with the same dice for each: only the budget makes a difference. */
export function playOutage(budget: RatioBudget | false): Second[] {
  const endsAt = (WARM_UP_S + SECONDS) * 1_000
  const [downFrom, downUntil] = [DOWN_FROM_S, DOWN_UNTIL_S].map(second => (WARM_UP_S + second) * 1_000) as [
    number,
    number,
  ]
  const roll = seededRandom(SEED)
  const arriving = firstAttempts(endsAt)
  const purse = budget === false ? undefined : openPurse(budget)
  const seconds = Array.from({ length: WARM_UP_S + SECONDS }, () => ({ first: 0, retries: 0 }))
  for (const [now, states] of arriving.entries())
    for (const state of states) {
      const isFirst = state.attempt === 1
      if (isFirst) purse?.deposit(now)
      else if (purse?.tryWithdraw(now) === false) continue
      seconds[Math.floor(now / 1_000)]![isFirst ? 'first' : 'retries']++
      if (now < downFrom || now >= downUntil) continue
      const decision = decide(POLICY, state, FAILED, { now, roll: roll(), expectedCallMs: 0 })
      // A retry within the same millisecond is one of the next.
      if (decision.kind === 'retry') arriving[Math.max(decision.at, now + 1)]?.push(decision.state)
    }
  return seconds.slice(WARM_UP_S)
}

/** First attempts at random instants, as callers that do not know of each other make them. */
function firstAttempts(endsAt: number): RetryState[][] {
  const random = seededRandom(SEED + 1)
  const slots: RetryState[][] = Array.from({ length: endsAt }, () => [])
  const calls = (endsAt / 1_000) * CALLS_PER_SECOND
  for (let call = 0; call < calls; call++) {
    const startedAt = Math.floor(random() * endsAt)
    slots[startedAt]!.push({ attempt: 1, startedAt, previousDelayMs: POLICY.initialDelayMs })
  }
  return slots
}

interface Purse {
  deposit(now: number): void
  tryWithdraw(now: number): boolean
}

function openPurse(budget: RatioBudget): Purse {
  const rule = BUDGET_RULES.ratio
  const state: unknown = rule.start(budget, 0)
  return {
    deposit: now => rule.deposit?.(budget, state, now),
    tryWithdraw(now) {
      const isCovered = rule.balance(budget, state, now) >= rule.price(budget, 'transient')
      if (isCovered) rule.withdraw?.(budget, state, 'transient', now)
      return isCovered
    },
  }
}
