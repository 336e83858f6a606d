import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { describe, it } from 'vitest'
import { createBreaker } from '../breaker/run.ts'
import { forgetWarnings, type RetryEvent } from '../ports/telemetry.ts'
import { historyOf } from '../retry/history.ts'
import { expectNoLeaks, scriptedServer, virtualClock } from '../testing/index.ts'
import { createFetch, NotReplayableError, type RetryingInit } from './index.ts'
import { deadUrl, errorOf, listening, skippingClock, STEADY } from './wire.test-kit.ts'

const fetch = createFetch(STEADY, { ports: { clock: skippingClock() }, telemetry: () => {} })

/** The bodies and content types that arrive when the first two attempts fail. */
async function received(init: RetryingInit): Promise<(string | undefined)[][]> {
  const { url, requests } = await listening('503', 'reset', '200')
  assert.equal((await fetch(url, { method: 'PUT', ...init })).status, 200)
  return requests.map(({ body, headers }) => [body, headers['content-type']])
}

function times3<T>(value: T): T[] {
  return [value, value, value]
}

function streamOf(...chunks: readonly string[]): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new Blob([...chunks]).stream()
}

describe('a body that can be sent again', () => {
  it('is sent in full on every attempt, with its type', async () => {
    const bytes = new TextEncoder().encode('abcdef')
    const form = 'application/x-www-form-urlencoded;charset=UTF-8'
    assert.deepEqual(await received({ body: 'text' }), times3(['text', 'text/plain;charset=UTF-8']))
    assert.deepEqual(await received({ body: new URLSearchParams({ a: '1' }) }), times3(['a=1', form]))
    assert.deepEqual(await received({ body: new Blob(['blob'], { type: 'a/b' }) }), times3(['blob', 'a/b']))
    assert.deepEqual(await received({ body: bytes.buffer }), times3(['abcdef', undefined]))
    assert.deepEqual(await received({ body: bytes.subarray(1, 3) }), times3(['bc', undefined]))
    assert.deepEqual(await received({ body: new DataView(bytes.buffer, 4) }), times3(['ef', undefined]))
    assert.deepEqual(await received({ body: Buffer.from('node') }), times3(['node', undefined]))
    assert.deepEqual(await received({ body: null }), times3(['', undefined]))
  })

  it('is a form too, the same to the byte, boundary included', async () => {
    const body = new FormData()
    body.append('name', 'value')
    body.append('file', new Blob(['content']), 'a.txt')
    const [first, second, third] = await received({ body })
    assert.match(first![0]!, /name="file"; filename="a.txt"\r\n[^]*content/)
    assert.deepEqual([second, third], [first, first])
  })

  it('is the one of the moment of the call, whatever becomes of it later', async () => {
    const { url, requests } = await listening('503', '200')
    const body = new TextEncoder().encode('before')
    const response = fetch(url, { method: 'PUT', body })
    body.fill(65)
    await response
    assert.deepEqual(
      requests.map(request => request.body),
      ['before', 'before'],
    )
  })

  it('is whatever a function makes, anew for each attempt, also a stream', async () => {
    let made = 0
    const body = async (): Promise<ReadableStream> => streamOf(`body ${++made}`)
    assert.deepEqual(await received({ body }), [
      ['body 1', undefined],
      ['body 2', undefined],
      ['body 3', undefined],
    ])
  })

  it('is made by a function that knows better than to return the same stream twice', async () => {
    const { url, requests } = await listening('503', '200')
    const stream = streamOf('once')
    const error = await errorOf(fetch(url, { method: 'PUT', body: () => stream }))
    assert.ok(error instanceof NotReplayableError)
    assert.equal(requests.length, 1)
  })

  it('is ended when it arrives after its attempt: nobody will read it', async () => {
    const clock = virtualClock()
    const server = scriptedServer(['200'], { clock })
    const cancelled: unknown[] = []
    const late = new ReadableStream({ cancel: () => void cancelled.push('late') })
    let made = 0
    const body = async (): Promise<string | ReadableStream> => {
      if (++made > 1) return 'in time'
      await clock.sleep(20_000)
      return late
    }
    const policy = { ...STEADY, attemptTimeoutMs: 1_000 }
    const response = createFetch(policy, { fetch: server.fetch, ports: { clock } })('/', { method: 'PUT', body })
    await clock.advance(29_000)
    assert.equal((await response).status, 200)
    assert.deepEqual(cancelled, ['late'])
  })

  it('is given up with its attempt when the function that makes it hangs', async () => {
    const clock = virtualClock()
    const server = scriptedServer(['200'], { clock })
    const warnings: RetryEvent[] = []
    const telemetry = (event: RetryEvent): void => void (event.kind === 'warning' && warnings.push(event))
    let made = 0
    const body = (): string | Promise<string> => (++made < 3 ? new Promise(() => {}) : 'at last')
    const init = { method: 'PUT', body }
    const response = createFetch(STEADY, { fetch: server.fetch, ports: { clock }, telemetry })('/', init)
    await clock.advance(29_000)
    assert.equal((await response).status, 200)
    assert.deepEqual(
      server.requests.map(request => request.body),
      ['at last'],
    )
    assert.deepEqual(warnings, [], 'no attempt goes on behind the back of the next')
  })
})

