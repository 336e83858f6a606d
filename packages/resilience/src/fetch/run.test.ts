import assert from 'node:assert/strict'
import { describe, it, onTestFinished } from 'vitest'
import { createBreaker } from '../breaker/run.ts'
import { createBudget } from '../budget/run.ts'
import { AttemptTimeoutError, InvalidPolicyError, RefusedError } from '../errors.ts'
import { forgetWarnings, type RetryEvent } from '../ports/telemetry.ts'
import { observe } from '../retry/report.ts'
import { historyOf } from '../retry/history.ts'
import { expectNoLeaks, scriptedServer, virtualClock } from '../testing/index.ts'
import { createFetch, InvalidOptionError, type ExhaustedFetch } from './index.ts'
import { deadUrl, errorOf, listening, skippingClock, STEADY } from './wire.test-kit.ts'

const random = (): number => 0

describe('createFetch', () => {
  it('makes the call as fetch would: URL, method, headers and body', async () => {
    const { url, requests } = await listening('201 hello')
    const headers = { 'x-mine': 'yes' }
    const response = await createFetch()(`${url}/a?b=c`, { method: 'PUT', headers, body: 'text' })
    assert.equal(response.status, 201)
    assert.equal(await response.text(), 'hello')
    const { method, path, body, headers: received } = requests[0]!
    assert.deepEqual([method, path, body, received['x-mine']], ['PUT', '/a?b=c', 'text', 'yes'])
    assert.deepEqual(headers, { 'x-mine': 'yes' })
  })

  it('retries a retryable status after the waits of the policy', async () => {
    const { url, requests } = await listening('503', '500', '429', '200 fine')
    const clock = skippingClock()
    const response = await createFetch(STEADY, { ports: { clock, random } })(url)
    assert.equal(await response.text(), 'fine')
    assert.equal(requests.length, 4)
    assert.deepEqual(clock.waits, [100, 200, 400])
  })

  it('returns the last failed response itself, readable, with its history beside it', async () => {
    const { url, requests } = await listening('503 first', '502 last')
    const clock = skippingClock()
    const response = await createFetch({ ...STEADY, maxAttempts: 2 }, { ports: { clock } })(url)
    assert.equal(response.status, 502)
    assert.equal(await response.text(), 'last')
    assert.equal(requests.length, 2)
    assert.equal(historyOf(response)?.reason, 'attempts')
    assert.equal(historyOf(response)?.attempts, 2)
  })

  it('judges an error of your own fetch by the response that caused it', async () => {
    const strict: typeof fetch = async (input, init) => {
      const response = await fetch(input, init)
      if (!response.ok) throw new Error(response.statusText, { cause: response })
      return response
    }
    const { url, requests } = await listening({ status: 503, headers: { 'retry-after': '2' } }, '500', '404')
    const clock = skippingClock()
    const error = await errorOf(createFetch(STEADY, { fetch: strict, ports: { clock, random } })(url))
    assert.match(String(error), /Not Found/)
    assert.deepEqual([requests.length, clock.waits], [3, [2_000, 200]])
  })

  it('returns every other status at once', async () => {
    const { url, requests } = await listening('404 nobody here', '200')
    const response = await createFetch(STEADY)(url)
    assert.equal(await response.text(), 'nobody here')
    assert.equal(historyOf(response)?.reason, 'permanent')
    assert.equal(requests.length, 1)
  })

  it('retries a connection that is reset before the headers', async () => {
    const { url, requests } = await listening('reset', '200 fine')
    const response = await createFetch(STEADY, { ports: { clock: skippingClock() } })(url)
    assert.equal(await response.text(), 'fine')
    assert.equal(requests.length, 2)
  })

  it('does not retry a connection that is reset after the headers: bytes have reached the caller', async () => {
    const { url, requests } = await listening({ status: 200, body: 'half', ending: 'reset' }, '200')
    const response = await createFetch(STEADY)(url)
    assert.equal(response.status, 200)
    await assert.rejects(response.text())
    assert.equal(requests.length, 1)
  })

  it('throws the last network error unchanged', async () => {
    const clock = skippingClock()
    const error = await errorOf(createFetch(STEADY, { ports: { clock, random } })(await deadUrl()))
    assert.ok(error instanceof TypeError && error.message === 'fetch failed')
    assert.equal(historyOf(error)?.attempts, 4)
    assert.deepEqual(clock.waits, [100, 200, 400])
  })

  it('rejects, and does not throw, what fetch itself would reject', async () => {
    assert.ok((await errorOf(createFetch()('no url'))) instanceof TypeError)
    assert.ok((await errorOf(createFetch()('http://127.0.0.1', { method: 'GET', body: 'x' }))) instanceof TypeError)
  })

  it('takes a Request in the place of the init, as fetch does', async () => {
    const { url, requests } = await listening('200')
    const init = new Request('http://elsewhere.test', { method: 'DELETE', headers: { 'x-mine': 'yes' } })
    await createFetch()(url, init)
    assert.deepEqual([requests[0]!.method, requests[0]!.headers['x-mine']], ['DELETE', 'yes'])
  })

  it('looks up the global fetch at each call, and does not call itself when it was put there', async () => {
    const { url, requests } = await listening('503', '200')
    const native = globalThis.fetch
    onTestFinished(() => void (globalThis.fetch = native))
    const retrying = createFetch(STEADY, { ports: { clock: skippingClock() } })
    globalThis.fetch = retrying
    assert.equal((await fetch(url)).status, 200)
    assert.equal(requests.length, 2)
    globalThis.fetch = () => Promise.resolve(new Response('replaced'))
    assert.equal(await (await retrying(url)).text(), 'replaced')
  })
})

