import assert from 'node:assert/strict'
import { context, INVALID_SPAN_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api'
import type { Span, Tracer } from '@opentelemetry/api'
import type { ReadableSpan } from '@opentelemetry/sdk-trace'
import { afterEach, describe, it, onTestFinished, vi } from 'vitest'
import { createBreaker } from '../breaker/run.ts'
import { AttemptTimeoutError, RefusedError } from '../errors.ts'
import { createFetch } from '../fetch/run.ts'
import type { Attempt } from '../retry/options.ts'
import { retry } from '../retry/run.ts'
import { outcomeOf, reset, scripted, STEADY } from '../retry/scripted.test-kit.ts'
import { instrument } from './instrument.ts'
import { activeSpanId, recordedSpans } from './spans.test-kit.ts'

const spans = recordedSpans()

const idOf = (span: ReadableSpan | undefined): string | undefined => span?.spanContext().spanId
const exceptionsOf = (span: ReadableSpan): unknown[] =>
  span.events.flatMap(({ name, attributes }) => (name === 'exception' ? [attributes?.['exception.message']] : []))

describe('the spans of an operation', () => {
  it('are one for the operation and one below it for each attempt', async () => {
    const { work, ports, clock } = scripted(reset(), reset(), 'value')
    await outcomeOf(clock, retry(work, STEADY, { ports, name: 'stock' }))
    const [operation, ...attempts] = spans.all()
    assert.deepEqual(
      spans.all().map(({ name }) => name),
      ['stock', 'stock attempt', 'stock attempt', 'stock attempt'],
    )
    for (const attempt of attempts) {
      assert.equal(attempt.parentSpanContext?.spanId, idOf(operation))
      assert.deepEqual([attempt.kind, attempt.links], [SpanKind.INTERNAL, []])
    }
    assert.equal(operation!.instrumentationScope.name, '@secondwind/resilience')
  })

  it('say which attempt it was, and from the second on how often the request was sent again', async () => {
    const { work, ports, clock } = scripted(reset(), reset(), 'value')
    await outcomeOf(clock, retry(work, STEADY, { ports }))
    assert.deepEqual(
      spans.all().map(({ attributes }) => [attributes['retry.attempt'], attributes['http.request.resend_count']]),
      [
        [undefined, undefined],
        [1, undefined],
        [2, 1],
        [3, 2],
      ],
    )
  })

  it('tell failures from successes: status, fault, type of the error, and the exception itself', async () => {
    const { work, ports, clock } = scripted(reset('gone'), 'value')
    await outcomeOf(clock, retry(work, STEADY, { ports }))
    const [operation, failed, good] = spans.all()
    assert.deepEqual(failed!.status, { code: SpanStatusCode.ERROR, message: 'gone' })
    assert.deepEqual([failed!.attributes['retry.fault'], failed!.attributes['error.type']], ['ambiguous', 'Error'])
    assert.deepEqual(exceptionsOf(failed!), ['gone'])
    assert.deepEqual(good!.attributes, { 'retry.attempt': 2, 'http.request.resend_count': 1 })
    assert.deepEqual(operation!.attributes, { 'retry.attempts': 2 })
    for (const { status, events } of [good!, operation!]) {
      assert.equal(status.code, SpanStatusCode.UNSET)
      assert.ok(events.every(({ name }) => name !== 'exception'))
    }
  })

  it('say how long the wait between attempts was meant to be', async () => {
    const { work, ports, clock } = scripted(reset(), reset(), 'value')
    await outcomeOf(clock, retry(work, STEADY, { ports }))
    assert.deepEqual(
      spans.all()[0]!.events.map(({ name, attributes }) => [name, attributes]),
      [
        ['retry-scheduled', { 'retry.delay_ms': 100 }],
        ['retry-scheduled', { 'retry.delay_ms': 200 }],
      ],
    )
  })

  it('end with the reason when it is given up; the exception is where it was thrown, and nowhere else', async () => {
    const { work, ports, clock } = scripted(reset('gone'))
    await outcomeOf(clock, retry(work, STEADY, { ports }))
    const [operation, ...attempts] = spans.all()
    assert.deepEqual(operation!.status, { code: SpanStatusCode.ERROR, message: 'attempts' })
    assert.deepEqual(operation!.attributes, {
      'retry.attempts': 4,
      'retry.give_up_reason': 'attempts',
      'error.type': 'Error',
    })
    assert.deepEqual(attempts.map(exceptionsOf), [['gone'], ['gone'], ['gone'], ['gone']])
    assert.deepEqual(exceptionsOf(operation!), [])
  })

  it('are one alone when nothing was sent, with the refusal recorded in it', async () => {
    const { work, ports, clock } = scripted('never asked')
    const breaker = createBreaker({}, { name: 'payments' })
    breaker.forceOpen()
    const { error } = await outcomeOf(clock, retry(work, STEADY, { ports, breaker }))
    assert.ok(error instanceof RefusedError)
    const [operation, ...attempts] = spans.all()
    assert.deepEqual(attempts, [])
    assert.deepEqual(operation!.attributes, {
      'retry.attempts': 0,
      'retry.give_up_reason': 'breaker-open',
      'error.type': 'RefusedError',
    })
    assert.deepEqual(exceptionsOf(operation!), [error.message])
  })

  it('end when an attempt has had its time, though its work goes on', async () => {
    const { ports, clock } = scripted()
    const { error } = await outcomeOf(
      clock,
      retry(() => new Promise(() => {}), { maxAttempts: 1, attemptTimeoutMs: 50 }, { ports }),
    )
    assert.ok(error instanceof AttemptTimeoutError)
    const [operation, attempt] = spans.all()
    assert.equal(attempt!.attributes['error.type'], 'AttemptTimeoutError')
    assert.equal(operation!.attributes['retry.give_up_reason'], 'attempts')
  })

  it('end when the caller aborts, during a call or a wait', async () => {
    for (const during of ['attempt', 'wait']) {
      const { ports, clock } = scripted()
      const controller = new AbortController()
      const work = (): Promise<never> => (during === 'wait' ? Promise.reject(reset()) : new Promise(() => {}))
      const result = outcomeOf(clock, retry(work, STEADY, { ports, signal: controller.signal }))
      await Promise.resolve()
      controller.abort(new Error('enough'))
      await result
      const [operation, ...attempts] = spans.all().slice(-2)
      assert.equal(operation!.attributes['retry.give_up_reason'], 'aborted', during)
      assert.equal(attempts.length, 1, during)
    }
  })

  it('name the status of a response that failed, which is no exception', async () => {
    const { work, ports, clock } = scripted({ status: 503 })
    const classifyResult = () => ({ kind: 'failure', fault: 'transient' }) as const
    await outcomeOf(clock, retry(work, { ...STEADY, maxAttempts: 1 }, { ports, classifyResult }))
    for (const span of spans.all()) {
      assert.equal(span.attributes['error.type'], '503')
      assert.deepEqual(exceptionsOf(span), [])
    }
  })

  it('take whatever is thrown', async () => {
    for (const thrown of [undefined, null, 'a text', { status: 'odd' }]) {
      const { ports, clock } = scripted()
      await outcomeOf(
        clock,
        retry(() => Promise.reject(thrown), STEADY, { ports }),
      )
      const attempt = spans.all().at(-1)!
      assert.equal(attempt.attributes['error.type'], '_OTHER')
      assert.deepEqual(exceptionsOf(attempt), thrown === 'a text' ? ['a text'] : [])
    }
  })

  it('all end, whatever ends the operation', async () => {
    const { work, ports, clock } = scripted(reset())
    const classify = (): never => {
      throw new Error('a bug in a callback')
    }
    await outcomeOf(clock, retry(work, STEADY, { ports, classify }))
    assert.equal(spans.all().length, 2)
  })
})

describe('the trace', () => {
  it('goes on from the caller, even in attempts that a timer begins', async () => {
    const { work, ports, clock } = scripted(reset(), reset(), 'value')
    let caller: string | undefined
    const result = spans.under('request', span => {
      caller = span.spanContext().spanId
      return retry(work, STEADY, { ports })
    })
    await outcomeOf(clock, result)
    const [request, operation, ...attempts] = spans.all()
    assert.equal(idOf(request), caller)
    assert.equal(operation!.parentSpanContext?.spanId, caller)
    assert.equal(attempts.length, 3)
    for (const span of attempts) assert.equal(span.spanContext().traceId, request!.spanContext().traceId)
  })

  it('finds the attempt active while its work runs, also after the work has waited', async () => {
    const { ports, clock } = scripted()
    const seen: (string | undefined)[] = []
    const work = async ({ attempt }: Attempt): Promise<string> => {
      seen.push(activeSpanId())
      await clock.sleep(10)
      seen.push(activeSpanId())
      if (attempt < 3) throw reset()
      return 'value'
    }
    await outcomeOf(clock, retry(work, STEADY, { ports }))
    const [, ...attempts] = spans.all()
    assert.deepEqual(
      seen,
      attempts.flatMap(span => [idOf(span), idOf(span)]),
    )
    assert.equal(activeSpanId(), undefined)
  })

  it('is never mixed up with that of another operation under way', async () => {
    const { ports, clock } = scripted()
    const seen: { [name: string]: (string | undefined)[] } = { left: [], right: [] }
    const run = (name: 'left' | 'right'): Promise<unknown> =>
      spans.under(name, () =>
        retry(
          ({ attempt }) => {
            seen[name]!.push(trace.getActiveSpan()?.spanContext().traceId)
            return attempt < 4 ? Promise.reject(reset()) : 'value'
          },
          STEADY,
          { ports, budget: false },
        ),
      )
    await outcomeOf(clock, Promise.all([run('left'), run('right')]))
    const traceOf = (name: string): string =>
      spans
        .all()
        .find(span => span.name === name)!
        .spanContext().traceId
    assert.notEqual(traceOf('left'), traceOf('right'))
    for (const name of ['left', 'right']) assert.deepEqual(seen[name], Array(4).fill(traceOf(name)))
  })

  it('reaches what fetch is called with', async () => {
    const { ports, clock } = scripted()
    const seen: (string | undefined)[] = []
    const fetch = createFetch(STEADY, {
      ports,
      fetch: async () => {
        seen.push(activeSpanId())
        return new Response('', { status: seen.length === 1 ? 503 : 200 })
      },
    })
    await outcomeOf(clock, fetch('http://service.test/'))
    assert.deepEqual(seen, spans.all().slice(1).map(idOf))
    assert.equal(seen.length, 2)
  })
})

describe('tracing', () => {
  const broken = new Error('the tracer is broken')
  const fail = (): never => {
    throw broken
  }
  /** A span of which one method throws. */
  const spanThat = (failing: string): Span =>
    new Proxy(trace.wrapSpanContext(INVALID_SPAN_CONTEXT), {
      get: (span, method) => (method === failing ? fail : () => span),
    })
  const tracers: { readonly [failing: string]: Pick<Tracer, 'startSpan'> } = {
    startSpan: { startSpan: fail },
    ...Object.fromEntries(
      ['setAttribute', 'setStatus', 'addEvent', 'recordException', 'end'].map(method => [
        method,
        { startSpan: () => spanThat(method) },
      ]),
    ),
  }
  const reported = (): ReturnType<typeof vi.spyOn> => {
    const spy = vi.spyOn(console, 'error').mockReturnValue()
    onTestFinished(() => spy.mockRestore())
    return spy
  }

  for (const [failing, tracer] of Object.entries(tracers))
    it(`changes no result when ${failing} of its tracer throws, and reports that`, async () => {
      const errors = reported()
      onTestFinished(instrument({ tracer: tracer as Tracer }))
      const good = scripted(reset(), 'value')
      assert.deepEqual(await outcomeOf(good.clock, retry(good.work, STEADY, good)), { value: 'value' })
      const mine = reset('mine')
      const bad = scripted(mine)
      assert.deepEqual(await outcomeOf(bad.clock, retry(bad.work, STEADY, bad)), { error: mine })
      assert.deepEqual([good.calls.length, bad.calls.length], [2, 4])
      assert.deepEqual(errors.mock.calls[0], ['secondwind: a tracer threw', broken])
    })

  it('calls the work once, and leaves its result alone, when contexts cannot be had', async () => {
    reported()
    for (const method of ['active', 'with'] as const) {
      const spy = vi.spyOn(context, method).mockImplementation(fail)
      onTestFinished(() => spy.mockRestore())
      const mine = reset('mine')
      const { work, ports, clock, calls } = scripted(mine, 'value')
      assert.deepEqual(await outcomeOf(clock, retry(work, STEADY, { ports })), { value: 'value' })
      assert.equal(calls.length, 2)
    }
  })

  it('leaves an error alone whose name and message cannot be read, and still ends its spans', async () => {
    reported()
    const mine = Object.defineProperties(new Error(), { name: { get: fail }, message: { get: fail } })
    const { ports, clock } = scripted()
    const work = (): never => {
      throw mine
    }
    const classify = () => ({ kind: 'failure', fault: 'permanent' }) as const
    const { error } = await outcomeOf(clock, retry(work, STEADY, { ports, classify }))
    assert.equal(error, mine)
    assert.deepEqual(
      spans.all().map(({ status }) => status),
      [
        { code: SpanStatusCode.ERROR, message: 'permanent' },
        { code: SpanStatusCode.ERROR, message: 'permanent' },
      ],
    )
  })
})

describe('instrument', () => {
  afterEach(() => trace.disable())

  it('takes the provider that is registered, even if that happens later', async () => {
    const leave = instrument()
    trace.setGlobalTracerProvider(spans.tracerProvider)
    await retry(() => 'value')
    leave()
    // One pair by this instrumentation, one by that of the whole file.
    assert.equal(spans.all().length, 4)
  })

  it('takes a tracer', async () => {
    const leave = instrument({ tracer: spans.tracerProvider.getTracer('own') })
    await retry(() => 'value')
    leave()
    const scopes = spans.all().map(({ instrumentationScope }) => instrumentationScope.name)
    assert.equal(scopes.filter(scope => scope === 'own').length, 2)
  })

  it('sees no operation that begins after it was ended, and still ends those that began before', async () => {
    const leave = instrument({ tracer: spans.tracerProvider.getTracer('own') })
    const { work, ports, clock } = scripted(reset(), 'value')
    const result = outcomeOf(clock, retry(work, STEADY, { ports }))
    leave()
    await result
    await retry(() => 'value')
    const own = spans.all().filter(({ instrumentationScope }) => instrumentationScope.name === 'own')
    assert.equal(own.length, 3)
  })
})
