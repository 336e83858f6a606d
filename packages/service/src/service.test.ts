import assert from 'node:assert/strict'
import { once } from 'node:events'
import { cpSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { describe, it, onTestFinished, vi } from 'vitest'
import { listenTo } from './routes/watching/listen.test-kit.ts'
import { aService, aSink, temporaryDirectory, until, type Answered } from './service.test-kit.ts'

// Real sockets, real disks: as long as the machine takes.
vi.setConfig({ testTimeout: 60_000 })

/** Retries at once, so that nobody has to wait for the story to end. */
const QUICK = { maxAttempts: 5, initialDelayMs: 10, maxDelayMs: 50, totalBudgetMs: 60_000 }

describe('the service', () => {
  it('takes a task over and goes on with it until it succeeds', async () => {
    const service = await aService()
    const order = { targetUrl: `${service.url}/_flaky/503x2`, method: 'POST', body: 'hello', policy: QUICK }
    const accepted = await service.call('/retry-tasks', order)
    assert.equal(accepted.status, 201)
    const { taskId } = accepted.body
    assert.equal(accepted.headers.get('location'), `/retry-tasks/${taskId}`)
    const { body: task } = await until(
      () => service.call(`/retry-tasks/${taskId}`),
      ({ body }) => body.status === 'SUCCEEDED',
    )
    assert.equal(task.attemptNumber, 3)
    const { body: attempts } = await service.call(`/retry-tasks/${taskId}/attempts`)
    assert.deepEqual(
      attempts.items.map((row: { attemptNumber: number; responseStatus: number }) => [
        row.attemptNumber,
        row.responseStatus,
      ]),
      [
        [1, 503],
        [2, 503],
        [3, 200],
      ],
    )
  })

  it('says of which format its data file is; in memory it has none', async () => {
    const data = temporaryDirectory()
    const onDisk = await aService({ data })
    const file = new DatabaseSync(join(data, 'tasks.db'), { readOnly: true })
    const { user_version: format } = file.prepare('pragma user_version').get()!
    file.close()
    assert.equal((await onDisk.call('/healthz')).body.format, format)
    const inMemory = await aService({ store: 'memory' })
    assert.equal((await inMemory.call('/healthz')).body.format, undefined)
  })

  it('takes in as many tasks, and as many requests, as it was told to, and says when to come back', async () => {
    const order = { targetUrl: 'http://127.0.0.1:9/', delayMs: 3_600_000 }
    const refusalOf = ({ status, headers, body }: Answered) => [status, body.code, headers.has('retry-after')]
    const full = await aService({ backlog: 10 })
    const bringToFull = () => full.call('/retry-tasks', order)
    let answer = await bringToFull()
    for (let n = 0; n < 10 && answer.status === 201; n++) answer = await bringToFull()
    assert.deepEqual(refusalOf(answer), [429, 'backlog-full', true])
    const slow = await aService({ intakePerSecond: 1 })
    const [one, other] = await Promise.all([slow.call('/retry-tasks', order), slow.call('/retry-tasks', order)])
    const refused = one.status === 201 ? other : one
    assert.deepEqual(refusalOf(refused), [429, 'intake-limited', true])
  })

  it('tells those who listen of kill switches and replays, and those who come back what they have missed', async () => {
    const service = await aService()
    const { port } = new URL(service.url)
    const listening = await listenTo(Number(port), '?types=control,replay')
    const storm = { level: 'retries-off', scope: { kind: 'all' }, reason: 'INC-2231', forMs: 1_500 }
    const { controlId } = (await service.call('/controls', storm)).body
    await listening.until(text => text.includes(`"controlId":"${controlId}"`) && text.includes('"isInForce":true'))
    const heard = listening.lastId()
    listening.leave()
    const plan = { filter: { destination: 'https://api.example' }, ratePerSecond: 10 }
    const { replayId } = (await service.call('/replays', plan)).body
    const back = await listenTo(Number(port), '?types=control,replay', { 'last-event-id': heard })
    await back.until(text => text.includes(replayId) && text.includes('"status":"PLANNED"'))
    await back.until(text => text.includes('"isInForce":false'))
    assert.ok(!back.text().includes('event: gap'))
  })

  it('sends the same key, the ordinal and the time left with every attempt', async () => {
    const sink = await aSink((arrival, response) => void response.writeHead(arrival.attempt < 3 ? 503 : 200).end())
    const service = await aService()
    const order = {
      targetUrl: `${sink.url}/charge`,
      method: 'POST',
      body: '{"amount":100}',
      policy: QUICK,
      idempotencyKey: 'order-1',
    }
    const { body } = await service.call('/retry-tasks', order)
    await until(
      () => service.call(`/retry-tasks/${body.taskId}`),
      answer => answer.body.status === 'SUCCEEDED',
    )
    assert.deepEqual(
      sink.arrivals.map(({ key, attempt }) => [key, attempt]),
      [
        ['order-1', 1],
        ['order-1', 2],
        ['order-1', 3],
      ],
    )
    for (const { headers, body: sent } of sink.arrivals) {
      assert.equal(sent, '{"amount":100}')
      assert.ok(Number(headers['x-timeout-ms']) <= 15_000)
      assert.match(String(headers.traceparent), /^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/)
    }
    assert.equal(new Set(sink.arrivals.map(({ headers }) => String(headers.traceparent).split('-')[1])).size, 1)
  })

  it('ends a task at once when the target says that it will never work', async () => {
    const service = await aService()
    const { body } = await service.call('/retry-tasks', { targetUrl: `${service.url}/_flaky/400`, method: 'POST' })
    const { body: task } = await until(
      () => service.call(`/retry-tasks/${body.taskId}`),
      answer => answer.body.status === 'EXHAUSTED',
    )
    assert.equal(task.reason, 'permanent')
    assert.equal(task.attemptNumber, 1)
    const { body: dead } = await service.call('/dead-letters')
    assert.equal(dead.items[0].count, 1)
    assert.equal(dead.items[0].responseStatus, 400)
  })

  it('replays a dead letter: the same task and key, attempts from 0', async () => {
    const service = await aService()
    const order = { targetUrl: `${service.url}/_flaky/400`, method: 'POST', idempotencyKey: 'again' }
    const { body } = await service.call('/retry-tasks', order)
    await until(
      () => service.call(`/retry-tasks/${body.taskId}`),
      answer => answer.body.status === 'EXHAUSTED',
    )
    const replayed = await service.call(`/retry-tasks/${body.taskId}/replay`, undefined, 'POST')
    assert.ok(replayed.status < 300)
    const { body: task } = await until(
      () => service.call(`/retry-tasks/${body.taskId}`),
      answer => answer.body.status === 'SUCCEEDED',
    )
    assert.deepEqual([task.generation, task.attemptNumber, task.idempotencyKey], [2, 1, 'again'])
  })

  it('remembers everything when it is started again', async () => {
    const data = temporaryDirectory()
    const first = await aService({ data })
    const order = { targetUrl: `${first.url}/_flaky/503`, method: 'POST', idempotencyKey: 'kept', delayMs: 600_000 }
    const { body: accepted } = await first.call('/retry-tasks', order)
    await first.stop()
    const second = await aService({ data })
    const { body: task } = await second.call(`/retry-tasks/${accepted.taskId}`)
    assert.deepEqual([task.status, task.nextAttemptAt], ['PENDING', accepted.nextAttemptAt])
    const repeated = await second.call('/retry-tasks', order)
    assert.deepEqual([repeated.status, repeated.body.taskId], [200, accepted.taskId])
  })

  it('cuts the socket of a task that is cancelled while its request is under way', async () => {
    const sink = await aSink(() => undefined)
    const service = await aService()
    const { body } = await service.call('/retry-tasks', { targetUrl: `${sink.url}/hangs`, method: 'POST' })
    await until(
      async () => sink.arrivals.length,
      count => count === 1,
    )
    const cancelled = await service.call(`/retry-tasks/${body.taskId}`, undefined, 'DELETE')
    assert.equal(cancelled.status, 202)
    const { body: task } = await until(
      () => service.call(`/retry-tasks/${body.taskId}`),
      answer => answer.body.status === 'CANCELLED',
    )
    assert.equal(task.attemptNumber, 1)
    assert.equal((await service.call(`/retry-tasks/${body.taskId}`, undefined, 'DELETE')).status, 200)
  })

  it('sends nothing to this machine unless it is told to', async () => {
    const sink = await aSink()
    const service = await aService({}, false)
    const refused = await service.call('/retry-tasks', { targetUrl: `${sink.url}/inside`, method: 'POST' })
    assert.equal(refused.status, 422)
    assert.equal(refused.body.code, 'target-forbidden')
    const { body } = await service.call('/retry-tasks', { targetUrl: 'http://localhost:1/inside', method: 'POST' })
    if (body.taskId !== undefined)
      await until(
        () => service.call(`/retry-tasks/${body.taskId}`),
        answer => answer.body.status === 'EXHAUSTED',
      )
    assert.equal(sink.arrivals.length, 0)
    assert.equal((await service.call('/_flaky/200')).status, 404)
  })

  it('sends to what is allowed by name', async () => {
    const sink = await aSink()
    const service = await aService({ allowTarget: [new URL(sink.url).host] }, false)
    const { body } = await service.call('/retry-tasks', { targetUrl: `${sink.url}/inside`, method: 'POST' })
    await until(
      () => service.call(`/retry-tasks/${body.taskId}`),
      answer => answer.body.status === 'SUCCEEDED',
    )
    assert.equal(sink.arrivals.length, 1)
  })

  it('does not let a dead destination keep the others waiting, or burn attempts on it', async () => {
    const sink = await aSink()
    const service = await aService({ concurrency: 10 })
    const dead = Array.from({ length: 300 }, (_, index) => ({
      targetUrl: 'http://127.0.0.1:9/dead',
      method: 'POST',
      idempotencyKey: `dead-${index}`,
    }))
    const { body: batch } = await service.call('/retry-tasks/batch', dead)
    assert.equal(batch.items.length, 300)
    const alive = Array.from({ length: 50 }, (_, index) => ({
      targetUrl: `${sink.url}/${index}`,
      method: 'POST',
      idempotencyKey: `alive-${index}`,
    }))
    await service.call('/retry-tasks/batch', alive)
    await until(
      async () => sink.arrivals.length,
      count => count === 50,
    )
    const lane = await until(
      async () => {
        const { body } = await service.call('/destinations')
        return body.items.find(({ destination }: { destination: string }) => destination === 'http://127.0.0.1:9')
      },
      ({ breaker }) => breaker === 'open',
    )
    assert.ok(lane.attempts < 100, `${lane.attempts} attempts`)
  })

  it('shows what E1 names, and keeps secrets out of its log', async () => {
    const service = await aService()
    const order = {
      targetUrl: `${service.url}/_flaky/400`,
      method: 'POST',
      headers: { authorization: 'Bearer s3cret-token' },
      body: 's3cret-body',
    }
    const { body } = await service.call('/retry-tasks', order)
    const { body: task } = await until(
      () => service.call(`/retry-tasks/${body.taskId}`),
      answer => answer.body.status === 'EXHAUSTED',
    )
    // Gauges of tasks are those of the latest beat.
    const { body: metrics } = await until(
      () => service.call('/metrics'),
      answer => /^retry_tasks\{status="EXHAUSTED"\} 1$/m.test(answer.body),
    )
    assert.match(metrics, /^retry_attempts_total\{outcome="permanent",policy="default"\} 1$/m)
    assert.match(metrics, /^retry_dead_letters_total\{reason="permanent"\} 1$/m)
    assert.ok(!JSON.stringify([task, service.lines, metrics]).includes('s3cret'))
    assert.ok(service.lines.some(line => line.includes('task given up')))
  })

  it('begins nothing new once it is told to stop, whoever is in the middle of a request', async () => {
    const sink = await aSink()
    const service = await aService({ concurrency: 2 })
    const tasks = Array.from({ length: 500 }, (_, index) => ({ targetUrl: `${sink.url}/${index}`, method: 'POST' }))
    await service.call('/retry-tasks/batch', tasks)
    await until(
      async () => sink.arrivals.length,
      count => count > 0,
    )
    const half = connect(Number(new URL(service.url).port), '127.0.0.1')
    onTestFinished(() => void half.destroy())
    half.on('error', () => undefined)
    half.write('POST /retry-tasks HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 100\r\n')
    await once(half, 'connect')
    const stopped = service.stop()
    const before = sink.arrivals.length
    await stopped
    // What was under way, and what was claimed already.
    assert.ok(sink.arrivals.length - before <= 4, `${sink.arrivals.length - before} more`)
  })

  it('sends large bodies as they came, after a restore of both parts of a backup too', async () => {
    const [sink, data, copy] = [await aSink(), temporaryDirectory(), temporaryDirectory()]
    const service = await aService({ data })
    const large = 'a large body '.repeat(10_000)
    const order = { targetUrl: sink.url, method: 'POST', body: large }
    await service.call('/retry-tasks', order)
    const later = await service.call('/retry-tasks', { ...order, delayMs: 600_000 })
    await backup(new DatabaseSync(join(data, 'tasks.db'), { readOnly: true }), join(copy, 'tasks.db'))
    cpSync(join(data, 'bodies'), join(copy, 'bodies'), { recursive: true })
    const restored = await aService({ data: copy })
    await restored.call(`/retry-tasks/${later.body.taskId}/attempt-now`, undefined, 'POST')
    await until(
      async () => sink.arrivals.length,
      count => count >= 2,
    )
    assert.ok(sink.arrivals.every(({ body }) => body === large))
  })
})
