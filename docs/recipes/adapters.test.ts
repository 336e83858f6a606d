import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, onTestFinished } from 'vitest'
// #region import-undici
import { Agent, request } from 'undici'
import { replayable, retrying } from '@secondwind/resilience/undici'
// #endregion
// #region import-http
import { createReadStream } from 'node:fs'
import { text } from 'node:stream/consumers'
import { createRequest } from '@secondwind/resilience/http'
// #endregion
import { scriptedServer, type RecordedRequest } from '@secondwind/resilience/testing'

async function serverIs(...script: readonly string[]): Promise<{ url: string; requests: readonly RecordedRequest[] }> {
  const server = scriptedServer(script)
  const { url, close } = await server.listen()
  onTestFinished(close)
  return { url, requests: server.requests }
}

function fileOf(content: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'secondwind-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'file'), content)
  return join(folder, 'file')
}

describe('undici', () => {
  it('retries what goes through a dispatcher', async () => {
    const { url, requests } = await serverIs('503', '200 {"id":42}')
    // #region undici
    const dispatcher = new Agent().compose(retrying({ maxAttempts: 4, initialDelayMs: 50 })) // once, for the whole program

    const { statusCode, body } = await request(url, { dispatcher })
    // #endregion
    onTestFinished(() => dispatcher.destroy())
    assert.deepEqual([statusCode, await body.json(), requests.length], [200, { id: 42 }, 2])
  })

  it('sends a file again if it can open it again', async () => {
    const { url, requests } = await serverIs('503', '200')
    const path = fileOf('a long file')
    const dispatcher = new Agent().compose(retrying())
    onTestFinished(() => dispatcher.destroy())
    // #region replayable
    const { statusCode } = await request(url, {
      dispatcher,
      method: 'PUT',
      body: replayable(() => createReadStream(path)), // asked once for each attempt
    })
    // #endregion
    assert.equal(statusCode, 200)
    assert.deepEqual(
      requests.map(({ body }) => body),
      ['a long file', 'a long file'],
    )
  })
})

describe('node:http', () => {
  it('retries a request', async () => {
    const { url, requests } = await serverIs('503', '200 {"id":42}', '503', '201')
    const path = fileOf('a long file')
    // #region http
    const request = createRequest() // once, for the whole program

    const response = await request(`${url}/users/42`, { headers: { accept: 'application/json' } })
    const user = JSON.parse(await text(response))

    await request(`${url}/files`, {
      method: 'POST',
      body: () => createReadStream(path), // asked once for each attempt
      idempotencyKey: true,
    })
    // #endregion
    assert.deepEqual(user, { id: 42 })
    assert.deepEqual(
      requests.map(({ body }) => body),
      ['', '', 'a long file', 'a long file'],
    )
  })
})