describe('a stream', () => {
  const streams: { readonly [kind: string]: () => RetryingInit['body'] } = {
    'a web stream': () => streamOf('x'),
    'a Node stream': () => Readable.from(['x']) as never,
    'an async iterable': () => (async function* () {})() as never,
  }

  for (const [kind, body] of Object.entries(streams))
    it(`is refused before the first attempt when the call could be repeated: ${kind}`, async () => {
      const { url, requests } = await listening('200')
      for (const init of [{ method: 'PUT' }, { method: 'POST', idempotencyKey: 'k' }]) {
        const error = await errorOf(fetch(url, { ...init, body: body() }))
        assert.ok(error instanceof NotReplayableError)
        assert.equal(error.code, 'not-replayable')
        for (const way of ['a function that makes a new body', 'buffered', 'maxAttempts: 1'])
          assert.ok(error.message.includes(way), way)
      }
      assert.equal(requests.length, 0)
    })

  it('passes through when one attempt is meant', async () => {
    const { url, requests } = await listening('503')
    const response = await fetch(url, { method: 'PUT', body: streamOf('a', 'b'), policy: { maxAttempts: 1 } })
    assert.equal(response.status, 503)
    assert.equal(requests[0]!.body, 'ab')
  })

  it('passes through when the call would not be repeated anyway', async () => {
    const { url, requests } = await listening('503', '200')
    const response = await fetch(url, { method: 'POST', body: streamOf('a', 'b') })
    assert.equal(historyOf(response)?.reason, 'not-replayable')
    assert.deepEqual(
      requests.map(request => request.body),
      ['ab'],
    )
  })

  it('is not repeated even if nothing was sent: it may have been read', async () => {
    const error = await errorOf(fetch(await deadUrl(), { method: 'POST', body: streamOf('a') }))
    assert.equal(historyOf(error)?.reason, 'not-replayable')
    assert.equal(historyOf(error)?.attempts, 1)
  })
})

describe('a Request', () => {
  const put = (url: string, body: RequestInit['body']): Request =>
    new Request(url, { method: 'PUT', body, headers: { 'x-mine': 'yes' }, duplex: 'half' } as RequestInit)

  it('gives its method, headers and body to every attempt', async () => {
    const { url, requests } = await listening('503', 'reset', '200')
    await fetch(put(`${url}/a`, 'text'))
    assert.deepEqual(
      requests.map(({ method, path, body, headers }) => [
        method,
        path,
        body,
        headers['content-type'],
        headers['x-mine'],
      ]),
      times3(['PUT', '/a', 'text', 'text/plain;charset=UTF-8', 'yes']),
    )
  })

  it('is overridden by the init as in the standard', async () => {
    const { url, requests } = await listening('503', '200')
    await fetch(put(url, 'text'), { method: 'DELETE', headers: { other: '1' }, body: 'new' })
    const { method, body, headers } = requests[1]!
    assert.deepEqual([method, body, headers['x-mine'], headers.other], ['DELETE', 'new', undefined, '1'])
  })

  it('keeps its referrer, which fetch forgets as soon as there is any init', async () => {
    const made: Request[] = []
    const imitation = async (...args: ConstructorParameters<typeof Request>): Promise<Response> => {
      made.push(new Request(...args))
      return new Response()
    }
    const request = new Request('http://a.test', { referrer: '', referrerPolicy: 'no-referrer' })
    await createFetch({}, { fetch: imitation })(request)
    assert.deepEqual([made[0]!.referrer, made[0]!.referrerPolicy], ['', 'no-referrer'])
  })

  it('may carry a stream: up to maxReplayBytes it is kept', async () => {
    const { url, requests } = await listening('503', '200')
    await fetch(put(url, streamOf('abc', 'def')))
    assert.deepEqual(
      requests.map(request => request.body),
      ['abcdef', 'abcdef'],
    )
  })

  it('is refused with a longer body, and its stream is cancelled', async () => {
    const { url, requests } = await listening('200')
    let cancelled = false
    const endless = new ReadableStream({
      pull: controller => controller.enqueue(new Uint8Array(40)),
      cancel: () => void (cancelled = true),
    })
    const breaker = createBreaker({ window: 'consecutive', consecutiveFailures: 1 })
    const small = createFetch(STEADY, { maxReplayBytes: 100, breaker })
    const error = await errorOf(small(put(url, endless)))
    assert.ok(error instanceof NotReplayableError)
    assert.match(error.message, /longer than maxReplayBytes, 100,/)
    assert.ok(cancelled)
    assert.equal(requests.length, 0)
    assert.equal(breaker.phase, 'closed', 'which says nothing about the server')
    assert.equal((await small(put(url, 'x'.repeat(100)))).status, 200)
  })

  it('is refused when its body was read before: there is nothing left to send', async () => {
    const { url, requests } = await listening('200')
    const request = put(url, 'text')
    await request.text()
    assert.ok((await errorOf(fetch(request))) instanceof NotReplayableError)
    assert.equal(requests.length, 0)
  })

  it('is passed on as it is when it would not be repeated', async () => {
    forgetWarnings()
    const { url, requests } = await listening('503')
    const response = await fetch(new Request(url, { method: 'POST', body: 'x'.repeat(2_000_000) }))
    assert.equal(historyOf(response)?.reason, 'not-replayable')
    assert.equal(requests[0]!.body.length, 2_000_000)
  })

  it('brings its signal, also while its body is being kept', async () => {
    const controller = new AbortController()
    let cancelled = false
    const body = new ReadableStream({ cancel: () => void (cancelled = true) })
    const init = { method: 'PUT', body, signal: controller.signal, duplex: 'half' }
    await expectNoLeaks(async () => {
      const error = errorOf(fetch(new Request('http://127.0.0.1', init)))
      controller.abort(new Error('enough'))
      assert.match(String(await error), /enough/)
    })
    assert.ok(cancelled)
  })

  it('loses its signal to one in the init, and to null', async () => {
    const { url } = await listening('200')
    const request = new Request(url, { signal: AbortSignal.abort() })
    assert.equal((await fetch(request, { signal: null })).status, 200)
    assert.equal((await fetch(request, { signal: new AbortController().signal })).status, 200)
    assert.equal(((await errorOf(fetch(request))) as Error).name, 'AbortError')
  })
})
