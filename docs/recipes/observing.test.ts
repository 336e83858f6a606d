import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { context, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
import { describe, it } from 'vitest'
// #region import-metrics
import { createServer } from 'node:http'
import { observe, retry } from '@secondwind/resilience'
import { createCollector } from '@secondwind/resilience/prometheus'
// #endregion
import { createBreaker, createBudget } from '@secondwind/resilience'
// #region import-traces
import { instrument } from '@secondwind/resilience/otel'
// #endregion
import { readPage } from './pages.ts'

const readStock = async (): Promise<number> => 7
const chargeCard = async (): Promise<string> => 'charged'

describe('metrics', () => {
  it('are served to whoever asks for them', async () => {
    const port = 0
    // #region serve
    const collector = createCollector({ client: 'shop' })
    const unobserve = observe(collector.telemetry)

    const server = createServer((request, response) => {
      if (request.url !== '/metrics') return response.writeHead(404).end()
      return response.writeHead(200, { 'content-type': collector.contentType }).end(collector.metrics())
    })
    server.listen(port)

    await retry(readStock, {}, { name: 'stock' })
    // #endregion
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
      const answer = await fetch(`${url}/metrics`)
      assert.match(await answer.text(), /^retry_attempts_total\{client="shop",op="stock"\} 1$/m)
      assert.equal(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
      assert.equal((await fetch(url)).status, 404)
    } finally {
      unobserve()
      server.closeAllConnections()
      server.close()
    }
  })

  it('tell clients apart, and show what they share', async () => {
    const collector = createCollector({ client: 'shop' })
    // #region clients
    const breaker = createBreaker()
    const budget = createBudget()
    const telemetry = collector.telemetryOf('payments')
    collector.watch({ client: 'payments', breaker, budget })

    await retry(chargeCard, {}, { name: 'charge', breaker, budget, telemetry })
    // #endregion
    const text = collector.metrics()
    assert.match(text, /^retry_successes_total\{client="payments",op="charge"\} 1$/m)
    assert.match(text, /^retry_breaker_state\{client="payments",state="closed"\} 1$/m)
    assert.match(text, /^retry_budget_balance\{client="payments"\} 100$/m)
  })

  it('can be put after those of a registry that is there already', async () => {
    const collector = createCollector()
    await retry(readStock, {}, { telemetry: collector.telemetry })
    const registry = { metrics: async () => '# HELP up Up.\n# TYPE up gauge\nup 1\n' }
    // #region registry
    const text = (await registry.metrics()) + collector.metrics()
    // #endregion
    assert.match(text, /^up 1\n# HELP retry_attempts_total/m)
  })

  it('are all in the page', () => {
    const collector = createCollector()
    collector.watch({ breaker: createBreaker(), budget: createBudget(), limiter: { limit: 1 } })
    const ofOperation = { name: 'a', operationId: 1, attempt: 1 }
    collector.telemetry({ kind: 'gave-up', reason: 'attempts', elapsedMs: 1, error: undefined, ...ofOperation })
    const names = Array.from(collector.metrics().matchAll(/^# TYPE (\w+) (\w+)$/gm), ([, name, type]) => [name, type])
    const page = readPage('docs/observing.md')
    assert.equal(names.length, 14)
    assert.deepEqual(
      names.filter(([name, type]) => !page.includes(`| \`${name}\` | ${type} |`)),
      [],
    )
  })
})

describe('traces', () => {
  it('have a span for each operation and attempt, of which the work is a part', async () => {
    const exporter = new InMemorySpanExporter()
    const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] })
    context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
    trace.setGlobalTracerProvider(provider)
    const instrumentedFetch = async (): Promise<void> => provider.getTracer('fetch').startSpan('GET').end()
    // #region instrument
    const uninstrument = instrument()

    await retry(() => instrumentedFetch(), {}, { name: 'stock' })
    // #endregion
    uninstrument()
    trace.disable()
    context.disable()
    const [get, attempt, operation] = exporter.getFinishedSpans()
    assert.deepEqual([get!.name, attempt!.name, operation!.name], ['GET', 'stock attempt', 'stock'])
    assert.equal(get!.parentSpanContext?.spanId, attempt!.spanContext().spanId)
    assert.equal(attempt!.parentSpanContext?.spanId, operation!.spanContext().spanId)
  })
})
