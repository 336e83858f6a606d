import { refill, type Tokens } from '../tokens/decide.ts'

/**
 * A rate that finds its own number, as the adaptive mode of the AWS SDKs has it: free until a call is refused for its
 * rate, then seven tenths of what was measured, and from there back up on a cubic curve (RFC 9438): quickly at first,
 * slowly around the rate that was refused, and quickly again once that has turned out well.
 *
 * Pure in time, which is handed in; the state is plain data, changed in place: it is written at every call.
 */
export interface AdaptiveRate extends Tokens {
  /** Nothing is kept waiting before the first refusal. */
  isLimiting: boolean
  perSecond: number
  burst: number
  /** What was last refused, and when. */
  refusedPerSecond: number
  refusedAt: number
  /** Answers a second, smoothed, and those of the half second that is being counted. */
  measuredPerSecond: number
  answers: number
  halfSecond: number
}

/** What is kept of a rate that was refused. */
const KEPT = 0.7
/** How steep the cubic is. */
const STEEPNESS = 0.4
/** The weight of the latest half seconds in what is measured. */
const SMOOTHING = 0.8
/** One call in two seconds: with less, nobody would find out that more is possible. */
const MIN_PER_SECOND = 0.5

export function startAdaptiveRate(now: number): AdaptiveRate {
  return {
    isLimiting: false,
    perSecond: MIN_PER_SECOND,
    burst: 1,
    tokens: 0,
    countedAt: now,
    refusedPerSecond: 0,
    refusedAt: now,
    measuredPerSecond: 0,
    answers: 0,
    halfSecond: halfSecondOf(now),
  }
}

/** An attempt wants to begin: 0, and it has its token, or the ms after which to ask again, for the rate may change. */
export function tokenWaitMs(rate: AdaptiveRate, now: number): number {
  if (!rate.isLimiting) return 0
  refill(rate, rate, now)
  if (rate.tokens < 1) return Math.ceil(((1 - rate.tokens) / rate.perSecond) * 1_000)
  rate.tokens--
  return 0
}

/** An attempt was answered; `isThrottled` if it was refused for its rate. */
export function adaptRate(rate: AdaptiveRate, isThrottled: boolean, now: number): void {
  measure(rate, now)
  // Until now tokens came at the old rate.
  refill(rate, rate, now)
  if (isThrottled) {
    rate.refusedPerSecond = Math.min(rate.measuredPerSecond, rate.isLimiting ? rate.perSecond : Infinity)
    rate.refusedAt = now
    rate.isLimiting = true
  }
  const perSecond = Math.min(cubicPerSecond(rate, now), 2 * rate.measuredPerSecond)
  rate.perSecond = Math.max(perSecond, MIN_PER_SECOND)
  rate.burst = Math.max(perSecond, 1)
  rate.tokens = Math.min(rate.tokens, rate.burst)
}

/** Where the curve is at `now`: seven tenths of the refused rate when it was refused, all of it where it is flat. */
export function cubicPerSecond(
  { refusedPerSecond, refusedAt }: Pick<AdaptiveRate, 'refusedPerSecond' | 'refusedAt'>,
  now: number,
): number {
  const flatAfter = Math.cbrt((refusedPerSecond * (1 - KEPT)) / STEEPNESS)
  return STEEPNESS * (Math.max(0, now - refusedAt) / 1_000 - flatAfter) ** 3 + refusedPerSecond
}

function measure(rate: AdaptiveRate, now: number): void {
  rate.answers++
  const ended = halfSecondOf(now) - rate.halfSecond
  if (ended <= 0) return
  rate.measuredPerSecond = SMOOTHING * (rate.answers / (ended / 2)) + (1 - SMOOTHING) * rate.measuredPerSecond
  rate.answers = 0
  rate.halfSecond += ended
}

function halfSecondOf(now: number): number {
  return Math.floor(now / 500)
}
