import { checkBreaker, DEFAULT_BREAKER, withBreakerDefaults } from '../breaker/policy.ts'
import type { BreakerInput, BreakerPolicy } from '../breaker/policy.ts'
import { checkBudget, DEFAULT_BUDGET, type RateBudget, type RatioBudget } from '../budget/policy.ts'
import {
  checkFields,
  isRecord,
  wholeNumber,
  withoutUndefined,
  type FieldCheck,
  type Fields,
  type Problem,
} from '../check/problems.ts'
import { checkLimiter, withLimiterDefaults, type LimiterInput, type LimiterPolicy } from '../limiter/policy.ts'
import { checkRateLimit, withRateLimitDefaults } from '../rate-limit/policy.ts'
import type { TokenRate } from '../tokens/decide.ts'
import type { LaneOrders } from './orders.ts'

/**
 * What one tenant may ask of one destination. Its work waits in a store, not in memory: a closed gate costs no attempt
 * and no memory, and nothing here has a queue of its own. Plain JSON.
 */
export interface LanePolicy {
  /** Requests under way at once. */
  readonly limit: number
  /** Judges every attempt; while it is half-open one request at a time finds out whether the destination is back. */
  readonly breaker: BreakerPolicy
  /** Which part of the load retries may be; the others wait, first attempts flow. */
  readonly budget: LaneBudget
  /** Attempts a second, retries included; absent: as many as may be under way. */
  readonly rateLimit?: TokenRate
  /** A limit that finds its own number below `limit`; absent: `limit` alone. */
  readonly limiter?: LimiterPolicy
  /** What operators say besides; absent: nothing. It is no part of the document. */
  readonly orders?: LaneOrders
}

/** The kinds that recover by themselves: what only a success refills would hold a lane of nothing but retries for ever. */
export type LaneBudget = Omit<RatioBudget, 'whenEmpty' | 'replicas'> | Omit<RateBudget, 'whenEmpty' | 'replicas'>

export const DEFAULT_LANE: LanePolicy = {
  limit: 100, // more than that at once says nothing that a breaker would not learn from the first hundred
  breaker: {
    ...DEFAULT_BREAKER,
    record: 'attempt', // attempts of one operation lie minutes apart: each says something new
    openMultiplier: 2, // each opening costs some tasks an attempt: a dead destination is asked ever more seldom
    maxOpenMs: 300_000, // and five minutes after it is back somebody has noticed
    probeTimeoutMs: 330_000, // longer than any attempt, which ends by itself: a slow probe counts too
  },
  budget: DEFAULT_BUDGET,
}

export interface LaneInput {
  readonly limit?: number
  readonly breaker?: BreakerInput
  readonly budget?: LaneBudget
  readonly rateLimit?: Pick<TokenRate, 'perSecond'> & Partial<TokenRate>
  readonly limiter?: LimiterInput
}

export function withLaneDefaults({ limit, breaker, budget, rateLimit, limiter }: LaneInput): LanePolicy {
  const { perSecond, burst } = rateLimit === undefined ? NO_RATE : withRateLimitDefaults(rateLimit)
  return {
    limit: limit ?? DEFAULT_LANE.limit,
    breaker: withBreakerDefaults({ ...DEFAULT_LANE.breaker, ...withoutUndefined(breaker ?? {}) }),
    budget: budget ?? DEFAULT_LANE.budget,
    ...(rateLimit !== undefined && { rateLimit: { perSecond, burst } }),
    ...(limiter !== undefined && { limiter: withLimiterDefaults(limiter) }),
  }
}

const NO_RATE: TokenRate = { perSecond: 0, burst: 0 }

/** All problems of a lane's document. */
export function checkLane(input: unknown, path = ''): Problem[] {
  if (!isRecord(input))
    return [{ at: path, is: input, say: 'must be an object with the fields of a lane; {} has its defaults' }]
  const at = path && `${path}.`
  const { breaker, budget, rateLimit, limiter } = input
  return [
    ...checkFields(input, fields(), WRONG_WORDS, at),
    ...(breaker === undefined ? [] : checkLaneBreaker(breaker, `${at}breaker`)),
    ...(budget === undefined ? [] : checkLaneBudget(budget, `${at}budget`)),
    ...(rateLimit === undefined ? [] : checkLaneRate(rateLimit, `${at}rateLimit`)),
    ...(limiter === undefined ? [] : checkLimiter(limiter, `${at}limiter`)),
  ]
}

function checkLaneBreaker(breaker: unknown, at: string): Problem[] {
  const problems = checkBreaker(
    isRecord(breaker) ? { ...DEFAULT_LANE.breaker, ...withoutUndefined(breaker) } : breaker,
    at,
  )
  if (isRecord(breaker) && breaker['record'] === 'operation')
    problems.push({ at: `${at}.record`, is: 'operation', say: 'must be attempt: a lane sees nothing else' })
  return problems
}

function checkLaneBudget(budget: unknown, at: string): Problem[] {
  if (isRecord(budget) && budget['kind'] !== 'ratio' && budget['kind'] !== 'rate') {
    // What else stands in it belongs to a budget that it must not be.
    const say = 'must be ratio or rate: no other is refilled while retries wait'
    return [{ at: `${at}.kind`, is: budget['kind'], say }]
  }
  const problems = checkBudget(budget, at)
  if (problems.length > 0 || !isRecord(budget)) return problems
  const { kind, minRetries } = budget
  if (kind === 'ratio' && minRetries === 0)
    problems.push({
      at: `${at}.minRetries`,
      is: 0,
      say: 'must be 1 or more: without new tasks retries would wait for ever',
    })
  for (const field of ['whenEmpty', 'replicas'])
    if (budget[field] !== undefined)
      problems.push({
        at: `${at}.${field}`,
        is: budget[field],
        say: 'is not for a lane, which is one for the whole fleet',
      })
  return problems
}

function checkLaneRate(rateLimit: unknown, at: string): Problem[] {
  const problems = checkRateLimit(rateLimit, at)
  for (const field of ['maxQueued', 'maxWaitMs'])
    if (isRecord(rateLimit) && rateLimit[field] !== undefined)
      problems.push({
        at: `${at}.${field}`,
        is: rateLimit[field],
        say: 'is not for a lane: its tasks wait in the store',
      })
  return problems
}

/** Looked into on its own. */
const ANY_PART: FieldCheck = () => undefined

function fields(): Fields {
  const parts = { breaker: ANY_PART, budget: ANY_PART, rateLimit: ANY_PART, limiter: ANY_PART }
  return { limit: wholeNumber(1, 1e6), ...parts }
}

/** What other documents call it. */
const WRONG_WORDS = { concurrency: 'limit', maxConcurrent: 'limit', bulkhead: 'limit', rate: 'rateLimit' }
