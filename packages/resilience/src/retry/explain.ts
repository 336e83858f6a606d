/**
 * What a policy will do, before it does it: plain data for dashboards and checks, and a sentence for people. Every
 * number comes from the rule itself, asked with other dice.
 */
import type { Problem } from '../check/problems.ts'
import { checkPolicy, type PipelinePolicy } from '../pipeline/policy.ts'
import { delayMs, delayRange, plainDelayMs } from './backoff.ts'
import type { RetryPolicy } from './policy.ts'

export interface Explanation {
  readonly problems?: undefined
  /** One sentence for people. */
  readonly sentence: string
  /** Calls that one operation makes at the most, hedges included. */
  readonly maxCalls: number
  /** The first retries one by one, at most `LISTED_RETRIES` of them. */
  readonly retries: readonly ExplainedRetry[]
  /** All waits of one operation together, as far as the deadline lets them happen and no server asks for more. */
  readonly totalWait: Span & { readonly expectedMs: number }
  /**
   * How long an outage may last so that the last attempt still comes after it: at the least (calls fail at once, and
   * every wait is the shortest), and at the most (calls hang until their time-out, and every wait is the longest).
   */
  readonly rideOut: Span
  /** When an operation has ended at the latest; a server that asks for waits can bring it to the deadline itself. */
  readonly latestFinishMs: number
  readonly deadlineMs: number
  /** Attempts that the deadline leaves room for when every wait is the shortest and every call fails at once. */
  readonly possibleAttempts: number
  /** Calls per operation at each failure rate, and how many operations succeed in the end. */
  readonly amplification: readonly Amplification[]
  /** What a ratio budget holds the calls per operation to, in a long outage of a busy client; absent without one. */
  readonly budgetBound?: number
  readonly warnings: readonly Warning[]
}

export interface Span {
  readonly shortestMs: number
  readonly longestMs: number
}

export interface ExplainedRetry {
  /** It is attempt `retry` + 1. */
  readonly retry: number
  readonly minMs: number
  readonly maxMs: number
  /** The mean wait; an estimate for `DECORRELATED`. */
  readonly expectedMs: number
}

export interface Amplification {
  readonly failureRate: number
  readonly callsPerOperation: number
  readonly successRate: number
}

export interface Warning {
  readonly kind:
    | 'no-jitter'
    | 'no-budget'
    | 'impossible-attempts'
    | 'unlikely-attempts'
    | 'time-out-takes-all'
    | 'cap-not-reached'
    | 'list-not-used'
  /** The field to change. */
  readonly at: string
  readonly say: string
}

export interface ExplainOptions {
  /** Shares of calls that fail, each by itself. */
  readonly failureRates?: readonly number[]
}

/** More than people read; the sums are taken of all. */
const LISTED_RETRIES = 20

/** What the policy will do, or what is wrong with it. Takes a `RetryPolicy` or a `PipelinePolicy`, whole or in part. */
export function explainPolicy(
  input: unknown,
  { failureRates = [0.1, 0.5, 1] }: ExplainOptions = {},
): Explanation | { readonly problems: readonly Problem[] } {
  const checked = checkPolicy(input)
  if (checked.problems !== undefined) return { problems: checked.problems }
  const { retry, hedge, budget }: Partial<PipelinePolicy> & { readonly retry: RetryPolicy } =
    'retry' in checked.policy ? checked.policy : { retry: checked.policy }
  const { maxAttempts, totalBudgetMs, attemptTimeoutMs } = retry
  const waits = waitsOf(retry)
  const hangingMs = maxAttempts * attemptTimeoutMs
  const upToDeadline = (ms: number): number => Math.min(totalBudgetMs, Math.round(ms))
  const shortestMs = upToDeadline(sum(waits, 'minMs'))
  const longestMs = sum(waits, 'maxMs')
  const warnings = [...warningsOf(retry, waits), ...(budget === false ? [NO_BUDGET] : [])]
  return {
    sentence: sentenceOf(retry, waits),
    maxCalls: maxAttempts * (1 + (hedge?.maxExtraCalls ?? 0)),
    retries: waits.slice(0, LISTED_RETRIES),
    totalWait: { shortestMs, longestMs: upToDeadline(longestMs), expectedMs: upToDeadline(sum(waits, 'expectedMs')) },
    rideOut: { shortestMs, longestMs: upToDeadline(longestMs + hangingMs - attemptTimeoutMs) },
    latestFinishMs: upToDeadline(longestMs + hangingMs),
    deadlineMs: totalBudgetMs,
    possibleAttempts: attemptsWithin(totalBudgetMs, waits, 'minMs'),
    amplification: failureRates.map(failureRate => ({
      failureRate,
      callsPerOperation: amplification({ maxAttempts, failureRate }),
      successRate: 1 - failureRate ** maxAttempts,
    })),
    ...(budget && budget.kind === 'ratio' ? { budgetBound: budgetBound(budget) } : {}),
    warnings,
  }
}

