/**
 * What a policy will do, before it does it: plain data for dashboards and checks, and a sentence for people. Every
 * number comes from the rule itself, asked with other dice.
 */
import { DEFAULT_BUDGET } from '../budget/policy.ts'
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
   * How long an outage may last so that the last attempt still comes after it: surely when calls fail at once, and at
   * the most, when they hang until their time-out and every wait is the longest.
   */
  readonly rideOut: Span
  /** When an operation has ended at the latest; a server that asks for waits can bring it to the deadline itself. */
  readonly latestFinishMs: number
  readonly deadlineMs: number
  /** Attempts that the deadline leaves room for when every wait is the shortest and every call fails at once. */
  readonly possibleAttempts: number
  /** Attempts that it leaves room for even when every wait is the longest and every call hangs until its time-out. */
  readonly certainAttempts: number
  /** Calls per operation at each failure rate, and how many operations succeed in the end. */
  readonly amplification: readonly Amplification[]
  /**
   * What a ratio budget holds the calls per operation to, in a long outage of a busy client; absent without one, or when
   * it allows all that `maxCalls` allows. The first moments may see more: a window hands out what it has saved at once.
   */
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
    | 'long-time-out'
    | 'cap-not-reached'
    | 'list-not-used'
    | 'seldom-hedged'
  /** A note costs nothing; a warning names what will hurt. */
  readonly level: 'note' | 'warning'
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
  // Whoever follows a bare policy has the library's own budget, unless another is handed in.
  const { retry, hedge, budget }: Partial<PipelinePolicy> & { readonly retry: RetryPolicy } =
    'retry' in checked.policy ? checked.policy : { retry: checked.policy, budget: DEFAULT_BUDGET }
  const { maxAttempts, totalBudgetMs, attemptTimeoutMs } = retry
  const waits = waitsOf(retry)
  const hangingMs = maxAttempts * attemptTimeoutMs
  const upToDeadline = (ms: number): number => Math.min(totalBudgetMs, Math.round(ms))
  const shortestMs = earliestEndMs(totalBudgetMs, waits)
  const longestMs = sum(waits, 'maxMs')
  const attempts = attemptsOf(retry, waits)
  const maxCalls = maxAttempts * (1 + (hedge?.maxExtraCalls ?? 0))
  const bound = budgetBound(budget)
  return {
    sentence: sentenceOf(retry, waits),
    maxCalls,
    retries: waits.slice(0, LISTED_RETRIES),
    totalWait: { shortestMs, longestMs: upToDeadline(longestMs), expectedMs: upToDeadline(sum(waits, 'expectedMs')) },
    rideOut: { shortestMs, longestMs: upToDeadline(longestMs + hangingMs - attemptTimeoutMs) },
    latestFinishMs: upToDeadline(longestMs + hangingMs),
    deadlineMs: totalBudgetMs,
    possibleAttempts: attempts.possible,
    certainAttempts: attempts.certain,
    amplification: failureRates.map(failureRate => ({
      failureRate,
      callsPerOperation: amplification({ maxAttempts, failureRate }),
      successRate: 1 - failureRate ** maxAttempts,
    })),
    ...(bound !== undefined && bound < maxCalls && { budgetBound: bound }),
    warnings: [...warningsOf(retry, waits, attempts), ...(budget === false ? [NO_BUDGET] : [])],
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
    Math.min(
      Number.MAX_VALUE,
      factors.reduce((all, factor) => all * factor, 1),
    )
  const worstCase = product(maxAttempts)
  return {
    worstCase,
    // Tier i fails with f^(attempts below it): the factors telescope to those of one tier with all the attempts.
    whenLastFails: amplification({ maxAttempts: worstCase, failureRate }),
    whenEachFails: product(maxAttempts.map(attempts => amplification({ maxAttempts: attempts, failureRate }))),
  }
}

function budgetBound(budget: PipelinePolicy['budget']): number | undefined {
  if (!budget || budget.kind !== 'ratio') return undefined
  if (budget.of !== 'attempts') return 1 + budget.ratio
  // Of all attempts, retries included: r ≤ ratio × (1 + r), which from 1 on bounds nothing.
  return budget.ratio < 1 ? 1 / (1 - budget.ratio) : undefined
}

/** Dice that stand for all: the middle of each of so many equal parts. */
const DICE: readonly number[] = /* @__PURE__ */ Array.from({ length: 64 }, (_, part) => (part + 0.5) / 64)

function waitsOf(policy: RetryPolicy): ExplainedRetry[] {
  const waits: ExplainedRetry[] = []
  for (let retry = 1; retry < policy.maxAttempts; retry++) {
    const start = { minMs: policy.initialDelayMs, maxMs: policy.initialDelayMs, expectedMs: policy.initialDelayMs }
    const previous = waits.at(-1) ?? start
    const after = (previousDelayMs: number): { attempt: number; previousDelayMs: number } => ({
      attempt: retry,
      previousDelayMs,
    })
    const expectedMs =
      DICE.reduce((all, roll) => all + delayMs(policy, after(previous.expectedMs), roll), 0) / DICE.length
    const { minMs } = delayRange(policy, after(previous.minMs))
    const { maxMs } = delayRange(policy, after(previous.maxMs))
    waits.push({ retry, minMs, maxMs, expectedMs })
  }
  return waits
}

type End = 'minMs' | 'maxMs' | 'expectedMs'

function sum(waits: readonly ExplainedRetry[], end: End): number {
  return waits.reduce((all, wait) => all + wait[end], 0)
}

