import assert from 'node:assert/strict'
import { Agent, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { beforeEach, describe, it, onTestFinished, vi } from 'vitest'
import { createBreaker } from '../breaker/run.ts'
import { AttemptTimeoutError, RefusedError } from '../errors.ts'
import { deadUrl, errorOf, gate, listening, serve, skippingClock, STEADY } from '../fetch/wire.test-kit.ts'
import { forgetWarnings } from '../ports/telemetry.ts'
import { historyOf } from '../retry/history.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { expectNoLeaks } from '../testing/index.ts'
import {
  createRequest,
  InvalidOptionError,
  NotReplayableError,
  type HttpOptions,
  type RetryingRequest,
} from './index.ts'

beforeEach(() => {
  forgetWarnings()
  vi.spyOn(console, 'warn').mockReturnValue()
})

/** Skips its waits. */
function client(policy: RetryPolicyInput = STEADY, options: HttpOptions = {}): RetryingRequest {
  return createRequest(policy, { budget: false, ports: { clock: skippingClock() }, ...options })
}

function keepAlive(): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  return agent
}

describe('a request that retries', () => {
  it('is a promise of the first good response', async () => {
    const { url, requests } = await listening('503', 'reset', '200 {"id":42}')
    const response: IncomingMessage = await client()(`${url}/users?id=42`, { headers: { Accept: 'text/plain' } })
    assert.deepEqual([response.statusCode, JSON.parse(await text(response))], [200, { id: 42 }])
    assert.deepEqual(
      requests.map(({ path, headers }) => [path, headers['accept'], headers['retry-attempt'], headers['x-timeout-ms']]),
      [1, 2, 3].map(attempt => ['/users?id=42', 'text/plain', String(attempt), '10000']),
    )
  })

  it('replaces no header of the caller’s, and sends none if told so', async () => {
    const { url, requests } = await listening('200')
    await text(await client()(url, { headers: { 'X-Timeout-Ms': '5' } }))
    await text(await client(STEADY, { sendHeaders: false })(url))
    assert.deepEqual(
      requests.map(({ headers }) => [headers['retry-attempt'], headers['x-timeout-ms']]),
      [
        ['1', '5'],
        [undefined, undefined],
      ],
    )
  })

  it('gives back the last failed response, with its history and its body', async () => {
    const { url } = await listening('503 first', '503 last')
    const response = await client({ ...STEADY, maxAttempts: 2 })(url)
    assert.deepEqual([response.statusCode, await text(response)], [503, 'last'])
    assert.equal(historyOf(response)?.reason, 'attempts')
  })

  it('throws the last error', async () => {
    const error = await errorOf(client()(await deadUrl()))
    assert.deepEqual([(error as { code: string }).code, historyOf(error)?.attempts], ['ECONNREFUSED', 4])
  })

  it('waits as long as the server asks', async () => {
    const { url } = await listening('503 retry-after=2', '200')
    const clock = skippingClock()
    await text(await client(STEADY, { ports: { clock, random: () => 0 } })(url))
    assert.deepEqual(clock.waits, [2_000])
  })

  it('repeats a POST only with a key, which is the same on every attempt, or on the caller’s word', async () => {
    const { url, requests } = await listening('503', '503', '200', '503', '200')
    const post = client()
    const once = await post(url, { method: 'POST', body: 'x' })
    assert.deepEqual([once.statusCode, historyOf(once)?.reason], [503, 'not-idempotent'])
    assert.match(String(vi.mocked(console.warn).mock.calls[0]?.[0]), /not-idempotent/)
    await text(await post(url, { method: 'POST', body: 'x', idempotencyKey: true }))
    await text(await post(url, { method: 'POST', body: 'x', idempotent: true }))
    const keys = requests.map(({ headers }) => headers['idempotency-key'])
    assert.equal(requests.length, 5)
    assert.ok(keys[1] !== undefined && keys[1] === keys[2])
    assert.equal(keys[3], undefined)
  })

  it('leaves the agent alone: one connection for all attempts of all calls', async () => {
    let calls = 0
    const { url, connections } = await serve((_, response) => {
      response.statusCode = ++calls % 3 === 0 ? 200 : 503
      response.end('x'.repeat(20_000))
    })
    const [agent, request] = [keepAlive(), client()]
    for (let n = 0; n < 3; n++) await text(await request(url, { agent }))
    assert.deepEqual([calls, connections()], [9, 1])
  })

  it('hangs up on a failed response that does not end', async () => {
    let calls = 0
    const gone = gate()
    const { url } = await serve((_, response) => {
      if (++calls > 1) return void response.end('ok')
      response.writeHead(503).flushHeaders()
      response.on('close', gone.open)
      const more = (): void => void (response.writable && response.write('x'.repeat(10_000), () => setImmediate(more)))
      more()
    })
    assert.equal(await text(await client()(url)), 'ok')
    await gone.opened
  })

  it('ends an attempt that has had its time, and makes the next', async () => {
    let calls = 0
    const { url } = await serve((_, response) => void (++calls === 1 || response.end('ok')))
    const request = createRequest({ maxAttempts: 2, initialDelayMs: 1, attemptTimeoutMs: 40 }, { budget: false })
    assert.equal(await text(await request(url)), 'ok')
    assert.equal(calls, 2)
  })

  it('throws the time-out if it was the last attempt', async () => {
    const { url } = await listening('hang')
    const request = createRequest({ maxAttempts: 1, attemptTimeoutMs: 30 })
    assert.ok((await errorOf(request(url))) instanceof AttemptTimeoutError)
  })

  it('ends at once when the caller aborts while it waits, and leaves nothing behind', async () => {
    const { url, requests } = await listening('503')
    const scheduled = gate()
    const telemetry = ({ kind }: { kind: string }): void => void (kind === 'retry-scheduled' && scheduled.open())
    const request = createRequest({ ...STEADY, initialDelayMs: 4_000 }, { budget: false, telemetry })
    const reason = new Error('enough')
    await expectNoLeaks(async check => {
      const controller = check.controller()
      const answer = errorOf(request(url, { signal: controller.signal }))
      await scheduled.opened
      controller.abort(reason)
      assert.equal(await answer, reason)
    })
    assert.equal(requests.length, 1)
  })

  it('lets the caller’s signal end the reading of the body, and lets go of it afterwards', async () => {
    const { url } = await serve((_, response) => void response.write('part'))
    const whole = await listening('200 all')
    const reason = new Error('enough')
    await expectNoLeaks(async check => {
      const controller = check.controller()
      await text(await client()(whole.url, { signal: controller.signal }))
      const response = await client()(url, { signal: controller.signal })
      const reading = errorOf(text(response))
      controller.abort(reason)
      assert.equal(await reading, reason)
    })
  })

  it('does not repeat what has begun to reach the caller', async () => {
    let calls = 0
    const { url } = await serve((_, response) => {
      calls++
      response.writeHead(200, { 'content-length': '100' }).flushHeaders()
      response.write('part', () => response.socket!.destroy())
    })
    await errorOf(text(await client()(url)))
    assert.equal(calls, 1)
  })

  it('asks the breaker, and throws its refusal', async () => {
    const breaker = createBreaker()
    breaker.forceOpen()
    assert.ok((await errorOf(client(STEADY, { breaker })('http://127.0.0.1:9/'))) instanceof RefusedError)
  })

  it('has onExhausted answer in the place of a failure', async () => {
    const { url } = await listening('503')
    const request = createRequest(STEADY, {
      budget: false,
      ports: { clock: skippingClock() },
      onExhausted: ({ history }) => `stale, after ${history.attempts}`,
    })
    assert.equal(await request(url), 'stale, after 4')
  })

  it('speaks TLS where the address says so', async () => {
    const { url } = await listening('200')
    const error = await errorOf(client()(url.replace('http:', 'https:')))
    assert.match((error as { code: string }).code, /^(EPROTO|ERR_SSL_\w+)$/)
    assert.equal(historyOf(error)?.attempts, 1)
  })

  it('can be given one call’s own policy', async () => {
    const { url, requests } = await listening('503')
    await text(await client()(url, { policy: { maxAttempts: 1 } }))
    assert.equal(requests.length, 1)
  })
})

