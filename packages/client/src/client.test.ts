import assert from 'node:assert/strict'
import { historyOf, retry, transient, type RetryEvent } from '@secondwind/resilience'
import { expectNoLeaks } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { createClient } from './client.ts'
import { aTask, refusal, scriptedClient, SERVICE, TASK_ID } from './client.test-kit.ts'
import { ServiceError, UnreachableError } from './errors.ts'

const ALIVE = { status: 'alive', version: '0.1.0', answeredAt: 1_767_225_600_000 }

const caught = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => assert.fail('it should have failed'),
    (error: unknown) => error,
  )

describe('a call to the service', () => {
  it('is retried by the rules of the library, and no earlier than the service asks', async () => {
    const { client, server, end } = scriptedClient([
      refusal(503, 'store-unreachable', {}, { 'retry-after': '2' }),
      { body: aTask() },
    ])
    assert.deepEqual(await end(client.tasks.get(TASK_ID)), aTask())
    const [first, second] = server.requests
    assert.ok(second!.at - first!.at >= 2_000)
  })

  it('asks again for an answer that breaks off in the middle', async () => {
    const { client, server, end } = scriptedClient([{ body: '{"taskId":"0', ending: 'reset' }, { body: aTask() }])
    assert.deepEqual(await end(client.tasks.get(TASK_ID)), aTask())
    assert.equal(server.requests.length, 2)
  })

  it('asks again for an answer whose rest never comes', async () => {
    const { client, server, end, clock } = scriptedClient([{ body: '{"taskId":"0', ending: 'hang' }, { body: aTask() }])
    assert.deepEqual(await end(client.tasks.get(TASK_ID)), aTask())
    assert.equal(server.requests.length, 2)
    assert.ok(clock.monotonic() >= 10_000)
  })

  it('keeps the path that a proxy has put in front, and sends the headers that it asks for', async () => {
    const { client, server, end } = scriptedClient([{ body: ALIVE }], {
      url: `${SERVICE}/retries/`,
      headers: { authorization: 'Bearer a' },
    })
    assert.deepEqual(await end(client.health()), ALIVE)
    assert.equal(server.requests[0]!.path, '/retries/healthz')
    assert.equal(server.requests[0]!.headers['authorization'], 'Bearer a')
  })

  it('has a retry budget of its own, which the failures of others do not empty', async () => {
    const { client, server, clock, end } = scriptedClient(['503', { body: aTask() }])
    const failing = (): Promise<never> => Promise.reject(transient(new Error('down')))
    const others = Array.from({ length: 200 }, () => retry(failing, {}, { ports: { clock } }).catch(historyOf))
    const reasons = (await end(Promise.all(others))).map(history => history!.reason)
    assert.ok(reasons.includes('budget'), 'the common one is empty')
    assert.deepEqual(await end(client.tasks.get(TASK_ID)), aTask())
    assert.equal(server.requests.length, 2)
  })

  it('is made once where twice would be two, without a word to whoever uses the client', async () => {
    const events: RetryEvent[] = []
    const url = 'http://switched.test'
    const { client, server, end } = scriptedClient(['503'], { url, telemetry: event => events.push(event) })
    const control = { level: 'retries-off', scope: { kind: 'all' }, reason: 'a storm' } as const
    await assert.rejects(end(client.controls.create(control)), ServiceError)
    assert.equal(server.requests.length, 1)
    assert.ok(events.every(({ kind }) => kind !== 'warning'))
  })

  it('is repeated where it writes nothing, though it is a POST: a preview', async () => {
    const preview = { isPreview: true, level: 'retries-off', scope: { kind: 'all' }, reason: 'a storm' } as const
    const { client, end } = scriptedClient(['503', { body: preview }])
    assert.deepEqual(await end(client.controls.preview(preview)), preview)
  })

  it('leaves nothing behind', async () => {
    const { client, end, clock } = scriptedClient(['503', { body: aTask() }])
    await expectNoLeaks(
      async leaks => {
        const { signal } = leaks.controller()
        assert.deepEqual(await end(client.tasks.get(TASK_ID, { signal })), aTask())
      },
      { clock },
    )
  })
})

