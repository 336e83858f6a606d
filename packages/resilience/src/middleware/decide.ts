import { askedTimeoutMs, trimmedMs } from '../deadline/decide.ts'
import { headerOf, type HeaderSource } from '../retry/retry-after.ts'
import type { AdmissionPolicy } from './policy.ts'

/** How long a request that arrives may be worked on; undefined when nobody says so. `now` is wall time. */
export function timeForRequestMs(policy: AdmissionPolicy, headers: HeaderSource, now: number): number | undefined {
  const { reserveMs, maxTimeoutMs = Infinity } = policy
  // A limit of our own needs no reserve: the caller did not name it, and may wait longer.
  const ms = Math.min(trimmedMs(askedTimeoutMs(headers, now) ?? Infinity, reserveMs), maxTimeoutMs)
  return ms === Infinity ? undefined : ms
}

/** Whether the caller has made this call before: then it will perhaps make it again, and we need not. */
export function isRepeatedCall(headers: HeaderSource): boolean {
  return /^\d{1,9}$/.test(headerOf(headers, 'retry-attempt')) && Number(headerOf(headers, 'retry-attempt')) > 1
}

/** Why a request is not worked on: nobody waits for its answer any more, or there is no room. */
export type RefusalCode = 'deadline' | 'throttled'

export interface RefusedRequest {
  readonly status: number
  readonly headers: { readonly [name: string]: string }
  /** RFC 9457. */
  readonly body: string
}

export function refusalOf(code: RefusalCode, policy: AdmissionPolicy, roll: number): RefusedRequest {
  // As a gateway answers whose time is up, Envoy for instance, and what gRPC's DEADLINE_EXCEEDED becomes over HTTP.
  if (code === 'deadline') return problem(504, code, 'the deadline of the request has passed', {})
  return problem(policy.shedStatus, code, 'there is no room for the request', comeBack(policy.retryAfterMs, roll))
}

/** Those who are shed together must not come back together. In ms too, for whoever reads that: seconds spread little. */
function comeBack(retryAfterMs: number, roll: number): RefusedRequest['headers'] {
  const waitMs = Math.round(retryAfterMs * (1 + roll))
  // Rounded up: who reads only the seconds must not come earlier than who reads the milliseconds.
  return { 'retry-after': String(Math.ceil(waitMs / 1_000)), 'retry-after-ms': String(waitMs) }
}

function problem(
  status: number,
  code: RefusalCode,
  detail: string,
  headers: RefusedRequest['headers'],
): RefusedRequest {
  const body = JSON.stringify({ title: TITLES[status], status, code, detail })
  return { status, headers: { 'content-type': 'application/problem+json', ...headers }, body }
}

const TITLES: { readonly [status: number]: string } = {
  429: 'Too Many Requests',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
}

/** How a request ended: what it was answered, undefined when the caller went away first; and what time it had left. */
export interface RequestEnd {
  readonly status: number | undefined
  readonly remainingMs: number | undefined
}

/** What the limit may learn from a request. One that failed, or was left, says nothing about how long answers take. */
export function lessonOf({ status, remainingMs }: RequestEnd): 'good' | 'dropped' | 'none' {
  if (remainingMs === 0) return 'dropped'
  return status !== undefined && status < 500 ? 'good' : 'none'
}
