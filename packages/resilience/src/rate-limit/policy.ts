import {
  checkFields,
  isRecord,
  milliseconds,
  numberBetween,
  wholeNumber,
  withoutUndefined,
  type Fields,
  type Problem,
} from '../check/problems.ts'

/**
 * How many calls a second a dependency is sent, whatever the callers want: a bucket of tokens, filled at a constant
 * rate. Every attempt takes one, retries and hedges too, so that they cannot escape the limit. Plain JSON.
 */
export interface RateLimitPolicy {
  readonly perSecond: number
  /** So many at once after a silence. */
  readonly burst: number
  /** So many attempts may wait for a token; whoever comes then is refused at once. */
  readonly maxQueued: number
  /** Nobody waits longer for a token, and never past the deadline. */
  readonly maxWaitMs: number
}

/** The rate itself has no default: only the dependency's owner knows it. */
export const DEFAULT_RATE_LIMIT: Omit<RateLimitPolicy, 'perSecond' | 'burst'> = {
  maxQueued: 100, // bounded, for a queue without an end is an outage that nobody sees
  maxWaitMs: 1_000, // smooths a burst of a second; what lasts longer is refused, and the caller can tell
}

export type RateLimitInput = Partial<RateLimitPolicy> & Pick<RateLimitPolicy, 'perSecond'>

export function withRateLimitDefaults(input: RateLimitInput): RateLimitPolicy {
  // A second's worth: the rate holds over every second or two, and a slow rate still lets one call through.
  return { ...DEFAULT_RATE_LIMIT, burst: Math.max(1, Math.ceil(input.perSecond)), ...withoutUndefined(input) }
}

/** All problems of a rate limit's document. */
export function checkRateLimit(input: unknown, path = ''): Problem[] {
  if (!isRecord(input)) return [{ at: path, is: input, say: 'must be an object with perSecond and perhaps burst' }]
  const at = path && `${path}.`
  const problems = checkFields(input, fields(), WRONG_WORDS, at)
  if (input['perSecond'] === undefined)
    problems.push({ at: `${at}perSecond`, is: undefined, say: 'must be given: a rate limit needs its rate' })
  const { maxQueued, maxWaitMs = DEFAULT_RATE_LIMIT.maxWaitMs } = input
  // The default is no wish: it stands in every completed document.
  if (problems.length === 0 && maxQueued === 0 && maxWaitMs !== DEFAULT_RATE_LIMIT.maxWaitMs)
    problems.push({ at: `${at}maxWaitMs`, is: maxWaitMs, say: 'has no effect: with maxQueued 0 nobody waits' })
  return problems
}

/** Made when a document is checked: whoever lives with the defaults need not carry it. */
function fields(): Fields {
  return {
    perSecond: numberBetween(0.001, 1e9),
    burst: wholeNumber(1, 1e9),
    maxQueued: wholeNumber(0, 1e6),
    maxWaitMs: milliseconds(1),
  }
}

/** What other libraries call it. */
const WRONG_WORDS = {
  limit: 'perSecond',
  rate: 'perSecond',
  perMinute: 'perSecond (perMinute / 60)',
  interval: 'perSecond',
  queue: 'maxQueued',
  maxWait: 'maxWaitMs',
}
