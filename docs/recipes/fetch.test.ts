import assert from 'node:assert/strict'
import { describe, expect, it, vi } from 'vitest'
import { historyOf } from '@secondwind/resilience'
// #region import
import { createFetch } from '@secondwind/resilience/fetch'
// #endregion
import { scriptedServer, type ScriptedServer } from '@secondwind/resilience/testing'
import { instantTime } from './instant-time.ts'

instantTime()

function serverIs(...script: readonly string[]): ScriptedServer {
  const server = scriptedServer(script)
  vi.stubGlobal('fetch', server.fetch)
  return server
}

describe('a fetch that retries', () => {
  it('takes the place of fetch', async () => {
    const server = serverIs('503', 'reset', '200 {"id":42}')
    // #region create
    const fetch = createFetch() // once, for the whole program

    const response = await fetch('https://api.example.com/users/42')
    // #endregion
    assert.deepEqual(await response.json(), { id: 42 })
    assert.equal(server.requests.length, 3)
  })

  it('waits as long as the server asks, and never less', async () => {
    const server = serverIs('503 retry-after=2', '200')
    const startedAt = performance.now()
    await createFetch()('https://api.example.com/')
    assert.ok(performance.now() - startedAt >= 2_000)
    assert.equal(server.requests.length, 2)
  })

  it('repeats a POST that carries a key, with the same key', async () => {
    const server = serverIs('503', '201')
    const fetch = createFetch()
    const order = { item: 'tea', count: 2 }
    // #region post
    const response = await fetch('https://api.example.com/orders', {
      method: 'POST',
      body: JSON.stringify(order),
      idempotencyKey: true, // or a key of your own, kept with the order
    })
    // #endregion
    assert.equal(response.status, 201)
    const [first, second] = server.requests.map(({ headers }) => headers['idempotency-key'])
    assert.match(first!, /^[\da-f-]{36}$/)
    assert.equal(first, second)
  })

  it('does not repeat a POST that nobody vouched for, and says so once', async () => {
    const server = serverIs('503', '201')
    const warn = vi.spyOn(console, 'warn').mockReturnValue()
    const response = await createFetch()('https://api.example.com/orders', { method: 'POST' })
    assert.equal(response.status, 503)
    assert.equal(historyOf(response)!.reason, 'not-idempotent')
    assert.equal(server.requests.length, 1)
    expect(warn).toHaveBeenCalledExactlyOnceWith(expect.stringContaining('[not-idempotent]'))
  })

  it('can be given one call’s own policy', async () => {
    const server = serverIs('503')
    const fetch = createFetch({ maxAttempts: 4 })
    // #region call-policy
    const response = await fetch('https://api.example.com/suggestions', {
      policy: { maxAttempts: 1, attemptTimeoutMs: 300 },
    })
    // #endregion
    assert.deepEqual([response.status, server.requests.length], [503, 1])
  })

  it('sends a stream again if it can make it again', async () => {
    const server = serverIs('503', '200')
    const fetch = createFetch()
    const openFile = (): ReadableStream => new Blob(['a long file']).stream()
    // #region stream
    const response = await fetch('https://api.example.com/files/42', {
      method: 'PUT',
      body: () => openFile(), // asked once for each attempt
    })
    // #endregion
    assert.equal(response.status, 200)
    assert.deepEqual(
      server.requests.map(({ body }) => body),
      ['a long file', 'a long file'],
    )
  })
})
