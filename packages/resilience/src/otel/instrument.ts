import { context, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Context, Span, Tracer, TracerProvider } from '@opentelemetry/api'
import { accompanyAll } from '../retry/companion.ts'
import type { Accompanied, Companion, End, EndedAttempt, Wait } from '../retry/companion.ts'
import type { Attempt } from '../retry/options.ts'

export interface InstrumentOptions {
  /** Who makes the spans; else a tracer of `tracerProvider`. */
  readonly tracer?: Tracer
  /** Else the one that is registered with `@opentelemetry/api`. */
  readonly tracerProvider?: TracerProvider
}

/**
 * From now on, until the returned function is called, every operation of the process has a span, and below it one for
 * each attempt. While the work of an attempt runs, its span is the active one: what is called there becomes its child,
 * and sends the trace along.
 */
export function instrument(options: InstrumentOptions = {}): () => void {
  const { tracerProvider = trace, tracer = tracerProvider.getTracer('@secondwind/resilience') } = options
  return accompanyAll({ accompany: operation => new TracedOperation(tracer, operation) })
}

class TracedOperation implements Companion {
  readonly #tracer: Tracer
  readonly #operation: Accompanied
  readonly #span: Span
  /** The caller's, with the operation's span as the active one. */
  readonly #context: Context
  #attempt: Span | undefined = undefined
  #lastError: unknown = undefined

  /** Made before the caller's call returns: the active context is still the caller's. Later it is that of some timer. */
  constructor(tracer: Tracer, operation: Accompanied) {
    const parent = context.active()
    this.#tracer = tracer
    this.#operation = operation
    this.#span = tracer.startSpan(operation.name, {}, parent)
    this.#context = trace.setSpan(parent, this.#span)
  }

  around<R>(call: (attempt: Attempt) => R, attempt: Attempt): R {
    const span = this.#tracer.startSpan(`${this.#operation.name} attempt`, {}, this.#context)
    span.setAttribute('retry.attempt', attempt.attempt)
    if (attempt.attempt > 1) span.setAttribute('http.request.resend_count', attempt.attempt - 1)
    this.#attempt = span
    return context.with(trace.setSpan(this.#context, span), () => call(attempt))
  }

  ended({ outcome, error }: EndedAttempt): void {
    if (outcome.kind === 'failure' && this.#attempt !== undefined) {
      this.#attempt.setAttribute('retry.fault', outcome.fault)
      fail(this.#attempt, error, error instanceof Error ? error.message : outcome.fault)
      recordException(this.#attempt, error)
      this.#lastError = error
    }
    this.#endAttempt()
  }

  waits({ delayMs }: Wait): void {
    this.#span.addEvent('retry-scheduled', { 'retry.delay_ms': delayMs })
  }

  over(end: End | undefined): void {
    this.#endAttempt()
    this.#span.setAttribute('retry.attempts', this.#operation.attempts)
    if (end !== undefined) {
      this.#span.setAttribute('retry.give_up_reason', end.reason)
      fail(this.#span, end.error, end.reason)
      // Where an attempt threw it, it is there already.
      if (end.error !== this.#lastError) recordException(this.#span, end.error)
    }
    this.#span.end()
  }

  #endAttempt(): void {
    this.#attempt?.end()
    this.#attempt = undefined
  }
}

function fail(span: Span, error: unknown, message: string): void {
  span.setAttribute('error.type', errorTypeOf(error))
  span.setStatus({ code: SpanStatusCode.ERROR, message })
}

/** As the semantic conventions want it: the class of an error, the status of a response, else `_OTHER`. */
function errorTypeOf(error: unknown): string {
  if (error instanceof Error) return error.name
  const { status } = Object(error) as { readonly status?: unknown }
  return typeof status === 'number' ? String(status) : '_OTHER'
}

/** A response that failed is no exception. */
function recordException(span: Span, error: unknown): void {
  if (error instanceof Error || typeof error === 'string') span.recordException(error)
}