describe('a body', () => {
  it('of text or bytes is sent again as it was', async () => {
    const { url, requests } = await listening('503', '200', '503', '200')
    const request = client()
    await text(await request(url, { method: 'PUT', body: 'text' }))
    const bytes = Buffer.from('bytes')
    const sending = request(url, { method: 'PUT', body: bytes })
    bytes.fill(0)
    await text(await sending)
    assert.deepEqual(
      requests.map(({ body, headers }) => [body, headers['content-length']]),
      ['text', 'text', 'bytes', 'bytes'].map(body => [body, String(body.length)]),
    )
  })

  it('that is a stream is refused where the call may be repeated, and sent once where not', async () => {
    const { url, requests } = await listening('503')
    const request = client()
    assert.ok(
      (await errorOf(request(url, { method: 'PUT', body: Readable.from(['a']) }))) instanceof NotReplayableError,
    )
    assert.equal(requests.length, 0)
    const response = await request(url, { method: 'POST', body: Readable.from(['a']) })
    assert.deepEqual([response.statusCode, requests.length, requests[0]!.body], [503, 1, 'a'])
  })

  it('that is made by a function is made anew for each attempt', async () => {
    const { url, requests } = await listening('503', '200')
    let made = 0
    await text(await client()(url, { method: 'PUT', body: async () => Readable.from([`file ${++made}`]) }))
    assert.deepEqual(
      requests.map(({ body }) => body),
      ['file 1', 'file 2'],
    )
  })

  it('that fails while it is sent fails the call, which is not repeated', async () => {
    const { url } = await serve((request, response) => void request.resume().on('end', () => response.end()))
    const broken = new Error('disk')
    const body = async function* (): AsyncGenerator<string> {
      yield 'part'
      throw broken
    }
    assert.equal(await errorOf(client()(url, { method: 'PUT', body })), broken)
  })
})

describe('createRequest', () => {
  it('refuses options and calls that it cannot use', async () => {
    assert.throws(() => createRequest({}, { retries: 3 } as HttpOptions), InvalidOptionError)
    const error = await errorOf(client()('http://127.0.0.1:9/', { idempotencyKey: 'true' }))
    assert.ok(error instanceof InvalidOptionError)
  })
})
