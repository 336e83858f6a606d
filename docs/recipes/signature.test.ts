import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { once } from 'node:events'
// #region node-import
import { createServer, type IncomingMessage } from 'node:http'
import { SignatureError, verifySignature } from '@secondwind/client/signature'
// #endregion
import type { AddressInfo } from 'node:net'
import { systemClock } from '@secondwind/resilience'
import { describe, it, onTestFinished } from 'vitest'

const secret = `whsec_${Buffer.alloc(24, 3).toString('base64')}`

/** A delivery as the service sends it. */
function delivery(body: string, key = secret): RequestInit {
  const id = '019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a'
  const timestamp = String(Math.floor(systemClock.now() / 1_000))
  const hmac = createHmac('sha256', Buffer.from(key.slice('whsec_'.length), 'base64'))
  const signature = `v1,${hmac.update(`${id}.${timestamp}.${body}`).digest('base64')}`
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature }
  return { method: 'POST', headers, body }
}

const forged = delivery('{}', `whsec_${Buffer.alloc(24, 4).toString('base64')}`)

describe('a signed delivery', () => {
  it('is verified by a server of Node, from the bytes as they came', async () => {
    const served: string[] = []
    const serve = (taskId: string, order: unknown): void =>
      void served.push(`${taskId.length} ${JSON.stringify(order)}`)
    // #region node
    async function receive(request: IncomingMessage): Promise<number> {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk as Buffer)
      try {
        const delivery = { headers: request.headers, body: Buffer.concat(chunks) }
        const { taskId, body } = await verifySignature(delivery, secret)
        serve(taskId, JSON.parse(new TextDecoder().decode(body)))
        return 204
      } catch (error) {
        return error instanceof SignatureError ? 401 : 500
      }
    }
    const server = createServer((request, response) => {
      void receive(request).then(status => response.writeHead(status).end())
    })
    // #endregion
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    assert.equal((await fetch(url, delivery('{"order":8812}'))).status, 204)
    assert.equal((await fetch(url, forged)).status, 401)
    assert.equal((await fetch(url, { method: 'POST', body: '{"order":8812}' })).status, 401)
    assert.deepEqual(served, ['36 {"order":8812}'])
  })

  it('is verified where a handler takes a Request', async () => {
    const [current, previous] = [`whsec_${Buffer.alloc(24, 5).toString('base64')}`, secret]
    // #region edge
    async function handle(request: Request): Promise<Response> {
      try {
        const { taskId } = await verifySignature(request, [current, previous])
        return Response.json({ taskId })
      } catch (error) {
        if (error instanceof SignatureError) return new Response(error.code, { status: 401 })
        throw error
      }
    }
    // #endregion
    assert.equal((await handle(new Request('http://here.test', delivery('{}')))).status, 200)
    assert.equal(await (await handle(new Request('http://here.test', forged))).text(), 'signature-wrong')
  })
})
