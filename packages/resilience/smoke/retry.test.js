// The built files on an old Node: what users import, not what we write.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { createBreaker, createBudget, historyOf, presets, retry, RetryEngine, transient } from '@secondwind/resilience'
import { createFetch } from '@secondwind/resilience/fetch'
import { expectNoLeaks, scriptedServer, seededRandom, virtualClock } from '@secondwind/resilience/testing'

const quick = { maxAttempts: 3, initialDelayMs: 1 }

test('retry retries, and tells why it stopped', async () => {
  let calls = 0
  const value = await retry(() => (++calls < 3 ? Promise.reject(transient(new Error('again'))) : 'done'), quick)
  assert.deepEqual([value, calls], ['done', 3])
  const error = await retry(() => Promise.reject(new Error('bug')), quick).catch(caught => caught)
  assert.equal(historyOf(error).reason, 'permanent')
})

test('an abort ends the wait at once and leaves nothing behind', async () => {
  await expectNoLeaks(async check => {
    const controller = check.controller()
    const failing = () => Promise.reject(transient(new Error('again')))
    const result = retry(
      failing,
      { initialDelayMs: 20_000, maxDelayMs: 20_000, jitterType: 'NONE' },
      { signal: controller.signal },
    )
    setTimeout(() => controller.abort(new Error('enough')), 5)
    await assert.rejects(result, /enough/)
  })
})

test('createFetch retries against a real server', async () => {
  let calls = 0
  const server = createServer((_, response) => {
    response.statusCode = ++calls < 3 ? 503 : 200
    response.end('hello')
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const response = await createFetch(quick)(`http://127.0.0.1:${server.address().port}/`)
  assert.deepEqual([response.status, await response.text(), calls], [200, 'hello', 3])
  server.closeAllConnections()
  await new Promise(resolve => server.close(resolve))
})

test('the testing kit runs in no time', async () => {
  const clock = virtualClock()
  const server = scriptedServer(['503', '200 fine'], { clock })
  const fetch = createFetch(quick, { fetch: server.fetch, ports: { clock, random: seededRandom(1) } })
  const response = fetch('http://service.test/')
  await clock.drain()
  assert.equal(await (await response).text(), 'fine')
})

test('budget, breaker, engine and presets are there', async () => {
  const budget = createBudget()
  const breaker = createBreaker()
  assert.equal(await retry(() => 1, presets.userFacing.retry, { budget, breaker }), 1)
  const engine = new RetryEngine()
  engine.configure(1, 1, 2, 10)
  assert.equal(await engine.execute('a', () => true), true)
})
