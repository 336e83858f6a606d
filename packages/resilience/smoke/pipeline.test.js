// The rest of the built files on an old Node.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { batch, deadline, fanOut, historyOf, killSwitch, pipeline, replicas, transient } from '@secondwind/resilience'
import { currentDeadline, runWithDeadline } from '@secondwind/resilience/context'
import { createRequest } from '@secondwind/resilience/http'
import { createAdmission } from '@secondwind/resilience/middleware'
import { createCollector } from '@secondwind/resilience/prometheus'
import { limiter } from '@secondwind/resilience/rules'

const quick = { maxAttempts: 3, initialDelayMs: 1 }

test('a pipeline of all layers retries, falls back and is explained', async () => {
  const collector = createCollector()
  const all = pipeline({
    name: 'all',
    retry: quick,
    breaker: {},
    bulkhead: {},
    rateLimit: { perSecond: 1_000 },
    limiter: { kind: 'gradient2' },
    throttle: {},
    hedge: {},
    idempotent: true,
    cache: {},
    fallback: ({ error }) => `instead of ${error.message}`,
    telemetry: collector.telemetry,
  })
  let calls = 0
  const call = () => (++calls < 3 ? Promise.reject(transient(new Error('again'))) : 'done')
  assert.equal(await all.for('eu').run(call), 'done')
  assert.equal(await all.run(() => Promise.reject(new Error('bug'))), 'instead of bug')
  assert.equal(all.explain().maxCalls, 6)
  assert.match(collector.metrics(), /retry_attempts_total\{.*\} \d/)
})

test('the kill switch ends what waits', async () => {
  const api = pipeline({ name: 'api', retry: { maxAttempts: 3, initialDelayMs: 5_000, jitterType: 'NONE' } })
  const result = api.run(() => Promise.reject(transient(new Error('down')))).catch(error => historyOf(error).reason)
  setTimeout(() => killSwitch.set({ name: 'api', level: 'retries-off', reason: 'a storm' }), 5)
  assert.equal(await result, 'killed')
  killSwitch.clear('all')
})

test('a deadline goes from context to wire and back', async () => {
  const admission = createAdmission({ bulkhead: { limit: 2 } })
  const server = createServer(admission.http((_, response) => response.end(String(currentDeadline().remainingMs > 0))))
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const request = createRequest(quick)
  const response = await runWithDeadline(deadline({ inMs: 2_000 }), () =>
    request(`http://127.0.0.1:${server.address().port}/`),
  )
  let text = ''
  for await (const chunk of response) text += chunk
  assert.equal(text, 'true')
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
})

test('leaves, items, replicas and rules are there', async () => {
  const leaves = await fanOut([() => 1, () => 2])
  assert.deepEqual(
    leaves.map(({ value }) => value),
    [1, 2],
  )
  const items = await batch([1, 2], values => values.map(value => ({ status: 'fulfilled', value: value * 2 })))
  assert.deepEqual(
    items.map(({ value }) => value),
    [2, 4],
  )
  assert.ok(['a', 'b'].includes(await replicas(['a', 'b']).run(replica => replica, quick)))
  assert.equal(typeof limiter.nextLimit, 'function')
})