/** Calls per operation when each call fails with this probability: 1 + f + f² + …, one term for each attempt. */
export function amplification({ maxAttempts, failureRate }: { maxAttempts: number; failureRate: number }): number {
  if (failureRate === 1) return maxAttempts
  // As (1 − f^n) / (1 − f), but exact also where f is almost 1.
  return -Math.expm1(maxAttempts * Math.log(failureRate)) / (1 - failureRate)
}

export interface TierAmplification {
  /** Every call fails: the product of all attempts. */
  readonly worstCase: number
  /** Only the last tier's own calls fail: what is above retries what is below has given up. */
  readonly whenLastFails: number
  /** The calls of every tier fail with this probability. */
  readonly whenEachFails: number
}

/** Calls that one operation becomes at the end of a chain, each tier of which makes up to so many attempts. */
export function tierAmplification(maxAttempts: readonly number[], failureRate: number): TierAmplification {
  const product = (factors: readonly number[]): number =>
    Math.min(Number.MAX_VALUE, factors.reduce((all, factor) => all * factor, 1))
  const worstCase = product(maxAttempts)
  return {
    worstCase,
    // Tier i fails with f^(attempts below it): the factors telescope to those of one tier with all the attempts.
    whenLastFails: amplification({ maxAttempts: worstCase, failureRate }),
    whenEachFails: product(maxAttempts.map(attempts => amplification({ maxAttempts: attempts, failureRate }))),
  }
}

function budgetBound({ ratio, of }: { readonly ratio: number; readonly of?: 'operations' | 'attempts' }): number {
  // Of all attempts, retries included: r ≤ ratio × (1 + r).
  return of === 'attempts' ? (ratio < 1 ? 1 / (1 - ratio) : Infinity) : 1 + ratio
}

/** Dice that stand for all: the middle of each of so many equal parts. */
const DICE: readonly number[] = /* @__PURE__ */ Array.from({ length: 64 }, (_, part) => (part + 0.5) / 64)

function waitsOf(policy: RetryPolicy): ExplainedRetry[] {
  const waits: ExplainedRetry[] = []
  for (let retry = 1; retry < policy.maxAttempts; retry++) {
    const start = { minMs: policy.initialDelayMs, maxMs: policy.initialDelayMs, expectedMs: policy.initialDelayMs }
    const previous = waits.at(-1) ?? start
    const after = (previousDelayMs: number): { attempt: number; previousDelayMs: number } => ({ attempt: retry, previousDelayMs })
    const expectedMs = DICE.reduce((all, roll) => all + delayMs(policy, after(previous.expectedMs), roll), 0) / DICE.length
    const { minMs } = delayRange(policy, after(previous.minMs))
    const { maxMs } = delayRange(policy, after(previous.maxMs))
    waits.push({ retry, minMs, maxMs, expectedMs })
  }
  return waits
}

