import { context, trace, type Span } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider, type ReadableSpan } from '@opentelemetry/sdk-trace'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { instrument } from './instrument.ts'

export interface Spans {
  readonly tracerProvider: TracerProvider
  /** All that have ended, in the order in which they began. */
  all(): readonly ReadableSpan[]
  /** Runs something under a span of the caller's own. */
  under<T>(name: string, run: (span: Span) => Promise<T>): Promise<T>
}

/** For a whole file: the real SDK, and spans that stay in memory; instrumented, and forgotten after each test. */
export function recordedSpans(): Spans {
  const exporter = new InMemorySpanExporter()
  const begun: string[] = []
  const inOrder = {
    onStart: (span: Span) => void begun.push(span.spanContext().spanId),
    onEnd() {},
    forceFlush: async () => {},
    shutdown: async () => {},
  }
  const tracerProvider = new TracerProvider({ spanProcessors: [inOrder, new SimpleSpanProcessor({ exporter })] })
  const placeOf = (span: ReadableSpan): number => begun.indexOf(span.spanContext().spanId)
  let leave = (): void => {}
  beforeAll(() => {
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    leave = instrument({ tracerProvider })
  })
  afterEach(() => exporter.reset())
  afterAll(() => {
    leave()
    context.disable()
  })
  return {
    tracerProvider,
    all: () => exporter.getFinishedSpans().toSorted((a, b) => placeOf(a) - placeOf(b)),
    under: (name, run) =>
      tracerProvider.getTracer('test').startActiveSpan(name, async span => {
        try {
          return await run(span)
        } finally {
          span.end()
        }
      }),
  }
}

/** The span that is active here and now. */
export function activeSpanId(): string | undefined {
  return trace.getActiveSpan()?.spanContext().spanId
}
