import { context, INVALID_SPAN_CONTEXT, ROOT_CONTEXT, SpanStatusCode, trace } from '@opentelemetry/api'
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

/** Tracing never changes a result: whatever a tracer or an error's own getters throw is reported, and that is all. */
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
    const parent = quietly(() => context.active()) ?? ROOT_CONTEXT
    this.#tracer = tracer
    this.#operation = operation
    this.#span = startSpan(tracer, operation.name, parent)
    this.#context = trace.setSpan(parent, this.#span)
  }

  around<R>(call: (attempt: Attempt) => R, attempt: Attempt): R {
    const span = startSpan(this.#tracer, `${this.#operation.name} attempt`, this.#context)
    this.#attempt = span
    quietly(() => {
      span.setAttribute('retry.attempt', attempt.attempt)
      if (attempt.attempt > 1) span.setAttribute('http.request.resend_count', attempt.attempt - 1)
    })
    return callWithin(trace.setSpan(this.#context, span), () => call(attempt))
  }

  ended({ outcome, error }: EndedAttempt): void {
    const span = this.#attempt
    if (outcome.kind === 'failure' && span !== undefined) {
      quietly(() => span.setAttribute('retry.fault', outcome.fault))
      fail(span, error, quietly(() => (error instanceof Error ? error.message : undefined)) ?? outcome.fault)
      recordException(span, error)
      this.#lastError = error
    }
    this.#endAttempt()
  }

  waits({ delayMs }: Wait): void {
    quietly(() => this.#span.addEvent('retry-scheduled', { 'retry.delay_ms': delayMs }))
  }

  over(end: End | undefined): void {
    this.#endAttempt()
    quietly(() => this.#span.setAttribute('retry.attempts', this.#operation.attempts))
    if (end !== undefined) {
      quietly(() => this.#span.setAttribute('retry.give_up_reason', end.reason))
      fail(this.#span, end.error, end.reason)
      // Where an attempt threw it, it is there already.
      if (end.error !== this.#lastError) recordException(this.#span, end.error)
    }
    quietly(() => this.#span.end())
  }

  #endAttempt(): void {
    quietly(() => this.#attempt?.end())
    this.#attempt = undefined
  }
}

/** Where the tracer makes none, one that records nothing: what is called within is a child of the caller's. */
function startSpan(tracer: Tracer, name: string, parent: Context): Span {
  const span = quietly(() => tracer.startSpan(name, {}, parent))
  return span ?? trace.wrapSpanContext(trace.getSpanContext(parent) ?? INVALID_SPAN_CONTEXT)
}

/** Makes the call exactly once, in the context if that can be had; what it returns or throws is its own. */
function callWithin<R>(active: Context, call: () => R): R {
  let made = undefined as { readonly value: R } | { readonly error: unknown } | undefined
  const make = (): void => {
    try {
      made = { value: call() }
    } catch (error) {
      made = { error }
    }
  }
  quietly(() => context.with(active, make))
  if (made === undefined) make()
  if ('error' in made!) throw made.error
  return made!.value
}

function fail(span: Span, error: unknown, message: string): void {
  quietly(() => span.setAttribute('error.type', errorTypeOf(error)))
  quietly(() => span.setStatus({ code: SpanStatusCode.ERROR, message }))
}

/** As the semantic conventions want it: the class of an error, the status of a response, else `_OTHER`. */
function errorTypeOf(error: unknown): string {
  if (error instanceof Error) return error.name
  const { status } = Object(error) as { readonly status?: unknown }
  return typeof status === 'number' ? String(status) : '_OTHER'
}

/** A response that failed is no exception. */
function recordException(span: Span, error: unknown): void {
  quietly(() => {
    if (error instanceof Error || typeof error === 'string') span.recordException(error)
  })
}

function quietly<T>(trace: () => T): T | undefined {
  try {
    return trace()
  } catch (error) {
    console.error('secondwind: a tracer threw', error)
    return undefined
  }
}