/**
 * When the last attempt begins at the earliest, if calls fail at once: after the shortest waits, or where a longer one
 * would first have passed the deadline.
 */
function earliestEndMs(totalBudgetMs: number, waits: readonly ExplainedRetry[]): number {
  let [earliestMs, latestMs, endMs] = [0, 0, Infinity]
  for (const { minMs, maxMs } of waits) {
    if (latestMs + maxMs > totalBudgetMs) endMs = Math.min(endMs, Math.max(earliestMs, totalBudgetMs - maxMs + 1))
    if (earliestMs + minMs > totalBudgetMs) return endMs
    earliestMs += minMs
    latestMs = Math.min(totalBudgetMs, latestMs + maxMs)
  }
  return Math.min(endMs, earliestMs)
}

/** How many attempts begin before the deadline: in the best case, usually, and in the worst. */
interface FittingAttempts {
  readonly possible: number
  readonly usual: number
  readonly certain: number
}

function attemptsOf(
  { totalBudgetMs, attemptTimeoutMs }: RetryPolicy,
  waits: readonly ExplainedRetry[],
): FittingAttempts {
  const fitting = (end: End, callMs: number): number => {
    let attempts = 1
    let leftMs = totalBudgetMs
    for (const wait of waits) {
      leftMs -= wait[end] + callMs
      if (leftMs >= 0) attempts++
    }
    return attempts
  }
  return { possible: fitting('minMs', 0), usual: fitting('expectedMs', 0), certain: fitting('maxMs', attemptTimeoutMs) }
}

const NO_BUDGET: Warning = {
  kind: 'no-budget',
  level: 'warning',
  at: 'budget',
  say: 'nothing but maxAttempts limits the retries: an outage multiplies the load',
}

function warningsOf(policy: RetryPolicy, waits: readonly ExplainedRetry[], attempts: FittingAttempts): Warning[] {
  const { maxAttempts, maxDelayMs, jitterType, backoffType } = policy
  const { possible, usual, certain } = attempts
  const warnings: Warning[] = []
  const note = (kind: Warning['kind'], at: string, say: string): void =>
    void warnings.push({ kind, level: 'note', at, say })
  const warn = (kind: Warning['kind'], at: string, say: string): void =>
    void warnings.push({ kind, level: 'warning', at, say })
  const still = waits.find(({ minMs, maxMs }) => minMs === maxMs)
  if (still !== undefined) {
    const at = jitterType === 'NONE' ? 'jitterType' : still.maxMs === 0 ? 'initialDelayMs' : 'minDelayMs'
    warn('no-jitter', at, 'callers that failed together come back together')
  }
  if (possible < maxAttempts)
    warn(
      'impossible-attempts',
      'maxAttempts',
      `only ${possible} attempts ever happen: totalBudgetMs ends before the next`,
    )
  else if (usual < maxAttempts)
    warn('unlikely-attempts', 'maxAttempts', `usually ${usual} attempts happen: totalBudgetMs ends before the next`)
  if (certain === 1 && maxAttempts > 1)
    warn('long-time-out', 'attemptTimeoutMs', 'a call that hangs leaves no time in totalBudgetMs for another')
  else if (certain < possible)
    note('long-time-out', 'attemptTimeoutMs', `when calls hang, totalBudgetMs has room for ${certain} attempts`)
  if (maxAttempts > 1 && backoffType !== 'FIXED' && plainDelayMs(policy, maxAttempts - 1) < maxDelayMs)
    note('cap-not-reached', 'maxDelayMs', 'the attempts end before the waits reach it')
  if (backoffType === 'CUSTOM' && jitterType === 'DECORRELATED')
    warn('list-not-used', 'delaysMs', 'DECORRELATED draws from initialDelayMs and the wait before')
  return warnings
}

/** "3 attempts, each within 100 ms, 200 ms of the one before, at most 10 s long and all within 30 s; then …" */
function sentenceOf(
  { maxAttempts, totalBudgetMs, attemptTimeoutMs }: RetryPolicy,
  waits: readonly ExplainedRetry[],
): string {
  if (waits.length === 0) return `one attempt, at most ${sayMs(Math.min(attemptTimeoutMs, totalBudgetMs))} long`
  const limits = `at most ${sayMs(attemptTimeoutMs)} long and all within ${sayMs(totalBudgetMs)}`
  return `${maxAttempts} attempts, each ${sayWaits(waits)} the one before, ${limits}; then the last error`
}

function sayWaits(waits: readonly ExplainedRetry[]): string {
  const fromZero = waits.every(({ minMs }) => minMs === 0)
  const words = waits.map(({ minMs, maxMs }) =>
    fromZero || minMs === maxMs ? sayMs(maxMs) : `${sayMs(minMs)} to ${sayMs(maxMs)}`,
  )
  // The first few and the last: a reader wants the shape.
  const shown = words.length > 6 ? [...words.slice(0, 4), '…', ...words.slice(-1)] : words
  return fromZero ? `within ${shown.join(', ')} of` : `${shown.join(', ')} after`
}

/** In the largest unit that says it in one decimal. */
function sayMs(ms: number): string {
  const [unit, lengthMs] = UNITS.find(([, lengthMs]) => ms >= lengthMs && (ms * 10) % lengthMs === 0) ?? ['ms', 1]
  return `${ms / lengthMs} ${unit}`
}

const UNITS: readonly (readonly [unit: string, lengthMs: number])[] = [
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
]
