/**
 * Envoy's retries (v3), read: the retry policy of a route and its deadline, and the retry budget of the cluster behind
 * it. Fields may be in snake_case or camelCase; what is said about them is in snake_case.
 */
import type { ConcurrentBudget } from '../budget/policy.ts'
import { isRecord, numberBetween, wholeNumber, type FieldCheck } from '../check/problems.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import {
  anything,
  entriesOf,
  list,
  readFields,
  readMs,
  seconds,
  tidy,
  type Imported,
  type JsonObject,
  type Report,
  type Shape,
} from './document.ts'
import { proxyCapMs, readProxyRetries, wordsOf } from './proxy.ts'

/** What Envoy does where nothing is said. */
const ENVOY = { timeoutMs: 15_000, numRetries: 1, baseMs: 25, budgetPercent: 20, minRetries: 3, maxRetries: 3 }

/** From a retry policy alone, or from a document with `route`, `cluster` or both. */
export function fromEnvoy(config: unknown): Imported {
  const report: Report = { problems: [], notCarried: [] }
  const isWhole = isRecord(config) && ('route' in config || 'cluster' in config)
  const { route = {}, cluster } = isWhole ? read(report, '', config, { route: anything, cluster: anything }) : {}
  const { timeout, retry_policy = {} } = read(report, 'route', route, routeFields())
  const at = isWhole ? 'route.retry_policy.' : ''
  const fields = read(report, at.slice(0, -1), isWhole ? retry_policy : config, retryFields())
  const backOff = readBackOff(report, `${at}retry_back_off`, fields['retry_back_off'])
  const budget = cluster === undefined ? {} : { budget: readBudget(report, cluster) }
  if (report.problems.length > 0) return { problems: report.problems }

  const retry = readRetries(report, at, { fields, backOff, timeout })
  if (report.problems.length > 0) return { problems: report.problems }
  return { policy: { name: 'envoy', retry, ...budget }, notCarried: report.notCarried }
}

/** The objects that were found, each checked by itself. */
interface Sections {
  readonly fields: JsonObject
  readonly backOff: JsonObject
  readonly timeout: unknown
}

function readRetries(report: Report, at: string, { fields, backOff, timeout }: Sections): RetryPolicyInput {
  const { num_retries = ENVOY.numRetries, retry_on = '', retriable_status_codes = [] } = fields
  const { per_try_timeout, rate_limited_retry_back_off: limited } = fields
  const { base_interval, max_interval } = backOff
  const baseMs = readMs(report, `${at}retry_back_off.base_interval`, base_interval) || ENVOY.baseMs
  const maxMs = readMs(report, `${at}retry_back_off.max_interval`, max_interval) || proxyCapMs(baseMs)
  if (maxMs < baseMs) {
    const say = `must not be less than base_interval, ${baseMs} ms`
    report.problems.push({ at: `${at}retry_back_off.max_interval`, is: max_interval, say })
  }
  if (limited !== undefined && !isRetryAfter(limited)) {
    const say = 'is not carried: Retry-After is always heeded here, and no other header'
    report.notCarried.push({ at: `${at}rate_limited_retry_back_off`, is: limited, say })
  }
  return readProxyRetries(report.notCarried, {
    numRetries: num_retries as number,
    conditions: wordsOf(retry_on as string),
    retryOn: { at: `${at}retry_on`, is: fields['retry_on'] },
    statuses: retriable_status_codes as number[],
    statusCodes: { at: `${at}retriable_status_codes`, is: retriable_status_codes },
    baseMs,
    maxMs,
    perTryTimeoutMs: readMs(report, `${at}per_try_timeout`, per_try_timeout),
    timeoutMs: timeout === undefined ? ENVOY.timeoutMs : readMs(report, 'route.timeout', timeout),
    timeout: { at: 'route.timeout', is: timeout },
  })
}

function readBackOff(report: Report, at: string, input: unknown): JsonObject {
  if (input === undefined) return {}
  const fields = read(report, at, input, { base_interval: seconds(1), max_interval: seconds(1) })
  if (fields['base_interval'] === undefined)
    report.problems.push({ at: `${at}.base_interval`, is: undefined, say: 'must be given' })
  return fields
}

