/**
 * A bucket of tokens that may owe. Whoever must wait is promised a token of the future and told at once when it comes;
 * nobody stands in a queue that must be served.
 *
 *  1. In any t seconds at most `burst + perSecond × t` attempts start, also after a stall in which nobody could.
 *  2. Promises are kept in the order in which they were made, one every 1 / perSecond. Whoever comes so late for one that
 *     others have started in its place gets a new one, behind all that were made meanwhile.
 *  3. A promise that is given back goes to whoever comes next. It can be kept for as long as a full bucket could have
 *     kept its token; later it would be one more than the burst allows.
 *
 * The bucket is changed in place: it is written at every attempt.
 */
import { waitEndsAt, type Arrival } from '../bulkhead/decide.ts'
import { refill, type TokenRate, type Tokens } from '../tokens/decide.ts'
import type { RateLimitPolicy } from './policy.ts'

export interface Bucket extends Tokens {
  /** Below zero: what is promised. */
  tokens: number
  /** What real starts have left, however late they were: all tokens that are not promised, and those that are. */
  readonly left: Tokens
  /** Instants that were promised and given back, the earliest first. */
  readonly givenBack: number[]
}

export type RateAnswer =
  /** The attempt has its token, and may start at this instant. */
  | { readonly kind: 'yes'; readonly at: number }
  /** At `until` its token would have come: before that, asking again is in vain. */
  | { readonly kind: 'no'; readonly reason: 'rate-limited'; readonly until: number }

export function fullBucket({ burst }: RateLimitPolicy, now: number): Bucket {
  return { tokens: burst, countedAt: now, left: { tokens: burst, countedAt: now }, givenBack: [] }
}

/** A token for one attempt: now, at a later instant, or none because too many wait or the wait would be too long. */
export function reserve(policy: RateLimitPolicy, bucket: Bucket, arrival: Arrival): RateAnswer {
  const { now } = arrival
  refill(policy, bucket, now)
  refill(policy, bucket.left, now)
  forgetGivenBack(policy, bucket)
  const [promised] = bucket.givenBack
  const at = Math.max(now, promised ?? nextTokenAt(policy, bucket), nextTokenAt(policy, bucket.left))
  if (at > now && (at > waitEndsAt(policy, arrival) || waiting(bucket) >= policy.maxQueued))
    return { kind: 'no', reason: 'rate-limited', until: at }
  if (promised === undefined) bucket.tokens--
  else bucket.givenBack.shift()
  return { kind: 'yes', at }
}

/** A token for one that has waited already: it is not turned away for want of room, only when its time is over. */
export function reserveAgain(policy: RateLimitPolicy, bucket: Bucket, arrival: Arrival): RateAnswer {
  return reserve({ ...policy, maxQueued: Infinity }, bucket, arrival)
}

/** Timers are never quite on time: whoever lacks no more than this of a token waits for it, and keeps its turn. */
const MOST_LACKING = 0.5

/** The instant that an attempt was told has come, or is long past: it starts now, at a later one, or not at all. */
export function redeem(policy: RateLimitPolicy, bucket: Bucket, arrival: Arrival): RateAnswer {
  const { now } = arrival
  refill(policy, bucket.left, now)
  if (1 - bucket.left.tokens > MOST_LACKING) return reserveAgain(policy, bucket, arrival)
  return { kind: 'yes', at: Math.max(now, nextTokenAt(policy, bucket.left)) }
}

/** An attempt really starts. What a full bucket could not keep until now is lost to those who wait, too. */
export function recordStart(policy: RateLimitPolicy, bucket: Bucket, now: number): void {
  refill(policy, bucket, now)
  refill(policy, bucket.left, now)
  bucket.left.tokens--
  bucket.tokens = Math.min(bucket.tokens, bucket.left.tokens)
}

/** Takes every promise back: until now tokens came at the old rate, and whoever waits is to ask again at the new one. */
export function changeRate(old: RateLimitPolicy, { burst }: RateLimitPolicy, bucket: Bucket, now: number): void {
  refill(old, bucket, now)
  refill(old, bucket.left, now)
  bucket.left.tokens = Math.min(burst, bucket.left.tokens)
  bucket.tokens = bucket.left.tokens
  bucket.givenBack.length = 0
}

/** The attempt that was told `at` will not be made. Once that instant has come its token is spent. */
export function giveBack({ givenBack }: Bucket, at: number, now: number): void {
  if (at <= now) return
  const later = givenBack.findIndex(known => known > at)
  givenBack.splice(later < 0 ? givenBack.length : later, 0, at)
}

/** A token's worth of refill is seldom exactly one. */
const EPSILON = 1e-9

/** A clock that steps back fills nothing, and when it comes forward again fills nothing twice. */
function forgetGivenBack({ perSecond, burst }: RateLimitPolicy, bucket: Bucket): void {
  const keptSince = bucket.countedAt - ((burst - 1) / perSecond) * 1000
  while (bucket.givenBack[0]! < keptSince) bucket.givenBack.shift()
}

/** When a whole token is there; long ago if it is. */
export function nextTokenAt({ perSecond }: TokenRate, { tokens, countedAt }: Tokens): number {
  const missing = 1 - tokens
  return missing > EPSILON ? countedAt + (missing / perSecond) * 1000 : -Infinity
}

/** Every whole token that is owed is a promise, and all but those given back have somebody who waits for it. */
function waiting({ tokens, countedAt, givenBack }: Bucket): number {
  return Math.ceil(-tokens - EPSILON) - givenBack.filter(at => at > countedAt).length
}
