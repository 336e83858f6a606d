import {
  checkFields,
  isRecord,
  listOf,
  milliseconds,
  numberBetween,
  oneOf,
  text,
  wholeNumber,
  type Fields,
  type Problem,
  type WrongWords,
  withoutUndefined,
} from '../check/problems.ts'

/**
 * When to call again, as plain JSON: the same document in the library, the service, the lab and the dashboard.
 * No field takes infinity: retries without an end do not exist.
 */
export interface RetryPolicy {
  readonly policyId?: string
  /** All calls, the first one included. */
  readonly maxAttempts: number
  readonly backoffType: BackoffType
  readonly initialDelayMs: number
  /** Growth of `EXPONENTIAL`. */
  readonly multiplier: number
  /** No wait is shorter, jitter included. */
  readonly minDelayMs: number
  /** No wait of our own is longer before jitter; a server may ask for more. */
  readonly maxDelayMs: number
  /** The waits of `CUSTOM`, one per retry, the last one repeating. */
  readonly delaysMs?: readonly number[]
  /** The deadline: the whole operation, waits included, ends within it. */
  readonly totalBudgetMs: number
  /** One call ends within it, and never later than the deadline. */
  readonly attemptTimeoutMs: number
  readonly jitterType: JitterType
  /** Half-width of `PROPORTIONAL`, as a share of the delay. */
  readonly jitterRatio: number
  readonly retryableStatusCodes: readonly number[]
  /** The share that is spent in process before a hand-over: part of the whole, never an addition. */
  readonly inProcess?: InProcessShare
}

export type BackoffType = (typeof BACKOFF_TYPES)[number]
export type JitterType = (typeof JITTER_TYPES)[number]

export interface InProcessShare {
  readonly maxAttempts?: number
  readonly totalBudgetMs?: number
}

const BACKOFF_TYPES = ['EXPONENTIAL', 'LINEAR', 'FIXED', 'FIBONACCI', 'CUSTOM'] as const
const JITTER_TYPES = ['NONE', 'FULL', 'EQUAL', 'DECORRELATED', 'PROPORTIONAL'] as const

/** Three attempts, each within 0.1 and 0.2 s of the one before; then the last error. */
export const DEFAULT_POLICY: RetryPolicy = {
  maxAttempts: 3, // two second chances; after that an outage is better shown than hidden
  backoffType: 'EXPONENTIAL',
  initialDelayMs: 100, // longer than a hiccup, shorter than a person notices
  multiplier: 2,
  minDelayMs: 0,
  maxDelayMs: 5_000, // a person who waits longer has gone
  totalBudgetMs: 30_000, // a person is usually waiting
  attemptTimeoutMs: 10_000, // a third of the deadline: one hung call leaves room for the others
  jitterType: 'FULL', // the widest spread: a herd that failed together does not come back together
  jitterRatio: 0.1,
  retryableStatusCodes: [408, 425, 429, 500, 502, 503, 504],
}

/** What users write: any part of a policy; the rest is the default. */
export type RetryPolicyInput = Partial<RetryPolicy> & {
  readonly retries?: 'use maxAttempts: it counts all calls, the first included, so retries + 1'
  readonly timeout?: 'use attemptTimeoutMs for one call, totalBudgetMs for all of them together'
}

export type RetryPolicyCheck =
  | { readonly policy: RetryPolicy; readonly problems?: undefined }
  | { readonly policy?: undefined; readonly problems: readonly Problem[] }

/** The policy with its defaults filled in, which may be the caller's own, or everything that is wrong with it. */
export function checkRetryPolicy(input: unknown, defaults: RetryPolicy = DEFAULT_POLICY): RetryPolicyCheck {
  if (!isRecord(input))
    return { problems: [{ at: '', is: input, say: 'must be an object with the fields of a policy' }] }
  const problems = checkFields(input, FIELDS, WRONG_WORDS)
  if (problems.length > 0) return { problems }
  const policy = withDefaults(input, defaults)
  const contradictions = checkTogether(policy)
  return contradictions.length > 0 ? { problems: contradictions } : { policy }
}

const FIELDS: Fields = {
  policyId: text(200),
  maxAttempts: wholeNumber(1, 10_000),
  backoffType: oneOf(...BACKOFF_TYPES),
  initialDelayMs: milliseconds(),
  multiplier: numberBetween(1, 1_000),
  minDelayMs: milliseconds(),
  maxDelayMs: milliseconds(),
  delaysMs: listOf(milliseconds(), 1_000),
  totalBudgetMs: milliseconds(1),
  attemptTimeoutMs: milliseconds(1),
  jitterType: oneOf(...JITTER_TYPES),
  jitterRatio: numberBetween(0, 1),
  retryableStatusCodes: listOf(wholeNumber(100, 599), 500),
  inProcess: value => (isRecord(value) ? undefined : 'an object with maxAttempts, totalBudgetMs or both'),
}

/** What other libraries call it. */
const WRONG_WORDS: WrongWords = {
  retries: 'maxAttempts, which counts all calls (retries + 1)',
  maxRetries: 'maxAttempts, which counts all calls (maxRetries + 1)',
  timeout: 'attemptTimeoutMs for one call, or totalBudgetMs for all',
  minTimeout: 'initialDelayMs',
  maxTimeout: 'maxDelayMs',
  factor: 'multiplier',
  signal: 'signal in the options, the third argument',
}

function withDefaults(input: Partial<RetryPolicy>, defaults: RetryPolicy): RetryPolicy {
  const policy = { ...defaults, ...withoutUndefined(input) }
  // Whoever names only one end of the range means the other to make room for it.
  if (input.maxDelayMs === undefined)
    policy.maxDelayMs = Math.max(policy.maxDelayMs, policy.initialDelayMs, ...(policy.delaysMs ?? []))
  if (input.initialDelayMs === undefined) policy.initialDelayMs = Math.min(policy.initialDelayMs, policy.maxDelayMs)
  return policy
}

/** What each field alone cannot see. */
function checkTogether(policy: RetryPolicy): Problem[] {
  const { initialDelayMs, minDelayMs, maxDelayMs, delaysMs, backoffType, inProcess = {} } = policy
  const rules: readonly (readonly [isWrong: boolean, at: keyof RetryPolicy, say: string])[] = [
    [initialDelayMs > maxDelayMs, 'initialDelayMs', `must not exceed maxDelayMs, ${maxDelayMs}`],
    [minDelayMs > maxDelayMs, 'minDelayMs', `must not exceed maxDelayMs, ${maxDelayMs}`],
    [(backoffType === 'CUSTOM') !== (delaysMs !== undefined), 'delaysMs', 'and backoffType CUSTOM need each other'],
  ]
  const problems = rules.flatMap(([isWrong, at, say]) => (isWrong ? { at, is: policy[at], say } : []))
  // A share of the whole is at most the whole.
  const share = { maxAttempts: wholeNumber(1, policy.maxAttempts), totalBudgetMs: wholeNumber(1, policy.totalBudgetMs) }
  return [...problems, ...checkFields(inProcess, share, WRONG_WORDS, 'inProcess.')]
}