type Ends = 'minMs' | 'maxMs' | 'expectedMs'

function sum(waits: readonly ExplainedRetry[], end: Ends): number {
  return waits.reduce((all, wait) => all + wait[end], 0)
}

function attemptsWithin(totalBudgetMs: number, waits: readonly ExplainedRetry[], end: Ends): number {
  let leftMs = totalBudgetMs
  return 1 + waits.filter(wait => (leftMs -= wait[end]) >= 0).length
}

const NO_BUDGET: Warning = {
  kind: 'no-budget',
  at: 'budget',
  say: 'nothing but maxAttempts limits the retries: an outage multiplies the load',
}

function warningsOf(policy: RetryPolicy, waits: readonly ExplainedRetry[]): Warning[] {
  const { maxAttempts, totalBudgetMs, attemptTimeoutMs, maxDelayMs, jitterType, backoffType } = policy
  const warnings: Warning[] = []
  const warn = (kind: Warning['kind'], at: string, say: string): void => void warnings.push({ kind, at, say })
  const [first] = waits
  if (first === undefined) return warnings
  if (waits.some(({ minMs, maxMs }) => minMs === maxMs)) {
    const at = jitterType === 'NONE' ? 'jitterType' : first.maxMs === 0 ? 'initialDelayMs' : 'minDelayMs'
    warn('no-jitter', at, 'callers that failed together come back together')
  }
  const possible = attemptsWithin(totalBudgetMs, waits, 'minMs')
  const likely = attemptsWithin(totalBudgetMs, waits, 'expectedMs')
  if (possible < maxAttempts)
    warn('impossible-attempts', 'maxAttempts', `only ${possible} attempts ever happen: totalBudgetMs ends before the next`)
  else if (likely < maxAttempts)
    warn('unlikely-attempts', 'maxAttempts', `usually ${likely} attempts happen: totalBudgetMs ends before the next`)
  if (attemptTimeoutMs + first.minMs >= totalBudgetMs)
    warn('time-out-takes-all', 'attemptTimeoutMs', 'a call that hangs takes all of totalBudgetMs: no retry follows it')
  if (backoffType !== 'FIXED' && plainDelayMs(policy, maxAttempts - 1) < maxDelayMs)
    warn('cap-not-reached', 'maxDelayMs', 'the attempts end before the waits reach it')
  if (backoffType === 'CUSTOM' && jitterType === 'DECORRELATED')
    warn('list-not-used', 'delaysMs', 'DECORRELATED draws from initialDelayMs and the wait before')
  return warnings
}

function sentenceOf(policy: RetryPolicy, waits: readonly ExplainedRetry[]): string {
  const within = `${waits.length === 0 ? '' : 'all '}within ${sayMs(policy.totalBudgetMs)}`
  if (waits.length === 0) return `one attempt, ${within}`
  const lasting = `each at most ${sayMs(policy.attemptTimeoutMs)} long and ${within}`
  return `${policy.maxAttempts} attempts, ${sayWaits(waits)} of the one before, ${lasting}; then the last error`
}

/** The first few and the last: a reader wants the shape. */
function sayWaits(waits: readonly ExplainedRetry[]): string {
  const shown = waits.length > 6 ? [...waits.slice(0, 4), ...waits.slice(-1)] : waits
  const words = shown.map(({ minMs, maxMs }) => (minMs === 0 || minMs === maxMs ? sayMs(maxMs) : `${sayMs(minMs)} to ${sayMs(maxMs)}`))
  if (waits.length > 6) words.splice(4, 0, '…')
  return `${words.join(', ')}`
}

function sayMs(ms: number): string {
  const [unit, length] = UNITS.find(([, length]) => ms >= length) ?? ['ms', 1]
  return `${Number((ms / length).toPrecision(3))} ${unit}`
}

const UNITS: readonly (readonly [unit: string, lengthMs: number])[] = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]
