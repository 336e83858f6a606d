import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:http'
import { serve } from '@hono/node-server'
import express from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { describe, it, onTestFinished } from 'vitest'
import { historyOf, retry, transient } from '@secondwind/resilience'
// #region import-deadline
import { deadline } from '@secondwind/resilience'
// #endregion
// #region import-context
import { currentDeadline, runWithDeadline } from '@secondwind/resilience/context'
// #endregion
// #region import-middleware
import { arrivalOf, createAdmission } from '@secondwind/resilience/middleware'
// #endregion

interface Order {
  readonly id: string
}

const readStock = async ({ signal }: { readonly signal: AbortSignal }): Promise<boolean> => !signal.aborted
const readPrice = readStock

/** Work that lasts until the test lets it go. */
function slowOrders(): {
  readonly loadOrder: (id: string, signal?: AbortSignal) => Promise<Order>
  readonly begun: Promise<void>
  readonly finish: () => void
} {
  let [begin, finish] = [(): void => {}, (): void => {}]
  const begun = new Promise<void>(resolve => (begin = resolve))
  const finished = new Promise<void>(resolve => (finish = resolve))
  const loadOrder = async (id: string): Promise<Order> => {
    begin()
    await finished
    return { id }
  }
  return { loadOrder, begun, finish }
}

/** While the one place is taken, others are shed, health checks pass, and who comes too late is refused. */
async function assertSheds(url: string, { begun, finish }: ReturnType<typeof slowOrders>): Promise<unknown> {
  const first = fetch(`${url}/orders/1`)
  await begun
  const shed = await fetch(`${url}/orders/2`)
  assert.equal(shed.status, 503)
  assert.match(shed.headers.get('retry-after')!, /^[12]$/)
  assert.equal((await fetch(`${url}/health`)).status, 200)
  assert.equal((await fetch(`${url}/orders/3`, { headers: { 'x-timeout-ms': '3' } })).status, 504)
  finish()
  return (await first).json()
}

async function urlOf(server: Server): Promise<string> {
  if (!server.listening) await new Promise(resolve => server.once('listening', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('a deadline', () => {
  it('is handed from call to call', async () => {
    // #region deadline
    const soon = deadline({ inMs: 2_000 })

    const inStock = await retry(readStock, {}, { deadlineAt: soon.at })
    const price = await retry(readPrice, {}, { deadlineAt: soon.child(500).at }) // keeps 0.5 s for what follows
    // #endregion
    assert.deepEqual([inStock, price], [true, true])
    assert.ok(soon.remainingMs > 0 && soon.remainingMs <= 2_000)
  })

  it('can be kept in the context instead', async () => {
    // #region context
    const inStock = await runWithDeadline(deadline({ inMs: 2_000 }), async () => {
      const left = currentDeadline()!.remainingMs // anywhere inside, however deep
      return left > 0 && (await retry(readStock)) // has the same deadline
    })
    // #endregion
    assert.equal(inStock, true)
  })
})

describe('nested operations', () => {
  it('make one attempt for each attempt of the outer', async () => {
    let calls = 0
    const callBackend = (): never => {
      calls++
      throw transient(new Error('down'))
    }
    const policy = { maxAttempts: 3, initialDelayMs: 1 }
    const reasons: unknown[] = []
    const readOrder = (): Promise<never> =>
      retry(callBackend, policy, { telemetry: () => {} }).catch((error: unknown) => {
        reasons.push(historyOf(error)!.reason)
        throw error
      })
    await retry(readOrder, policy).catch(() => {})
    assert.deepEqual([calls, reasons], [3, ['nested', 'nested', 'nested']])
  })
})

describe('an admission', () => {
  it('stands before express', async () => {
    const slow = slowOrders()
    const { loadOrder } = slow
    const [limit, port] = [1, 0]
    // #region express
    const admission = createAdmission({
      bulkhead: { limit, maxQueued: 0 },
      exempt: ({ url }) => url === '/health',
    })

    const app = express()
    app.use(admission.express)
    app.get('/health', (_request, response) => void response.send('well'))
    app.get('/orders/:id', (request, response, next) => {
      const { signal } = arrivalOf(request)! // aborts at the deadline, or when the caller goes away
      loadOrder(request.params.id, signal).then(order => response.json(order), next)
    })
    const server = app.listen(port)
    // #endregion
    assert.deepEqual(await assertSheds(await urlOf(server), slow), { id: '1' })
  })

  it('stands before fastify', async () => {
    const slow = slowOrders()
    const { loadOrder } = slow
    const [limit, port] = [1, 0]
    // #region fastify
    const admission = createAdmission({
      bulkhead: { limit, maxQueued: 0 },
      exempt: ({ url }) => url === '/health',
    })

    const app = fastify()
    app.register(admission.fastify)
    app.get('/health', async () => 'well')
    app.get<{ Params: { id: string } }>('/orders/:id', async ({ params, raw }) =>
      loadOrder(params.id, arrivalOf(raw)!.signal),
    )
    await app.listen({ port })
    // #endregion
    assert.deepEqual(await assertSheds(await urlOf(app.server), slow), { id: '1' })
  })

  it('stands before hono', async () => {
    const slow = slowOrders()
    const { loadOrder } = slow
    const [limit, port] = [1, 0]
    // #region hono
    const admission = createAdmission({
      bulkhead: { limit, maxQueued: 0 },
      exempt: ({ url }) => url === '/health',
    })

    const app = new Hono()
    app.use(admission.hono)
    app.get('/health', context => context.text('well'))
    app.get('/orders/:id', async context => {
      const { signal } = arrivalOf(context.req.raw)!
      return context.json(await loadOrder(context.req.param('id'), signal))
    })
    const server = serve({ fetch: app.fetch, port })
    // #endregion
    assert.deepEqual(await assertSheds(await urlOf(server as Server), slow), { id: '1' })
  })

  it('stands before a server of Node, and can find its limit by itself', async () => {
    const handle = (_request: unknown, response: { end(text: string): void }): void => response.end('done')
    const port = 0
    // #region http
    const admission = createAdmission({ limiter: { kind: 'gradient2', slowCallMs: 500 } })
    const server = createServer(admission.http(handle))
    server.listen(port)
    // #endregion
    const url = await urlOf(server)
    assert.equal(await (await fetch(url)).text(), 'done')
    assert.equal(admission.limit, 20)
  })
})
