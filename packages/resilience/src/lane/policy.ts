import { checkBudget, type RateBudget, type RatioBudget } from '../budget/policy.ts'
import { checkFields, isRecord, wholeNumber, type FieldCheck, type Fields, type Problem } from '../check/problems.ts'
import { checkLimiter, withLimiterDefaults, type LimiterInput, type LimiterPolicy } from '../limiter/policy.ts'
import { checkRateLimit, withRateLimitDefaults } from '../rate-limit/policy.ts'
import type { TokenRate } from '../tokens/decide.ts'
import type { CreditPolicy } from './credit.ts'
import { checkCredit, DEFAULT_CREDIT, withCreditDefaults, type CreditInput } from './credit-policy.ts'
import type { LaneOrders } from './orders.ts'

/**
 * What one tenant may ask of one destination. Its work waits in a store, not in memory: a closed gate costs no attempt
 * and no memory, and nothing here has a queue of its own. Plain JSON.
 */
export interface LanePolicy {
  /** Requests under way at once. */
  readonly limit: number
  /** How many attempts may be sent before the destination answers. */
  readonly credit: CreditPolicy
  /** Which part of the load retries may be; the others wait, first attempts flow. Absent: any part. */
  readonly budget?: LaneBudget
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
  limit: 100, // a hundred requests at once keep any ordinary destination busy
  credit: DEFAULT_CREDIT,
}

export interface LaneInput {
  readonly limit?: number
  readonly credit?: CreditInput
  readonly budget?: LaneBudget
  readonly rateLimit?: Pick<TokenRate, 'perSecond'> & Partial<TokenRate>
  readonly limiter?: LimiterInput
}

export function withLaneDefaults({ limit, credit, budget, rateLimit, limiter }: LaneInput): LanePolicy {
  const { perSecond, burst } = rateLimit === undefined ? NO_RATE : withRateLimitDefaults(rateLimit)
  return {
    limit: limit ?? DEFAULT_LANE.limit,
    credit: withCreditDefaults(credit),
    ...(budget !== undefined && { budget }),
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
  const { breaker, credit, budget, rateLimit, limiter } = input
  return [
    ...checkFields(input, fields(), WRONG_WORDS, at),
    ...(breaker === undefined ? [] : [{ at: `${at}breaker`, is: breaker, say: NO_BREAKER }]),
    ...(credit === undefined ? [] : checkCredit(credit, `${at}credit`)),
    ...(budget === undefined ? [] : checkLaneBudget(budget, `${at}budget`)),
    ...(rateLimit === undefined ? [] : checkLaneRate(rateLimit, `${at}rateLimit`)),
    ...(limiter === undefined ? [] : checkLimiter(limiter, `${at}limiter`)),
  ]
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

const NO_BREAKER =
  'is not for a lane: credit { perAnswer, most, probeShare, probeMinMs, probeMaxMs } says how many attempts it may send before its destination answers'

/** Looked into on its own. */
const ANY_PART: FieldCheck = () => undefined

function fields(): Fields {
  const parts = { credit: ANY_PART, breaker: ANY_PART, budget: ANY_PART, rateLimit: ANY_PART, limiter: ANY_PART }
  return { limit: wholeNumber(1, 1e6), ...parts }
}

/** What other documents call it. */
const WRONG_WORDS = { concurrency: 'limit', maxConcurrent: 'limit', bulkhead: 'limit', rate: 'rateLimit' }
