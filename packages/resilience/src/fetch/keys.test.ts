import assert from 'node:assert/strict'
import { beforeEach, describe, it, vi } from 'vitest'
import { forgetWarnings, type RetryEvent } from '../ports/telemetry.ts'
import { historyOf } from '../retry/history.ts'
import { createFetch, InvalidOptionError, type RetryingFetch } from './index.ts'
import { deadUrl, errorOf, listening, skippingClock, STEADY, type SkippingClock } from './wire.test-kit.ts'

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

describe('calls that are not idempotent', () => {
  beforeEach(forgetWarnings)

  const watched = (): { fetch: RetryingFetch; warnings: RetryEvent[]; clock: SkippingClock } => {
    const clock = skippingClock()
    const warnings: RetryEvent[] = []
    const telemetry = (event: RetryEvent): void => void (event.kind === 'warning' && warnings.push(event))
    return { fetch: createFetch(STEADY, { ports: { clock, random: () => 0 }, telemetry }), warnings, clock }
  }

  it('are made once: a POST that was answered with 503 may have been carried out', async () => {
    const { url, requests } = await listening('503 sorry', '200')
    const { fetch } = watched()
    const response = await fetch(url, { method: 'POST', body: 'pay' })
    assert.equal(await response.text(), 'sorry')
    assert.equal(historyOf(response)?.reason, 'not-idempotent')
    assert.equal(requests.length, 1)
  })

  it('are made once when the connection is lost, whatever the case of the method', async () => {
    const { url, requests } = await listening('reset', '200')
    const { fetch } = watched()
    const error = await errorOf(fetch(url, { method: 'post', body: 'pay' }))
    assert.equal(historyOf(error)?.reason, 'not-idempotent')
    assert.equal(requests.length, 1)
  })

  it('are repeated when the failure proves that nothing was sent', async () => {
    const { fetch, clock, warnings } = watched()
    const error = await errorOf(fetch(await deadUrl(), { method: 'POST', body: 'pay' }))
    assert.equal(historyOf(error)?.attempts, 4)
    assert.deepEqual(clock.waits, [100, 200, 400])
    assert.deepEqual(warnings, [])
  })

  it('are repeated on the word of the caller', async () => {
    const { url, requests } = await listening('503', '200')
    const response = await watched().fetch(url, { method: 'POST', body: 'search', idempotent: true })
    assert.equal(response.status, 200)
    assert.equal(requests[1]!.headers['idempotency-key'], undefined)
    assert.equal(requests[1]!.body, 'search')
  })

  it('are every call of which the caller says so', async () => {
    const { url, requests } = await listening('503', '200')
    const { fetch, warnings } = watched()
    assert.equal((await fetch(url, { idempotent: false })).status, 503)
    assert.equal(requests.length, 1)
    assert.deepEqual(warnings, [], 'and whoever says so need not be told')
  })

  it('are warned about once for each origin and method, when a retry was really withheld', async () => {
    const { url } = await listening('200', '404', '503')
    const { fetch, warnings } = watched()
    const post = (method = 'POST'): Promise<Response> => fetch(url, { method })
    await post()
    await post()
    assert.equal(warnings.length, 0, 'a success and a permanent failure would not have been retried')
    await post()
    await post()
    assert.equal(warnings.length, 1)
    await post('PATCH')
    assert.equal(warnings.length, 2)
    assert.ok(warnings[0]!.kind === 'warning' && warnings[0]!.code === 'not-idempotent')
    assert.match(warnings[0]!.message, /^POST http:\/\/127\.0\.0\.1:\d+ failed and was not retried/)
  })

  it('are warned about on the console where nobody listens', async () => {
    const { url } = await listening('503')
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    await createFetch(STEADY, { ports: { clock: skippingClock() } })(url, { method: 'POST' })
    assert.match(String(warn.mock.calls[0]), /secondwind \[not-idempotent\] POST/)
    warn.mockRestore()
  })

  it('are not warned about where one attempt is meant', async () => {
    const { url } = await listening('503')
    const { fetch, warnings } = watched()
    const response = await fetch(url, { method: 'POST', policy: { maxAttempts: 1 } })
    assert.equal(historyOf(response)?.reason, 'attempts')
    assert.deepEqual(warnings, [])
  })
})

describe('the idempotency key', () => {
  const fetch = createFetch(STEADY, { ports: { clock: skippingClock() } })

  const keysOf = async (init: Parameters<RetryingFetch>[1]): Promise<(string | undefined)[]> => {
    const { url, requests } = await listening('503', 'reset', '200')
    await fetch(url, { method: 'POST', body: 'pay', ...init })
    return requests.map(({ headers }) => headers['idempotency-key'])
  }

  it('that the caller gives is sent on every attempt', async () => {
    assert.deepEqual(await keysOf({ idempotencyKey: 'order-7' }), ['order-7', 'order-7', 'order-7'])
  })

  it('that the caller asks for is made once for each call', async () => {
    const [first, ...others] = await keysOf({ idempotencyKey: true })
    assert.match(first!, UUID)
    assert.deepEqual(others, [first, first])
    assert.notEqual((await keysOf({ idempotencyKey: true }))[0], first)
  })

  it('may stand in the headers, in a Request too, and is kept as it is', async () => {
    assert.deepEqual(await keysOf({ headers: { 'idempotency-key': '"k 1"' } }), ['"k 1"', '"k 1"', '"k 1"'])
    assert.deepEqual(await keysOf({ headers: { 'Idempotency-Key': 'k' }, idempotencyKey: true }), ['k', 'k', 'k'])
    const { url, requests } = await listening('503', '200')
    await fetch(new Request(url, { method: 'POST', headers: { 'Idempotency-Key': 'k' } }))
    assert.deepEqual([requests.length, requests[1]!.headers['idempotency-key']], [2, 'k'])
  })

  it('is not made where nobody asked for one', async () => {
    assert.deepEqual(await keysOf({ method: 'PUT' }), [undefined, undefined, undefined])
  })

  it('is refused when it is empty, too long, not visible ASCII, a word for "make one", or contradicts the header', async () => {
    const { url, requests } = await listening('200')
    for (const idempotencyKey of ['', 'a'.repeat(256), 'a b', 'ä', 'a\nb', 'auto', 'true', 7 as unknown as string]) {
      const error = await errorOf(fetch(url, { method: 'POST', idempotencyKey }))
      assert.ok(error instanceof InvalidOptionError, idempotencyKey)
      assert.equal(error.problems[0]?.at, 'idempotencyKey')
    }
    const headers = { 'idempotency-key': 'one' }
    const error = await errorOf(fetch(url, { method: 'POST', headers, idempotencyKey: 'another' }))
    assert.match(
      String(error),
      /InvalidOptionError: the call cannot be made:\n {2}idempotencyKey contradicts the header, "one"/,
    )
    assert.equal(requests.length, 0)
    assert.equal((await fetch(url, { method: 'POST', idempotencyKey: '~'.repeat(255) })).status, 200)
  })

  it('leaves the headers and the init of the caller as they were', async () => {
    const headers = new Headers({ a: 'b' })
    const init = Object.freeze({ method: 'POST', body: 'pay', headers, idempotencyKey: true as const })
    await keysOf(init)
    assert.deepEqual([...headers], [['a', 'b']])
  })
})
