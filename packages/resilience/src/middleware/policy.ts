import { checkBulkhead, DEFAULT_BULKHEAD, withBulkheadDefaults } from '../bulkhead/policy.ts'
import type { BulkheadInput, BulkheadPolicy } from '../bulkhead/policy.ts'
import {
  checkFields,
  isRecord,
  milliseconds,
  oneOf,
  withoutUndefined,
  type Fields,
  type Problem,
} from '../check/problems.ts'
import { DEFAULT_RESERVE_MS } from '../deadline/decide.ts'
import { checkLimiter, withLimiterDefaults, type LimiterInput, type LimiterPolicy } from '../limiter/policy.ts'

/** Which requests are worked on, and what the others are told. Plain JSON. */
export interface AdmissionPolicy {
  /** Kept back of a request's time, for the way of its answer. */
  readonly reserveMs: number
  /** No request has more time, whatever it says; and this much if it says nothing. Absent: what it says. */
  readonly maxTimeoutMs?: number
  /** How many at the same time, and how many may wait. Absent, and no `limiter` either: all. */
  readonly bulkhead?: BulkheadPolicy
  /** Finds the number by itself, up to the bulkhead's limit. */
  readonly limiter?: LimiterPolicy
  /** What those are answered for whom there is no room. */
  readonly shedStatus: 429 | 503
  /** When they may come back, at the earliest; at the latest after twice as long. */
  readonly retryAfterMs: number
}

export const DEFAULT_ADMISSION: AdmissionPolicy = {
  reserveMs: DEFAULT_RESERVE_MS,
  shedStatus: 503, // the server has no room; 429 would say that this caller sends too much
  retryAfterMs: 1_000, // as long as anybody waits in the queue: by then those who do are served or gone
}

export interface AdmissionInput extends Partial<Omit<AdmissionPolicy, 'bulkhead' | 'limiter'>> {
  readonly bulkhead?: BulkheadInput
  readonly limiter?: LimiterInput
}

export function withAdmissionDefaults({ bulkhead, limiter, ...others }: AdmissionInput): AdmissionPolicy {
  const learned = limiter && withLimiterDefaults(limiter)
  const room = bulkhead ?? (learned && { limit: learned.maxLimit, maxQueued: DEFAULT_BULKHEAD.maxQueued })
  return {
    ...DEFAULT_ADMISSION,
    ...withoutUndefined(others),
    ...(room && { bulkhead: withBulkheadDefaults(room) }),
    ...(learned && { limiter: learned }),
  }
}

/** All problems of an admission's document. */
export function checkAdmission(input: unknown): Problem[] {
  if (!isRecord(input)) return [{ at: '', is: input, say: 'must be an object with the fields of an admission' }]
  const { bulkhead, limiter, ...others } = input
  return [
    ...checkFields(others, fields(), WRONG_WORDS),
    ...(bulkhead === undefined ? [] : checkBulkhead(bulkhead, 'bulkhead')),
    ...(limiter === undefined ? [] : checkLimiter(limiter, 'limiter')),
  ]
}

function fields(): Fields {
  return {
    reserveMs: milliseconds(),
    maxTimeoutMs: milliseconds(1),
    shedStatus: oneOf(429, 503),
    retryAfterMs: milliseconds(1),
  }
}

/** What other libraries call it. */
const WRONG_WORDS = {
  limit: 'bulkhead: { limit }',
  maxConcurrent: 'bulkhead: { limit }',
  maxQueued: 'bulkhead: { maxQueued }',
  timeout: 'maxTimeoutMs',
  status: 'shedStatus',
  retryAfter: 'retryAfterMs',
}
