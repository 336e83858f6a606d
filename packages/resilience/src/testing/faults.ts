import { checkFields, isRecord, numberBetween, type FieldCheck, type Fields, type Problem } from '../check/problems.ts'
import type { Clock } from '../ports/clock.ts'
import { systemRandom, type Random } from '../ports/random.ts'
import { systemClock } from '../ports/system-clock.ts'
import { refuseProblems } from './errors.ts'

/** What goes wrong, how often, and when. */
export interface FaultOptions {
  /** The share of calls that fail instead of being made: 1 is all of them. */
  readonly errorRate?: number
  /** What they fail with, or a function that makes it; else a lost connection, `code` ECONNRESET. */
  readonly error?: unknown
  /** Added before each call: always the same, or drawn evenly from a range, both ends included. */
  readonly latencyMs?: number | { readonly from: number; readonly to: number }
  /** The window, in ms since `faults` was called: from here on … */
  readonly from?: number
  /** … and up to here, this instant no longer included. Outside of it every call is made as it is. */
  readonly until?: number
  readonly random?: Random
  readonly clock?: Clock
}

/**
 * The work, with faults put in front of it. An injected wait ends at once when a signal among the arguments aborts:
 * one that is passed as it is, or as the `signal` of an attempt, of `fetch`'s options, of any object.
 */
export function faults<Arguments extends unknown[], T>(
  work: (...args: Arguments) => T | PromiseLike<T>,
  options: FaultOptions,
): (...args: Arguments) => Promise<T> {
  refuseProblems('faults', problemsOf(options))
  const { errorRate = 0, error = connectionLost, latencyMs = 0, from = 0, until = Infinity } = options
  const { random = systemRandom, clock = systemClock } = options
  const createdAt = clock.monotonic()

  return async (...args) => {
    const elapsedMs = clock.monotonic() - createdAt
    if (elapsedMs < from || elapsedMs >= until) return work(...args)
    const waitMs = drawMs(latencyMs, random)
    if (waitMs > 0) await clock.sleep(waitMs, signalAmong(args))
    if (errorRate > 0 && random() < errorRate) throw typeof error === 'function' ? error() : error
    return work(...args)
  }
}

function problemsOf(options: unknown): Problem[] {
  if (!isRecord(options)) return [{ at: 'options', is: options, say: 'must be an object with what to inject' }]
  const problems = checkFields(options, FIELDS)
  const { errorRate, error, latencyMs, from = 0, until = Infinity } = options as FaultOptions
  if (errorRate === undefined && error !== undefined)
    problems.push({ at: 'errorRate', is: errorRate, say: 'must be given with error; 1 fails every call' })
  else if (errorRate === undefined && latencyMs === undefined)
    problems.push({ at: 'errorRate', is: errorRate, say: 'or latencyMs must be given: there is nothing to inject' })
  if (until <= from) problems.push({ at: 'until', is: until, say: `must be later than from, ${from}` })
  return problems
}

const ANY_MS = numberBetween(0, Number.MAX_SAFE_INTEGER)

const LATENCY: FieldCheck = value => {
  if (!isRecord(value)) return ANY_MS(value) && 'milliseconds, 0 or more, or { from, to }'
  const isRange = ANY_MS(value.from) === undefined && ANY_MS(value.to) === undefined
  return isRange && Number(value.from) <= Number(value.to) ? undefined : 'a range { from, to } of milliseconds'
}

const FIELDS: Fields = {
  errorRate: numberBetween(0, 1),
  error: () => undefined,
  latencyMs: LATENCY,
  from: ANY_MS,
  until: numberBetween(0, Infinity),
  random: value => (typeof value === 'function' ? undefined : 'a function that draws from [0, 1)'),
  clock: value => (isRecord(value) ? undefined : 'a clock'),
}

function connectionLost(): Error {
  return Object.assign(new Error('injected fault: the connection was lost'), { code: 'ECONNRESET' })
}

function drawMs(latencyMs: number | { readonly from: number; readonly to: number }, random: Random): number {
  if (typeof latencyMs === 'number') return latencyMs
  const { from, to } = latencyMs
  return Math.min(to, Math.floor(from + random() * (to - from + 1)))
}

function signalAmong(args: readonly unknown[]): AbortSignal | undefined {
  for (const arg of args) {
    const candidate = isRecord(arg) && !(arg instanceof AbortSignal) ? arg.signal : arg
    if (candidate instanceof AbortSignal) return candidate
  }
  return undefined
}