function isRetryAfter(limited: unknown): boolean {
  const headers = isRecord(limited) ? entriesOf(limited['reset_headers'] ?? limited['resetHeaders']) : []
  const names = headers.map(header => (isRecord(header) ? header['name'] : undefined))
  return names.length > 0 && names.every(name => typeof name === 'string' && name.toLowerCase() === 'retry-after')
}

/** A share of the requests under way; or, where the cluster has no such budget, so many retries at a time. */
function readBudget(report: Report, cluster: unknown): ConcurrentBudget {
  const at = 'cluster.circuit_breakers'
  const { circuit_breakers = {} } = read(report, 'cluster', cluster, { circuit_breakers: anything })
  const { thresholds } = read(report, at, circuit_breakers, { thresholds: list })
  const [first = {}, ...others] = entriesOf(thresholds)
  for (const [place, is] of others.entries()) {
    const say = 'is not carried: there is one budget here, that of the first priority'
    report.notCarried.push({ at: `${at}.thresholds[${place + 1}]`, is, say })
  }
  const path = `${at}.thresholds[0]`
  const { retry_budget, max_retries = ENVOY.maxRetries } = read(report, path, first, thresholdFields())
  const { budget_percent = {}, min_retry_concurrency = ENVOY.minRetries } =
    retry_budget === undefined ? {} : read(report, `${path}.retry_budget`, retry_budget, budgetFields())
  const { value = ENVOY.budgetPercent } = read(report, `${path}.retry_budget.budget_percent`, budget_percent, {
    value: numberBetween(0, 100),
  })
  // A thousand million at a time is no limit, and 4294967295 is how to say so there.
  const most = (retries: unknown): number => Math.min(retries as number, 1e9)
  return retry_budget === undefined
    ? { kind: 'concurrent', ratio: 0, minRetries: most(max_retries) }
    : { kind: 'concurrent', ratio: tidy((value as number) / 100), minRetries: most(min_retry_concurrency) }
}

function read(report: Report, at: string, input: unknown, shape: Shape): JsonObject {
  return readFields(report, at, isRecord(input) ? inSnakeCase(report, at, input) : input, shape)
}

function inSnakeCase(report: Report, at: string, input: JsonObject): JsonObject {
  const named = new Map<string, unknown>()
  for (const [field, is] of Object.entries(input)) {
    const name = toSnakeCase(field)
    if (named.has(name))
      report.problems.push({ at: (at && `${at}.`) + name, is, say: 'must not be given in both spellings' })
    named.set(name, is)
  }
  return Object.fromEntries(named)
}

function toSnakeCase(field: string): string {
  return field.replaceAll(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)
}

function routeFields(): Shape {
  return { timeout: seconds(0), retry_policy: anything, hedge_policy: NONE }
}

function retryFields(): Shape {
  return {
    retry_on: value => (typeof value === 'string' ? undefined : 'a text, the conditions with commas between them'),
    num_retries: wholeNumber(0, 9_999),
    per_try_timeout: seconds(0),
    retry_back_off: anything,
    rate_limited_retry_back_off: anything,
    retriable_status_codes: statuses(),
    per_try_idle_timeout: NONE,
    retry_priority: NONE,
    retry_host_predicate: NONE,
    retry_options_predicates: NONE,
    host_selection_retry_max_attempts: NONE,
    retriable_headers: NONE,
    retriable_request_headers: NONE,
  }
}

const NONE = 'has no counterpart here'

function statuses(): FieldCheck {
  const isStatus = wholeNumber(100, 599)
  return value =>
    Array.isArray(value) && value.every(status => isStatus(status) === undefined)
      ? undefined
      : 'a list of HTTP statuses'
}

function thresholdFields(): Shape {
  return { retry_budget: anything, max_retries: count(), priority: NONE }
}

function budgetFields(): Shape {
  return { budget_percent: anything, min_retry_concurrency: count() }
}

function count(): FieldCheck {
  return wholeNumber(0, 2 ** 32 - 1)
}
