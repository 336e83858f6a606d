import {
  checkFields,
  isRecord,
  withoutUndefined,
  milliseconds,
  numberBetween,
  wholeNumber,
  type Fields,
  type Problem,
} from '../check/problems.ts'

/**
 * A client that keeps some of its own calls back while a dependency refuses them, without asking anybody: of the
 * calls in the window, P(keep back) = max(0, (requests − K × accepts) / (requests + 1)); Google SRE, ch. 21. Calls
 * that were kept back count as requests: that is what makes it settle. The formula of Envoy's admission control is the
 * same with other numbers: K is 1 / its threshold, and its chance is raised to the power of 1 / aggression. Plain JSON.
 */
export interface ThrottlePolicy {
  /** K: so many calls are sent for each one that is accepted. Smaller is stricter, larger notices a recovery sooner. */
  readonly acceptMultiplier: number
  readonly windowMs: number
  /** At least this share is always sent: somebody has to find out that the dependency is back. */
  readonly minAdmission: number
  /** Below so many calls in the window none is kept back: after the very first failure the formula says one in two. */
  readonly minRequests: number
  /** Raises the chance to the power of 1 / aggression: above 1, the first refusals weigh more. */
  readonly aggression: number
}

/** Twice as many calls as are accepted, and never less than one in ten. */
export const DEFAULT_THROTTLE: ThrottlePolicy = {
  acceptMultiplier: 2, // the published K: an overloaded dependency sees at most twice what it can serve
  windowMs: 120_000, // the published two minutes: long enough to know a rate, short enough to forget an outage
  minAdmission: 0.1, // without it a total outage leaves next to no call that could notice its end
  minRequests: 20, // as for the breaker: fewer say nothing about the dependency
  aggression: 1, // the formula as it was published
}

export type ThrottleInput = Partial<ThrottlePolicy>

export function withThrottleDefaults(input: ThrottleInput): ThrottlePolicy {
  return { ...DEFAULT_THROTTLE, ...withoutUndefined(input) }
}

/** All problems of a throttle's document. */
export function checkThrottle(input: unknown, path = ''): Problem[] {
  if (!isRecord(input))
    return [{ at: path, is: input, say: 'must be an object with the fields of a throttle; {} has its defaults' }]
  return checkFields(input, fields(), WRONG_WORDS, path && `${path}.`)
}

/** Made when a document is checked: whoever lives with the defaults need not carry it. */
function fields(): Fields {
  return {
    // Below 1 calls would be kept back although every one of them is accepted.
    acceptMultiplier: numberBetween(1, 1_000),
    windowMs: milliseconds(10),
    minAdmission: numberBetween(0.001, 1),
    minRequests: wholeNumber(0, 1e6),
    aggression: numberBetween(1, 100),
  }
}

/** What other libraries call it. */
const WRONG_WORDS = {
  k: 'acceptMultiplier',
  K: 'acceptMultiplier',
  window: 'windowMs',
  maxRejection: 'minAdmission (1 - maxRejection)',
  threshold: 'acceptMultiplier (1 / threshold)',
}