describe('the policy', () => {
  it('is refused when the fetch is created, not when it is called', () => {
    assert.throws(() => createFetch({ maxAttempts: 0 }), InvalidPolicyError)
  })

  it('can be changed field by field for one call', async () => {
    const { url, requests } = await listening('503')
    const retrying = createFetch(STEADY, { ports: { clock: skippingClock() } })
    await retrying(url, { policy: { maxAttempts: 2 } })
    assert.equal(requests.length, 2)
    assert.ok((await errorOf(retrying(url, { policy: { maxAttempts: -1 } }))) instanceof InvalidPolicyError)
    assert.equal(requests.length, 2)
  })

  it('is a copy: whoever changes the document later changes nothing', async () => {
    const { url, requests } = await listening('503')
    const policy = { ...STEADY, maxAttempts: 2 }
    const retrying = createFetch(policy, { ports: { clock: skippingClock() } })
    policy.maxAttempts = 4
    await retrying(url, { policy: { jitterType: 'FULL' } })
    assert.equal(requests.length, 2)
  })

  it('is not mixed up with the options, which are checked too', () => {
    const wrong = { maxAttempts: 3, maxReplayBytes: -1, sendHeader: true }
    const refuse = (): unknown => createFetch({}, wrong as object)
    assert.throws(refuse, (error: unknown) => {
      assert.ok(error instanceof InvalidOptionError)
      assert.deepEqual(
        error.problems.map(({ at }) => at),
        ['maxAttempts', 'maxReplayBytes', 'sendHeader'],
      )
      assert.match(error.message, /the policy is the first argument[^]*did you mean sendHeaders\?/)
      return true
    })
  })
})

describe('headers of an attempt', () => {
  it('tell its ordinal and how long it may take', async () => {
    const { url, requests } = await listening('503', '200')
    const policy = { ...STEADY, attemptTimeoutMs: 20_000, totalBudgetMs: 60_000 }
    await createFetch(policy, { ports: { clock: skippingClock() } })(url)
    assert.deepEqual(
      requests.map(({ headers }) => headers['retry-attempt']),
      ['1', '2'],
    )
    for (const { headers } of requests) assert.equal(headers['x-timeout-ms'], '20000')
  })

  it('tell what is left until the deadline when that is less', async () => {
    const clock = virtualClock()
    const server = scriptedServer(['slow 600ms 503', '200'], { clock })
    const policy = { ...STEADY, attemptTimeoutMs: 1_000, totalBudgetMs: 1_500 }
    const response = createFetch(policy, { fetch: server.fetch, ports: { clock } })('/')
    await clock.drain()
    assert.equal((await response).status, 200)
    assert.deepEqual(
      server.requests.map(({ headers }) => headers['x-timeout-ms']),
      ['1000', '800'],
    )
  })

  it('are left out where sendHeaders is false', async () => {
    const { url, requests } = await listening('200')
    await createFetch({}, { sendHeaders: false })(url)
    assert.equal(requests[0]!.headers['retry-attempt'], undefined)
    assert.equal(requests[0]!.headers['x-timeout-ms'], undefined)
  })

  it('are left out in browsers, where they would cost a preflight', async () => {
    const { url, requests } = await listening('200')
    const userAgent = Object.getOwnPropertyDescriptor(Navigator.prototype, 'userAgent')!
    onTestFinished(() => void Object.defineProperty(Navigator.prototype, 'userAgent', userAgent))
    Object.defineProperty(Navigator.prototype, 'userAgent', { value: 'Mozilla/5.0', configurable: true })
    await createFetch()(url)
    assert.equal(requests[0]!.headers['retry-attempt'], undefined)
  })

  it('do not replace what the caller wrote', async () => {
    const { url, requests } = await listening('200')
    const headers = new Headers({ 'X-Timeout-Ms': '50', 'Retry-Attempt': '7' })
    await createFetch()(url, { headers })
    assert.equal(requests[0]!.headers['x-timeout-ms'], '50')
    assert.equal(requests[0]!.headers['retry-attempt'], '7')
  })
})

