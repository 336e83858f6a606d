import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { Agent, request, stream, fetch as undiciFetch, type Dispatcher } from 'undici'
import { beforeEach, describe, it, onTestFinished, vi } from 'vitest'
import { createBreaker } from '../breaker/run.ts'
import { AttemptTimeoutError, RefusedError } from '../errors.ts'
import { deadUrl, errorOf, gate, listening, serve, skippingClock, STEADY } from '../fetch/wire.test-kit.ts'
import { forgetWarnings } from '../ports/telemetry.ts'
import { historyOf } from '../retry/history.ts'
import type { RetryPolicyInput } from '../retry/policy.ts'
import { expectNoLeaks } from '../testing/index.ts'
import { InvalidOptionError, replayable, retrying, type UndiciOptions } from './index.ts'

beforeEach(() => {
  forgetWarnings()
  vi.spyOn(console, 'warn').mockReturnValue()
})

/** An agent that skips its waits, closed when the test is over. */
function agent(policy: RetryPolicyInput = STEADY, options: UndiciOptions = {}): Dispatcher {
  const inner = new Agent()
  onTestFinished(() => inner.destroy())
  return inner.compose(retrying(policy, { budget: false, ports: { clock: skippingClock() }, ...options }))
}

describe('a dispatcher with retrying', () => {
  it('repeats what failed, and delivers the first good answer', async () => {
    const { url, requests } = await listening('503', 'reset', '200 {"id":42}')
    const { statusCode, headers, body } = await request(url, { dispatcher: agent() })
    assert.deepEqual([statusCode, headers['content-type'], await body.json()], [200, 'application/json', { id: 42 }])
    assert.equal(requests.length, 3)
  })

  it('says which attempt it is and how long it waits, unless the caller says so', async () => {
    const { url, requests } = await listening('503', '200')
    await request(url, { dispatcher: agent({ ...STEADY, attemptTimeoutMs: 9_500 }), headers: { accept: '*/*' } })
    const sent = requests.map(({ headers }) => [headers['retry-attempt'], headers['x-timeout-ms'], headers['accept']])
    assert.deepEqual(sent, [
      ['1', '9500', '*/*'],
      ['2', '9500', '*/*'],
    ])
  })

  it('takes headers in every form that undici does, and replaces none of them', async () => {
    const { url, requests } = await listening('200')
    const dispatcher = agent()
    const forms = [
      { 'Retry-Attempt': '7' },
      ['Retry-Attempt', '7'],
      new Map([['Retry-Attempt', '7']]),
    ] as Dispatcher.DispatchOptions['headers'][]
    for (const headers of forms) await request(url, { dispatcher, headers: headers! })
    assert.deepEqual(
      requests.map(({ headers }) => [headers['retry-attempt'], headers['x-timeout-ms']]),
      forms.map(() => ['7', '10000']),
    )
  })

  it('sends no headers of its own if told so', async () => {
    const { url, requests } = await listening('200')
    await request(url, { dispatcher: agent(STEADY, { sendHeaders: false }) })
    assert.deepEqual(
      [requests[0]!.headers['retry-attempt'], requests[0]!.headers['x-timeout-ms']],
      [undefined, undefined],
    )
  })

  it('gives back the last failed answer, whose body can be read', async () => {
    const { url, requests } = await listening('503 first', '503 last')
    const { statusCode, body } = await request(url, { dispatcher: agent({ ...STEADY, maxAttempts: 2 }) })
    assert.deepEqual([statusCode, await body.text(), requests.length], [503, 'last', 2])
  })

  it('throws the last error, with its history', async () => {
    const url = await deadUrl()
    const error = await errorOf(request(url, { dispatcher: agent() }))
    assert.equal((error as { code: string }).code, 'ECONNREFUSED')
    assert.deepEqual([historyOf(error)?.attempts, historyOf(error)?.reason], [4, 'attempts'])
  })

  it('waits as long as the server asks', async () => {
    const { url } = await listening('503 retry-after=2', '200')
    const clock = skippingClock()
    await request(url, { dispatcher: agent(STEADY, { ports: { clock, random: () => 0 } }) })
    assert.deepEqual(clock.waits, [2_000])
  })

  it('does not repeat a POST, unless it has a key or undici’s own word for it', async () => {
    const { url, requests } = await listening('503', '503', '200', '503', '200')
    const dispatcher = agent()
    const post = (options: object): Promise<Dispatcher.ResponseData> =>
      request(url, { dispatcher, method: 'POST', body: 'x', ...options })
    assert.equal((await post({})).statusCode, 503)
    assert.match(String(vi.mocked(console.warn).mock.calls[0]?.[0]), /not-idempotent/)
    assert.equal((await post({ headers: { 'Idempotency-Key': 'k' } })).statusCode, 200)
    assert.equal((await post({ idempotent: true })).statusCode, 200)
    assert.equal(requests.length, 5)
  })

  it('repeats even a POST if nothing was sent', async () => {
    const url = await deadUrl()
    const error = await errorOf(request(url, { dispatcher: agent(), method: 'POST', body: 'x' }))
    assert.equal(historyOf(error)?.attempts, 4)
  })

  it('frees the connection of a failed answer before the wait', async () => {
    let calls = 0
    const { url, connections } = await serve((_, response) => {
      response.statusCode = ++calls < 4 ? 503 : 200
      response.end('x'.repeat(20_000))
    })
    const inner = new Agent({ connections: 1 })
    onTestFinished(() => inner.destroy())
    const dispatcher = inner.compose(retrying(STEADY, { budget: false, ports: { clock: skippingClock() } }))
    const { body } = await request(url, { dispatcher })
    await body.dump()
    assert.deepEqual([calls, connections()], [4, 1])
  })

  it('hangs up on a failed answer that does not end', async () => {
    let calls = 0
    const gone = gate()
    const { url } = await serve((_, response) => {
      if (++calls > 1) return void response.end('ok')
      response.writeHead(503).flushHeaders()
      response.on('close', gone.open)
      const more = (): void => void (response.writable && response.write('x'.repeat(10_000), () => setImmediate(more)))
      more()
    })
    const { statusCode } = await request(url, { dispatcher: agent() })
    await gone.opened
    assert.deepEqual([statusCode, calls], [200, 2])
  })

  it('ends an attempt that has had its time, and makes the next', async () => {
    let calls = 0
    const { url } = await serve((_, response) => void (++calls === 1 || response.end('ok')))
    const policy = { maxAttempts: 2, initialDelayMs: 1, attemptTimeoutMs: 40 }
    const inner = new Agent()
    onTestFinished(() => inner.destroy())
    const { statusCode } = await request(url, { dispatcher: inner.compose(retrying(policy, { budget: false })) })
    assert.deepEqual([statusCode, calls], [200, 2])
  })

  it('throws the time-out if it was the last attempt', async () => {
    const { url } = await listening('hang')
    const inner = new Agent()
    onTestFinished(() => inner.destroy())
    const dispatcher = inner.compose(retrying({ maxAttempts: 1, attemptTimeoutMs: 30 }))
    assert.ok((await errorOf(request(url, { dispatcher }))) instanceof AttemptTimeoutError)
  })

  it('ends at once when the caller aborts while it waits, and leaves nothing behind', async () => {
    const { url, requests } = await listening('503')
    const inner = new Agent()
    onTestFinished(() => inner.destroy())
    const scheduled = gate()
    const telemetry = ({ kind }: { kind: string }): void => void (kind === 'retry-scheduled' && scheduled.open())
    const policy = { ...STEADY, initialDelayMs: 4_000 }
    const dispatcher = inner.compose(retrying(policy, { budget: false, telemetry }))
    await expectNoLeaks(async check => {
      const controller = check.controller()
      const answer = errorOf(request(url, { dispatcher, signal: controller.signal }))
      await scheduled.opened
      controller.abort(new Error('enough'))
      assert.equal(((await answer) as Error).message, 'enough')
      await inner.destroy()
    })
    assert.equal(requests.length, 1)
  })

  it('sends nothing for a caller that has aborted already', async () => {
    const { url, requests } = await listening('200')
    const reason = new Error('never mind')
    assert.equal(await errorOf(request(url, { dispatcher: agent(), signal: AbortSignal.abort(reason) })), reason)
    assert.equal(requests.length, 0)
  })

  it('lets the caller abort the body of an answer', async () => {
    const gone = gate()
    const { url } = await serve((_, response) => {
      response.write('part')
      response.on('close', gone.open)
    })
    const controller = new AbortController()
    const { body } = await request(url, { dispatcher: agent(), signal: controller.signal })
    controller.abort(new Error('enough'))
    assert.equal(((await errorOf(body.text())) as Error).message, 'enough')
    await gone.opened
  })

  it('does not repeat what has begun to reach the caller', async () => {
    let calls = 0
    const { url } = await serve((_, response) => {
      calls++
      response.writeHead(200, { 'content-length': '100' }).flushHeaders()
      response.write('part', () => response.socket!.destroy())
    })
    const { body } = await request(url, { dispatcher: agent() })
    await errorOf(body.text())
    assert.equal(calls, 1)
  })

  it('is paused by a slow reader and goes on for it', async () => {
    const long = 'x'.repeat(1_000_000)
    const { url } = await listening('503', { body: long })
    const { body } = await request(url, { dispatcher: agent(), highWaterMark: 1_000 })
    let read = 0
    for await (const chunk of body) {
      await new Promise(resolve => setImmediate(resolve))
      read += (chunk as Buffer).byteLength
    }
    assert.equal(read, long.length)
  })

  it('asks the breaker, and throws its refusal', async () => {
    const { url, requests } = await listening('200')
    const breaker = createBreaker()
    breaker.forceOpen()
    assert.ok((await errorOf(request(url, { dispatcher: agent(STEADY, { breaker }) }))) instanceof RefusedError)
    assert.equal(requests.length, 0)
  })

  it('gives back the answer that it had read away when a gate shuts during the wait', async () => {
    const { url } = await listening('503 sorry')
    const breaker = createBreaker()
    const clock = skippingClock(async () => breaker.forceOpen())
    const { statusCode, body } = await request(url, { dispatcher: agent(STEADY, { breaker, ports: { clock } }) })
    assert.deepEqual([statusCode, await body.text()], [503, 'sorry'])
  })

  it('serves stream and fetch as well', async () => {
    const { url, requests } = await listening('503', '200 one', '503', '200 two')
    const dispatcher = agent()
    const chunks: string[] = []
    const sink = new (await import('node:stream')).Writable({
      write: (chunk: Buffer, _, done) => {
        chunks.push(String(chunk))
        done()
      },
    })
    await stream(url, { dispatcher, method: 'GET' }, () => sink)
    assert.equal(chunks.join(''), 'one')
    assert.equal(await (await undiciFetch(url, { dispatcher })).text(), 'two')
    assert.equal(requests.length, 4)
  })

  it('leaves upgrades alone', async () => {
    const { url, requests } = await listening('503')
    const failed = await errorOf(agent().upgrade({ origin: url, path: '/' } as Dispatcher.UpgradeOptions))
    assert.ok(failed instanceof Error)
    assert.equal(requests[0]?.headers['retry-attempt'], undefined)
  })
})

