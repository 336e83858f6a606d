// The built files on an old Node: what users import, not what we write.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { createClient, describeRequest, handOver, ServiceError, UnreachableError } from '@secondwind/client'
import { createFetch } from '@secondwind/resilience/fetch'

const taskId = '019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a'
const quick = { initialDelayMs: 1, maxDelayMs: 2 }

/** A service that answers what it is told to, and a target that never works. */
async function listen(answer) {
  const requests = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', chunk => (body += chunk))
    request.on('end', () => {
      requests.push({ url: request.url, body, headers: request.headers })
      const [status, content] = answer(requests.length, request)
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(content))
    })
  })
  await new Promise(resolve => server.listen(0, '127.0.0.1', resolve))
  const close = () => {
    server.closeAllConnections()
    return new Promise(resolve => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${server.address().port}`, requests, close }
}

test('a task is enqueued under one key, whatever it takes, and waited for', async () => {
  const service = await listen((count, { method }) =>
    count === 1 ? [503, {}] : [method === 'POST' ? 201 : 200, { taskId, status: 'SUCCEEDED' }],
  )
  const client = createClient({ url: service.url, policy: quick })
  const { isNew } = await client.tasks.enqueue({ targetUrl: 'https://api.example/charge' })
  assert.equal(isNew, true)
  assert.equal(service.requests[0].headers['idempotency-key'], service.requests[1].headers['idempotency-key'])
  const { status } = await client.waitFor(taskId, { signal: new AbortController().signal, deadline: { inMs: 5_000 } })
  assert.equal(status, 'SUCCEEDED')
  await service.close()
})

test('a call of fetch is handed over', async () => {
  const service = await listen(() => [201, { taskId }])
  const target = await listen(() => [503, {}])
  const client = createClient({ url: service.url })
  const policy = { ...quick, maxAttempts: 9, inProcess: { maxAttempts: 2 } }
  const fetch = createFetch(policy, { onExhausted: handOver(client, describeRequest) })
  const answer = await fetch(target.url, { method: 'POST', body: 'a', idempotencyKey: 'order-1' })
  assert.deepEqual(answer, { kind: 'handed-over', taskId })
  const { attemptsMade, idempotencyKey, bodyBase64 } = JSON.parse(service.requests[0].body)
  assert.deepEqual(
    { attemptsMade, idempotencyKey, bodyBase64 },
    { attemptsMade: 2, idempotencyKey: 'order-1', bodyBase64: 'YQ==' },
  )
  await Promise.all([service.close(), target.close()])
})

test('errors say what happened', async () => {
  const service = await listen(() => [404, { code: 'task-not-found', detail: 'It never was.' }])
  const client = createClient({ url: service.url, policy: quick })
  await assert.rejects(client.tasks.get(taskId), ServiceError)
  await service.close()
  await assert.rejects(client.tasks.get(taskId), UnreachableError)
})