describe('Retry-After', () => {
  it('is waited for in seconds, as a date and in milliseconds, where it is longer than our own wait', async () => {
    const { url } = await listening(
      '503 retry-after=2',
      '429 date="Thu, 01 Jan 2037 00:00:00 GMT" retry-after="Thu, 01 Jan 2037 00:00:03 GMT"',
      '503 retry-after-ms=1500',
      '503 retry-after=0',
      '200',
    )
    const clock = skippingClock()
    const response = await createFetch({ ...STEADY, maxAttempts: 5 }, { ports: { clock, random } })(url)
    assert.equal(response.status, 200)
    assert.deepEqual(clock.waits, [2_000, 3_000, 1_500, 800])
  })

  it('that does not fit into the deadline ends the call at once, with the response', async () => {
    const { url, requests } = await listening('503 retry-after=31 "come back later"')
    const clock = skippingClock()
    const response = await createFetch(STEADY, { ports: { clock } })(url)
    assert.equal(await response.text(), '"come back later"')
    assert.equal(historyOf(response)?.reason, 'retry-after-too-long')
    assert.equal(requests.length, 1)
    assert.deepEqual(clock.waits, [])
  })
})

describe('time and gates', () => {
  it('times out an attempt whose headers do not come, and makes another', async () => {
    const clock = virtualClock()
    const server = scriptedServer(['hang', '200 fine'], { clock })
    await expectNoLeaks(
      async () => {
        const response = createFetch(STEADY, { fetch: server.fetch, ports: { clock } })('/')
        await clock.drain()
        assert.equal(await (await response).text(), 'fine')
      },
      { clock },
    )
  })

  it('tells the fetch under way that its attempt has had its time, before the wait', async () => {
    const clock = virtualClock()
    const signals: AbortSignal[] = []
    const fetch = (_: unknown, { signal }: RequestInit = {}): Promise<never> => {
      signals.push(signal!)
      return new Promise((_, reject) => signal!.addEventListener('abort', () => reject(signal!.reason)))
    }
    const error = errorOf(createFetch({ ...STEADY, maxAttempts: 2 }, { fetch, ports: { clock } })('http://a.test'))
    await clock.advance(10_000)
    assert.equal(signals.length, 1)
    assert.ok(signals[0]!.aborted && signals[0]!.reason instanceof AttemptTimeoutError)
    await clock.drain()
    assert.equal(await error, signals[1]!.reason)
  })

  it('lets the body take its time: the time-out covers an attempt until its headers', async () => {
    const clock = virtualClock()
    let rest: ((end: string) => void) | undefined
    const fetch = async (): Promise<Response> => {
      const late = new Promise<string>(resolve => (rest = resolve))
      return new Response(
        new ReadableStream({
          async pull(controller) {
            controller.enqueue(new TextEncoder().encode(await late))
            controller.close()
          },
        }),
      )
    }
    const response = await createFetch({ attemptTimeoutMs: 100, totalBudgetMs: 200 }, { fetch, ports: { clock } })('/')
    const text = response.text()
    await clock.advance(60_000)
    rest!('late')
    assert.equal(await text, 'late')
  })

  it('cancels the late response of a fetch that does not listen to its signal', async () => {
    const clock = virtualClock()
    const telemetry = (): void => {}
    const cancelled: number[] = []
    let calls = 0
    const fetch = async (): Promise<Response> => {
      const call = ++calls
      if (call === 1) await clock.sleep(15_000)
      return new Response(new ReadableStream({ cancel: () => void cancelled.push(call) }))
    }
    const response = createFetch({ ...STEADY, maxAttempts: 2 }, { fetch, ports: { clock }, telemetry })('/')
    await clock.drain()
    assert.equal((await response).status, 200)
    assert.deepEqual(cancelled, [1])
  })

  it('does not begin an attempt that would usually not end before the deadline', async () => {
    const clock = virtualClock()
    const server = scriptedServer([...Array<string>(5).fill('slow 800ms 200'), '503', '200'], { clock })
    const retrying = createFetch({ ...STEADY, totalBudgetMs: 850 }, { fetch: server.fetch, ports: { clock, random } })
    const responses = Promise.all([1, 2, 3, 4, 5].map(() => retrying('/')))
    await clock.drain()
    await responses
    const response = await retrying('/')
    assert.equal(response.status, 503)
    assert.equal(historyOf(response)?.reason, 'deadline')
    assert.equal(server.requests.length, 6)
  })

  it('refuses a call whose breaker is open, and tells the breaker of failed responses', async () => {
    const { url, requests } = await listening('503')
    const breaker = createBreaker({ window: 'consecutive', consecutiveFailures: 1 })
    const retrying = createFetch({ maxAttempts: 1 }, { breaker })
    await retrying(url)
    assert.ok((await errorOf(retrying(url))) instanceof RefusedError)
    assert.equal(requests.length, 1)
  })

  it('returns the failed response when the budget denies the retry', async () => {
    const { url, requests } = await listening('503 sorry')
    const clock = skippingClock()
    const budget = createBudget({ kind: 'ratio', ratio: 0, windowMs: 10_000, minRetries: 0 })
    const response = await createFetch(STEADY, { budget, ports: { clock } })(url)
    assert.equal(await response.text(), 'sorry')
    assert.equal(historyOf(response)?.reason, 'budget')
    assert.equal(requests.length, 1)
  })

  it('throws the time-out of the last attempt', async () => {
    const clock = virtualClock()
    const server = scriptedServer(['hang'], { clock })
    const error = errorOf(
      createFetch(STEADY, { fetch: server.fetch, ports: { clock } })('/', { policy: { maxAttempts: 1 } }),
    )
    await clock.drain()
    assert.ok((await error) instanceof AttemptTimeoutError)
  })
})

