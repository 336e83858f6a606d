import type { Outcome } from '../classify/outcome.ts'
import type { GiveUpReason } from '../retry/decide.ts'

/** Everything there is to see, as data: one function hears it, one union says it. */
export type RetryEvent = (OperationEvent & OfOperation) | BreakerEvent | Warning

/** An operation begins with its first attempt; it ends with an attempt that succeeded, or with `gave-up`. */
export type OperationEvent =
  | { readonly kind: 'attempt-started' }
  | {
      readonly kind: 'attempt-ended'
      readonly outcome: Outcome
      readonly durationMs: number
      /** Since the operation began. */
      readonly elapsedMs: number
      readonly error?: unknown
    }
  | { readonly kind: 'retry-scheduled'; readonly delayMs: number; readonly outcome: Outcome }
  | { readonly kind: 'gave-up'; readonly reason: GiveUpReason; readonly elapsedMs: number; readonly error: unknown }
  | { readonly kind: 'exhausted-hook-failed'; readonly error: unknown }

interface OfOperation {
  readonly name: string
  /** The pipeline that it belongs to, and its key in there; absent for bare calls. */
  readonly client?: string | undefined
  readonly key?: string | undefined
  /** One number per operation: the same in all of its events. */
  readonly operationId: number
  /** The attempt the event is about; the first is 1. */
  readonly attempt: number
}

export interface BreakerEvent {
  readonly kind: 'breaker-changed'
  readonly name: string
  readonly from: string
  readonly to: string
}

export interface Warning {
  readonly kind: 'warning'
  readonly code: WarningCode
  readonly message: string
}

export type WarningCode = 'policy-per-call' | 'signal-ignored' | 'not-idempotent' | 'nested'

export type Telemetry = (event: RetryEvent) => void

const observers: Telemetry[] = []

/** Hears what belongs to no operation (warnings, changes of breakers) until the returned function is called. */
export function listen(observer: Telemetry): () => void {
  observers.push(observer)
  return () => {
    const place = observers.indexOf(observer)
    if (place >= 0) observers.splice(place, 1)
  }
}

/** Tells everybody who listens; one that throws disturbs neither the call nor the others. */
export function emit(event: RetryEvent, own?: Telemetry): void {
  if (own !== undefined) tell(own, event)
  // A copy: an observer may leave while it is being told.
  for (const observer of observers.slice()) tell(observer, event)
}

const warned = new Set<string>()

/** No program has that many call sites worth a line each. */
const MOST_WARNINGS = 1_000

/** Says it once for each code and place: to whoever listens, else on the console. */
export function warnOnce(code: WarningCode, place: string, message: string, own?: Telemetry): void {
  const once = `${code} ${place}`
  if (warned.has(once) || warned.size >= MOST_WARNINGS) return
  warned.add(once)
  if (own === undefined && observers.length === 0) console.warn(`secondwind [${code}] ${message}`)
  else emit({ kind: 'warning', code, message }, own)
}

/** For tests: every warning may be said again. */
export function forgetWarnings(): void {
  warned.clear()
}

export function tell(observer: Telemetry, event: RetryEvent): void {
  try {
    observer(event)
  } catch (error) {
    complain('an observer', error)
  }
}

/** The fault of somebody who is only told things is reported where nobody's call can be harmed by it. */
export function complain(whose: string, error: unknown): void {
  console.error(`secondwind: ${whose} threw`, error)
}
