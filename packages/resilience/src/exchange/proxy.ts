/** What Envoy and Istio share: Istio's retries are Envoy's, in other words. */
import { milliseconds } from '../check/problems.ts'
import { plainDelayMs } from '../retry/backoff.ts'
import { DEFAULT_POLICY, type RetryPolicy, type RetryPolicyInput } from '../retry/policy.ts'
import type { Loss } from './document.ts'
import { findCode } from './grpc-codes.ts'
import { lostWaits } from './losses.ts'

/** Envoy's waits double, by its code and its tests; its pages still give (2ⁿ − 1) × base. */
const PROXY_WAITS = { backoffType: 'EXPONENTIAL', multiplier: 2, jitterType: 'FULL', minDelayMs: 0 } as const

/** What a policy retries whatever its statuses: every way in which a connection can fail. */
export const CONNECTION_WORDS: readonly string[] = ['connect-failure', 'refused-stream', 'reset']

export const BY_STATUS = 'retriable-status-codes'

/** Without a longest wait: ten times the first. */
export function proxyCapMs(baseMs: number): number {
  // Ten times ten years would be no duration any more.
  return milliseconds()(10 * baseMs) === undefined ? 10 * baseMs : baseMs
}

/** A proxy's retries in its own numbers, and where each was found. */
export interface ProxyRetries {
  readonly numRetries: number
  readonly conditions: readonly string[]
  readonly retryOn: Found
  /** What `retriable-status-codes` stands for. */
  readonly statuses: readonly number[]
  readonly statusCodes: Found
  readonly baseMs: number
  readonly maxMs: number
  /** 0 is none, here and below. */
  readonly perTryTimeoutMs: number
  readonly timeoutMs: number
  readonly timeout: Found
}

type Found = Omit<Loss, 'say'>

export function wordsOf(retryOn: string): string[] {
  const words = retryOn.split(',').map(word => word.trim())
  return words.filter(word => word !== '')
}

export function readProxyRetries(notCarried: Loss[], asked: ProxyRetries): RetryPolicyInput {
  const statuses = readConditions(notCarried, asked)
  const totalBudgetMs = asked.timeoutMs || DEFAULT_POLICY.totalBudgetMs
  if (asked.timeoutMs === 0) {
    const say = `is none, and a request could take for ever; here all of it ends after ${totalBudgetMs} ms`
    notCarried.push({ ...asked.timeout, say })
  }
  return {
    ...PROXY_WAITS,
    maxAttempts: statuses.length === 0 ? 1 : asked.numRetries + 1,
    initialDelayMs: asked.baseMs,
    maxDelayMs: asked.maxMs,
    totalBudgetMs,
    // A try without a limit of its own may last as long as all of them.
    attemptTimeoutMs: asked.perTryTimeoutMs || totalBudgetMs,
    ...(statuses.length > 0 && { retryableStatusCodes: statuses }),
  }
}

/** The statuses that the conditions stand for; none when nothing is retried. */
function readConditions(notCarried: Loss[], asked: ProxyRetries): number[] {
  const { numRetries, conditions, retryOn, statusCodes } = asked
  const lose = (say: string, is: unknown = retryOn.is): number => notCarried.push({ at: retryOn.at, is, say })
  if (asked.statuses.length > 0 && !conditions.includes(BY_STATUS))
    notCarried.push({ ...statusCodes, say: `has no effect without ${BY_STATUS} among the conditions` })
  if (numRetries === 0) return []
  if (conditions.length === 0) {
    lose('names no condition, so that nothing is retried')
    return []
  }
  const statuses = conditions.flatMap(word => {
    const meant = word === BY_STATUS ? asked.statuses : statusesOf(word)
    if (meant === undefined) lose('is a condition without a counterpart here', word)
    else if (isGrpcWord(word)) lose(`is a status of gRPC, and becomes ${meant.join(', ')} of HTTP`, word)
    return meant ?? []
  })
  if (!conditions.some(word => ['reset', '5xx', 'gateway-error'].includes(word)))
    lose('leaves out reset, but a lost connection is always retried here')
  if (statuses.length > 0) return [...new Set(statuses)]
  lose('names no status, and a policy needs one: 503, as a proxy answers for a lost connection')
  return [503]
}

/** Undefined for a condition that is about something else than a status or a connection. */
function statusesOf(word: string): readonly number[] | undefined {
  switch (word) {
    case '5xx':
      return Array.from({ length: 100 }, (_, place) => 500 + place)
    case 'gateway-error':
      return [502, 503, 504]
    case 'retriable-4xx':
      return [409]
    case 'reset':
    case 'reset-before-request':
    case 'connect-failure':
    case 'refused-stream':
    case 'http3-post-connect-failure':
      return []
    default:
      return isGrpcWord(word) ? [findCode(word.replace('-', '_'))![1]] : undefined
  }
}

function isGrpcWord(word: string): boolean {
  return ['cancelled', 'deadline-exceeded', 'internal', 'resource-exhausted', 'unavailable'].includes(word)
}

/** The first and the longest wait, and what differs from the policy's. */
export function writeProxyWaits(
  notCarried: Loss[],
  policy: RetryPolicy,
  whose: 'Envoy' | 'Istio',
): { readonly baseMs: number; readonly maxMs: number } {
  // A wait of nothing is refused there.
  const baseMs = Math.max(1, plainDelayMs(policy, 1))
  const maxMs = whose === 'Istio' ? proxyCapMs(baseMs) : Math.max(baseMs, policy.maxDelayMs)
  const { jitterRatio } = policy
  notCarried.push(
    ...lostWaits(policy, { ...PROXY_WAITS, jitterRatio, initialDelayMs: baseMs, maxDelayMs: maxMs }, whose),
  )
  return { baseMs, maxMs }
}
