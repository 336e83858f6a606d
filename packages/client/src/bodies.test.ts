import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { refusal, scriptedClient } from './client.test-kit.ts'
import { ServiceError } from './errors.ts'

const REF = `sha256-${'a'.repeat(64)}`
const BODY = { bodyRef: REF, sizeBytes: 3, contentType: 'text/plain', createdAt: 1_767_225_600_000 }

describe('bodies', () => {
  it('are uploaded as they are, with their type, and again when no answer came', async () => {
    const { client, server, end } = scriptedClient(['503', { status: 201, body: BODY }])
    assert.deepEqual(await end(client.bodies.upload('abc', { contentType: 'text/plain' })), BODY)
    assert.equal(server.requests.length, 2)
    const [{ path, headers, body }] = server.requests as [(typeof server.requests)[0]]
    assert.deepEqual([path, headers['content-type'], body], ['/bodies', 'text/plain', 'abc'])
  })

  it('are read as bytes', async () => {
    const { client, end } = scriptedClient([{ body: 'abc', headers: { 'content-type': 'text/plain' } }])
    assert.deepEqual(await end(client.bodies.get(REF)), new TextEncoder().encode('abc'))
  })

  it('say that they are not there', async () => {
    const { client, end } = scriptedClient([refusal(404, 'body-not-found')])
    await assert.rejects(end(client.bodies.get(REF)), (error: unknown) => {
      assert.ok(error instanceof ServiceError)
      return error.code === 'body-not-found'
    })
  })

  it('are refused before anything is sent when they are none', async () => {
    const { client, server } = scriptedClient(['503'])
    await assert.rejects(client.bodies.upload(''), /bytes must be a text or a Uint8Array, and not empty/)
    await assert.rejects(client.bodies.upload({} as never), /bytes must be/)
    await assert.rejects(client.bodies.get('../healthz'), /bodyRef must be/)
    const task = { targetUrl: 'https://a.example', bodyRef: REF, body: 'x' }
    await assert.rejects(client.tasks.enqueue(task), /bodyRef and body exclude each other/)
    assert.equal(server.requests.length, 0)
  })
})