describe('onExhausted', () => {
  it('gets the call as a request that can be made again, and its answer is returned', async () => {
    const { url } = await listening('503 sorry')
    const seen: ExhaustedFetch[] = []
    const onExhausted = async (exhausted: ExhaustedFetch): Promise<{ taskId: string; body: string; type: string }> => {
      seen.push(exhausted)
      const request = await exhausted.request()
      return { taskId: '1', body: await request.text(), type: request.headers.get('content-type')! }
    }
    const retrying = createFetch(STEADY, { onExhausted, ports: { clock: skippingClock() } })
    const answer = await retrying(`${url}/pay`, {
      method: 'POST',
      body: new URLSearchParams({ a: '1' }),
      idempotencyKey: 'k-1',
    })
    assert.deepEqual(answer, { taskId: '1', body: 'a=1', type: 'application/x-www-form-urlencoded;charset=UTF-8' })
    const request = await seen[0]!.request()
    assert.deepEqual([request.method, request.url], ['POST', `${url}/pay`])
    assert.equal(request.headers.get('idempotency-key'), 'k-1')
    assert.equal(request.headers.get('retry-attempt'), null)
    assert.equal(seen[0]!.idempotencyKey, 'k-1')
    assert.ok((seen[0]!.error as Response).bodyUsed, 'the response that was replaced is let go')
  })

  it('may wrap the failed response in its answer', async () => {
    const { url } = await listening('503 sorry')
    const onExhausted = ({ error }: ExhaustedFetch): Response => new Response((error as Response).body, { status: 299 })
    const response = await createFetch({ maxAttempts: 1 }, { onExhausted })(url)
    assert.equal(response.status, 299)
    assert.equal(await response.text(), 'sorry')
  })
})

describe('events', () => {
  it('call the operation fetch unless it has a name, and tell of returned failures', async () => {
    forgetWarnings()
    const { url } = await listening('503', '200')
    const events: RetryEvent[] = []
    onTestFinished(observe(event => void events.push(event)))
    await createFetch(STEADY, { ports: { clock: skippingClock() } })(url)
    assert.deepEqual(
      events.map(event => [event.kind, 'name' in event && event.name]),
      ['attempt-started', 'attempt-ended', 'retry-scheduled', 'attempt-started', 'attempt-ended'].map(kind => [
        kind,
        'fetch',
      ]),
    )
  })

  it('does not call itself in circles when it stands behind the global fetch, twice or wrapped', async () => {
    const { url, requests } = await listening('200 fine')
    const native = globalThis.fetch
    try {
      globalThis.fetch = createFetch()
      globalThis.fetch = createFetch()
      assert.equal(await (await globalThis.fetch(url)).text(), 'fine')
      const own = createFetch()
      globalThis.fetch = (...call) => own(...call)
      assert.equal(await (await globalThis.fetch(url)).text(), 'fine')
      assert.equal(requests.length, 2)
    } finally {
      globalThis.fetch = native
    }
  })
})
