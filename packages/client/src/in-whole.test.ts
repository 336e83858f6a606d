import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, it, onTestFinished } from 'vitest'
import { createClient, type Client } from './client.ts'
import { TASK_ID, aTask } from './client.test-kit.ts'
import { ServiceError } from './errors.ts'

/** A client of whoever answers like this, over a real socket, that reads so much at most. */
async function aClientOf(answer: RequestListener, maxAnswerBytes = 65_536): Promise<Client> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return createClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, maxAnswerBytes })
}

function isTooLarge(error: unknown): boolean {
  assert.ok(error instanceof ServiceError, String(error))
  assert.match(error.detail, /sends more than 65536 bytes \(maxAnswerBytes\)/)
  return error.code === 'answer-too-large'
}

describe('an answer that is longer than maxAnswerBytes', () => {
  it('is read no further, hung up on, and not asked for again', async () => {
    let asked = 0
    let closed = 0
    const client = await aClientOf((_, response) => {
      asked++
      response.on('close', () => closed++)
      const more = (): void => {
        if (response.writable && response.write('x'.repeat(16_384))) setImmediate(more)
      }
      response.on('drain', more)
      more()
    })
    await assert.rejects(client.tasks.get(TASK_ID), isTooLarge)
    while (closed === 0) await new Promise(resolve => setImmediate(resolve))
    assert.deepEqual([asked, closed], [1, 1])
  })

  it('is refused though it is small on the wire', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000, ' '))
    const client = await aClientOf((_, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    })
    await assert.rejects(client.bodies.get(`sha256-${'a'.repeat(64)}`), isTooLarge)
  })

  it('is refused among events, too, where it is said instead of them', async () => {
    const client = await aClientOf((_, response) => {
      response.writeHead(403, { 'content-type': 'application/json' }).end(`"${'x'.repeat(100_000)}"`)
    })
    await assert.rejects(client.events()[Symbol.asyncIterator]().next(), isTooLarge)
  })
})

describe('an answer of exactly maxAnswerBytes', () => {
  it('is read as it is', async () => {
    const task = JSON.stringify(aTask())
    const client = await aClientOf((_, response) => response.end(task.padEnd(65_536)))
    assert.deepEqual(await client.tasks.get(TASK_ID), aTask())
  })
})
