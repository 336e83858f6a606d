import { headerOf, readDecimal, type HeaderSource } from '../retry/retry-after.ts'

/**
 * How long the sender of a request waits for its answer, in ms from `now` (wall time); undefined when it does not say
 * so, or not in a way that can be read: what a stranger sends can neither break a request nor fill a log.
 *
 * A relative time counts from the moment of arrival and needs no clock that two machines share; an absolute one is
 * read only where there is none. Sent twice, by the proxies of a long way perhaps, the shortest counts.
 */
export function askedTimeoutMs(headers: HeaderSource, now: number): number | undefined {
  return (
    shortest(headerOf(headers, 'x-timeout-ms'), readDecimal) ??
    shortest(headerOf(headers, 'grpc-timeout'), readGrpcTimeout) ??
    shortest(headerOf(headers, 'x-deadline-unix-ms'), value => readInstant(value, now))
  )
}

/** What a hop keeps back for itself. Nothing is left rather than less: a request without time is refused, not hurried. */
export function trimmedMs(timeoutMs: number, reserveMs: number): number {
  return Math.max(0, timeoutMs - reserveMs)
}

/** A way between two zones of a region takes a few ms, and a busy event loop hears its timers a few ms late. */
export const DEFAULT_RESERVE_MS = 10

/** `X-Timeout-Ms`: a whole number, and never 0, which some read as "no limit". */
export function timeoutHeader(remainingMs: number): string {
  return String(wholeMs(remainingMs))
}

/** `grpc-timeout`: at most eight digits and a unit, the finest that fits; ours begin at the millisecond. */
export function grpcTimeoutHeader(remainingMs: number): string {
  const ms = wholeMs(remainingMs)
  const [unit, unitMs] = WRITTEN_UNITS.find(([, unitMs]) => ms / unitMs <= MOST_UNITS) ?? LONGEST_UNIT
  return `${Math.min(MOST_UNITS, Math.ceil(ms / unitMs))}${unit}`
}

function wholeMs(remainingMs: number): number {
  return Math.max(1, Math.ceil(remainingMs))
}

function shortest(value: string, read: (part: string) => number | undefined): number | undefined {
  const ms = Math.min(...value.split(',').map(part => read(part.trim()) ?? Infinity))
  return ms === Infinity ? undefined : ms
}

const MS_OF: { readonly [unit: string]: number } = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000_001 }

const LONGEST_UNIT: readonly [string, number] = ['H', 3_600_000]
const WRITTEN_UNITS: readonly (readonly [string, number])[] = [['m', 1], ['S', 1_000], ['M', 60_000], LONGEST_UNIT]
const MOST_UNITS = 99_999_999

/** gRPC over HTTP/2, "Timeout". */
function readGrpcTimeout(value: string): number | undefined {
  const [, digits, unit] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? []
  return unit === undefined ? undefined : Number(digits) * MS_OF[unit]!
}

/** Fifteen digits are the year 33658, and exact. */
function readInstant(value: string, now: number): number | undefined {
  return /^\d{1,15}$/.test(value) ? Math.max(0, Number(value) - now) : undefined
}
