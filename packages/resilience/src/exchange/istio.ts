/** The retries of an HTTP route of Istio's VirtualService: Envoy's, in fewer words and with other defaults. */
import { isRecord, wholeNumber } from '../check/problems.ts'
import {
  anything,
  goDuration,
  readFields,
  readMs,
  writeSeconds,
  type Exported,
  type Imported,
  type Report,
  type Shape,
} from './document.ts'
import { completePolicy, lostParts, type AnyPolicyInput } from './losses.ts'
import { BY_STATUS, CONNECTION_WORDS, proxyCapMs, readProxyRetries, wordsOf, writeProxyWaits } from './proxy.ts'

export interface IstioRoute {
  readonly timeout: string
  readonly retries: {
    readonly attempts: number
    readonly perTryTimeout: string
    readonly retryOn: string
    readonly backoff: string
  }
}

/** What Istio does where nothing is said; without `retries` it still makes two. */
const ISTIO = { retries: { attempts: 2 }, retryOn: 'connect-failure,refused-stream,unavailable,cancelled', baseMs: 25 }

/**
 * From `retries` alone, or from a route with `timeout`, `retries` or both. Envoy's own document is read by `fromEnvoy`:
 * the two have words in common that mean different things.
 */
export function fromIstio(config: unknown): Imported {
  const report: Report = { problems: [], notCarried: [] }
  const isBare = isRecord(config) && !('retries' in config || 'timeout' in config)
  const { timeout, retries = ISTIO.retries } = isBare
    ? { retries: config }
    : readFields(report, '', config, routeFields())
  const at = isBare ? '' : 'retries.'
  const fields = readFields(report, at.slice(0, -1), retries, retryFields())
  if (report.problems.length > 0) return { problems: report.problems }

  const { attempts = 0, perTryTimeout, backoff } = fields
  const retryOn = (fields['retryOn'] as string) || ISTIO.retryOn
  const { conditions, statuses } = readRetryOn(retryOn)
  const baseMs = readMs(report, `${at}backoff`, backoff) || ISTIO.baseMs
  const retry = readProxyRetries(report.notCarried, {
    numRetries: attempts as number,
    conditions,
    retryOn: { at: `${at}retryOn`, is: retryOn },
    statuses,
    statusCodes: { at: `${at}retryOn`, is: retryOn },
    baseMs,
    maxMs: proxyCapMs(baseMs),
    perTryTimeoutMs: readMs(report, `${at}perTryTimeout`, perTryTimeout),
    timeoutMs: readMs(report, 'timeout', timeout),
    timeout: { at: 'timeout', is: timeout },
  })
  return { policy: { name: 'istio', retry }, notCarried: report.notCarried }
}

export function toIstio(input: AnyPolicyInput): Exported<IstioRoute> {
  const { policy, problems } = completePolicy(input)
  if (policy === undefined) return { problems }
  const { retry } = policy
  const notCarried = lostParts(policy, [], 'Istio')
  const { baseMs } = writeProxyWaits(notCarried, retry, 'Istio')
  return {
    config: {
      timeout: writeSeconds(retry.totalBudgetMs),
      retries: {
        attempts: retry.maxAttempts - 1,
        perTryTimeout: writeSeconds(retry.attemptTimeoutMs),
        retryOn: [...CONNECTION_WORDS, ...retry.retryableStatusCodes].join(','),
        backoff: writeSeconds(baseMs),
      },
    },
    notCarried,
  }
}

/** A number among the conditions is a status, and stands in Envoy's list of them. */
function readRetryOn(retryOn: string): {
  readonly conditions: readonly string[]
  readonly statuses: readonly number[]
} {
  const isStatus = (word: string): boolean => /^[1-5]\d\d$/.test(word)
  const words = wordsOf(retryOn)
  const statuses = words.filter(isStatus).map(Number)
  const conditions = words.filter(word => !isStatus(word))
  return { conditions: statuses.length > 0 ? [...conditions, BY_STATUS] : conditions, statuses }
}

function routeFields(): Shape {
  return { timeout: goDuration(0), retries: anything }
}

function retryFields(): Shape {
  return {
    attempts: wholeNumber(0, 9_999),
    perTryTimeout: goDuration(0),
    retryOn: value => (typeof value === 'string' ? undefined : 'a text, the conditions with commas between them'),
    backoff: goDuration(1),
    retryRemoteLocalities: 'has no counterpart here',
    retryIgnorePreviousHosts: 'has no counterpart here',
  }
}