describe('a call that fails', () => {
  it('throws what the service said: status, code, every problem, the request, when to come back', async () => {
    const problems = [{ at: 'targetUrl', is: 'ftp://a', say: 'must be http or https' }]
    const refused = refusal(429, 'backlog-full', { problems }, { 'retry-after': '7' })
    const { client, end } = scriptedClient([refused], { policy: { maxAttempts: 1 } })
    const error = await caught(end(client.tasks.enqueue({ targetUrl: 'https://a.example' })))
    assert.ok(error instanceof ServiceError)
    const { status, code, requestId, retryAfterMs, detail } = error
    assert.deepEqual(
      { status, code, requestId, retryAfterMs, detail },
      { status: 429, code: 'backlog-full', requestId: 'r-1', retryAfterMs: 7_000, detail: 'What happened.' },
    )
    assert.deepEqual(error.problems, problems)
    assert.match(
      error.message,
      /^POST \/retry-tasks was answered with 429 backlog-full: What happened\.\n {2}targetUrl/,
    )
  })

  it('has no key in what it says was asked, though one stood in the path', async () => {
    const key = `swk_0123456789abcdef_${'a'.repeat(43)}`
    const { client, end } = scriptedClient([refusal(404, 'policy-not-found')])
    const error = await caught(end(client.policies.get(key)))
    assert.ok(error instanceof ServiceError)
    assert.match(error.message, /^GET \/retry-policies\/\[redacted\] was answered with 404/)
  })

  it('says what the task is now, when that stands in the way', async () => {
    const { client, end } = scriptedClient([
      refusal(409, 'wrong-status', { taskId: TASK_ID, taskStatus: 'SUCCEEDED', detail: 'It is SUCCEEDED.' }),
    ])
    const error = await caught(end(client.tasks.cancel(TASK_ID)))
    assert.ok(error instanceof ServiceError)
    assert.deepEqual([error.taskId, error.taskStatus], [TASK_ID, 'SUCCEEDED'])
  })

  const strangers = {
    'a page of a proxy': '502 <html>Bad Gateway</html>',
    'a login page that looks like success': '200 <html>Log in</html>',
    'a redirect': '302 location=http://elsewhere.test/',
    nothing: '204',
    'JSON that is no object': '200 null',
    'an object of somebody else': '200 {"status":"ok"}',
  }
  for (const [name, entry] of Object.entries(strangers))
    it(`tells that it was not the service that answered: ${name}`, async () => {
      const { client, end, server } = scriptedClient([entry])
      const error = await caught(end(client.tasks.get(TASK_ID)))
      assert.ok(error instanceof ServiceError)
      assert.equal(error.code, 'unexpected-answer')
      assert.equal(error.status, Number(entry.slice(0, 3)))
      assert.ok(server.requests.every(({ path }) => path.startsWith('/retry-tasks/')))
    })

  it('throws UnreachableError when no answer came, with the cause and its history', async () => {
    const { client, end } = scriptedClient(['reset'])
    const error = await caught(end(client.tasks.get(TASK_ID)))
    assert.ok(error instanceof UnreachableError)
    assert.equal(error.code, 'unreachable')
    assert.equal(historyOf(error.cause)!.attempts, 6)
    assert.match(error.message, /^GET \/retry-tasks\/\S+ got no answer from http:\/\/service\.test: 6 attempts in /)
  })

  it("rejects with the reason of the caller's own signal, or of the client's", async () => {
    for (const whose of ['call', 'client'] as const) {
      const controller = new AbortController()
      const { signal } = controller
      const { client, clock } = scriptedClient(['hang'], whose === 'client' ? { signal } : {})
      const error = caught(client.tasks.get(TASK_ID, whose === 'call' ? { signal } : {}))
      await clock.advance(10)
      const reason = new Error('enough')
      controller.abort(reason)
      assert.equal(await error, reason)
    }
  })
})

describe('readiness', () => {
  it('is an answer either way, and is asked for once', async () => {
    const { client, server, end } = scriptedClient([
      { body: { status: 'ready', clockSkewMs: 3 } },
      refusal(503, 'not-ready', { detail: 'The disk is full.' }, { 'retry-after': '5' }),
    ])
    assert.deepEqual(await end(client.readiness()), { isReady: true, clockSkewMs: 3 })
    const not = { isReady: false, because: 'The disk is full.', retryAfterMs: 5_000 }
    assert.deepEqual(await end(client.readiness()), not)
    assert.equal(server.requests.length, 2)
  })

  it('throws when nobody can tell', async () => {
    const { client, end } = scriptedClient(['reset'])
    assert.ok((await caught(end(client.readiness()))) instanceof UnreachableError)
  })
})

describe('createClient', () => {
  const refused = (options: unknown): string => {
    try {
      createClient(options as never)
    } catch (error) {
      return (error as Error).message
    }
    return assert.fail('it should have been refused')
  }

  it('refuses what it cannot use, everything at once', () => {
    const message = refused({ url: 'localhost:4747', timeout: 3, policy: { maxAttempts: 0 }, headers: { a: 1 } })
    for (const said of [
      /url must be the http/,
      /timeout is .*did you mean policy/,
      /policy\.maxAttempts/,
      /headers must/,
    ])
      assert.match(message, said)
  })

  it('refuses to be without the address of the service', () => {
    assert.match(refused({}), /url must be the http or https URL/)
    assert.match(refused(undefined), /options must be an object/)
    assert.match(refused({ url: 'http://user:secret@service.test' }), /url must be/)
  })

  it('refuses headers that HTTP cannot carry, before the first call finds out', () => {
    assert.match(refused({ url: SERVICE, headers: { 'a b': 'c' } }), /headers must be names and values/)
    assert.match(refused({ url: SERVICE, headers: { a: 'b\r\nc: d' } }), /headers must be names and values/)
  })
})