describe('a body', () => {
  it('of text or bytes is sent again as it was', async () => {
    const { url, requests } = await listening('503', '200', '503', '200')
    const dispatcher = agent()
    await request(url, { dispatcher, method: 'PUT', body: 'text' })
    const bytes = Buffer.from('bytes')
    const sending = request(url, { dispatcher, method: 'PUT', body: bytes })
    bytes.fill(0)
    await sending
    assert.deepEqual(
      requests.map(({ body }) => body),
      ['text', 'text', 'bytes', 'bytes'],
    )
  })

  it('that is a stream is sent once, and the call made once', async () => {
    const { url, requests } = await listening('503', '200')
    const body = Readable.from(['a', 'b'])
    const { statusCode } = await request(url, { dispatcher: agent(), method: 'PUT', body })
    assert.deepEqual([statusCode, requests.length, requests[0]!.body], [503, 1, 'ab'])
  })

  it('that is replayable is made anew for each attempt', async () => {
    const { url, requests } = await listening('503', '200')
    let made = 0
    const body = replayable(() => Readable.from([`file ${++made}`]))
    const { statusCode } = await request(url, { dispatcher: agent(), method: 'PUT', body })
    assert.equal(statusCode, 200)
    assert.deepEqual(
      requests.map(({ body }) => body),
      ['file 1', 'file 2'],
    )
  })
})

describe('retrying', () => {
  it('refuses options that it does not know', () => {
    assert.throws(() => retrying({}, { maxAttempts: 3 } as UndiciOptions), InvalidOptionError)
  })
})
