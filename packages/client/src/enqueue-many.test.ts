import assert from 'node:assert/strict'
import type { ScriptEntry } from '@secondwind/resilience/testing'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { refusal, scriptedClient } from './client.test-kit.ts'
import { createClient } from './client.ts'
import { UnreachableError } from './errors.ts'
import type { RetryTaskInput } from './wire/task.ts'

const aTask = (n: number): RetryTaskInput => ({ targetUrl: `https://api.example/${n}`, idempotencyKey: `key-${n}` })
const tasks = (count: number): RetryTaskInput[] => Array.from({ length: count }, (_, n) => aTask(n))

/** How the service answers a batch that it takes. */
const taken = (count: number): ScriptEntry => ({
  body: {
    created: count,
    existing: 0,
    refused: 0,
    items: Array.from({ length: count }, (_, index) => ({ index, result: 'created', taskId: `t-${index}` })),
  },
})

const sizes = (requests: readonly { readonly body: string }[]): number[] =>
  requests.map(({ body }) => (JSON.parse(body) as unknown[]).length)

describe('enqueueMany', () => {
  it('sends chunks, and gives each task its own result in the order of the list', async () => {
    const { client, server, end } = scriptedClient([taken(500), '503', taken(500), taken(200)])
    const results = await end(client.tasks.enqueueMany(tasks(1_200)))
    assert.deepEqual(sizes(server.requests), [500, 500, 500, 200])
    assert.deepEqual(
      results.map(({ index, idempotencyKey }) => `${index} ${idempotencyKey}`),
      tasks(1_200).map(({ idempotencyKey }, index) => `${index} ${idempotencyKey}`),
    )
    assert.deepEqual(results[1_000], { index: 1_000, idempotencyKey: 'key-1000', result: 'created', taskId: 't-0' })
  })

  it('makes a key for each task that has none, and tells it', async () => {
    const { client, server, end } = scriptedClient(['503', taken(2)])
    const results = await end(
      client.tasks.enqueueMany([{ targetUrl: 'https://a.example' }, { targetUrl: 'https://b.example' }]),
    )
    const sent = server.requests.map(({ body }) => (JSON.parse(body) as RetryTaskInput[]).map(t => t.idempotencyKey))
    assert.deepEqual(sent[0], sent[1])
    assert.deepEqual(
      results.map(({ idempotencyKey }) => idempotencyKey),
      sent[0],
    )
    assert.equal(new Set(sent[0]).size, 2)
  })

  it('lets no bad task harm the others: not one that it sees itself, not one that the service refuses', async () => {
    const items = [
      { index: 0, result: 'created', taskId: 't-0' },
      { index: 1, result: 'refused', problem: { code: 'target-forbidden', status: 422, detail: 'It is inside.' } },
      { index: 2, result: 'existing', taskId: 't-2' },
    ]
    const { client, server, end } = scriptedClient([{ body: { created: 1, existing: 1, refused: 1, items } }])
    const results = await end(
      client.tasks.enqueueMany([aTask(0), { targetUrl: 'ftp://a.example' }, aTask(1), aTask(2)]),
    )
    assert.deepEqual(sizes(server.requests), [3])
    assert.deepEqual(
      results.map(({ result }) => result),
      ['created', 'refused', 'refused', 'existing'],
    )
    const codes = results.map(each => ('error' in each ? (each.error as { code: string }).code : undefined))
    assert.deepEqual(codes, [undefined, 'invalid-option', 'target-forbidden', undefined])
  })

  it('sends halves of what is too large for the service, down to the one that is', async () => {
    const tooLarge = refusal(413, 'batch-too-large')
    const { client, server, end } = scriptedClient([tooLarge, tooLarge, tooLarge, taken(1), taken(2)])
    const results = await end(client.tasks.enqueueMany(tasks(4)))
    assert.deepEqual(sizes(server.requests), [4, 2, 1, 1, 2])
    assert.deepEqual(
      results.map(({ result }) => result),
      ['refused', 'created', 'created', 'created'],
    )
  })

  it('sends no more once nobody answers, and says of the rest that nobody knows', async () => {
    const { client, server, end } = scriptedClient([taken(500), 'reset'])
    const results = await end(client.tasks.enqueueMany(tasks(2_000)))
    assert.equal(new Set(sizes(server.requests).slice(1)).size, 1)
    assert.equal(server.requests.length, 1 + 6)
    assert.equal(results[499]!.result, 'created')
    for (const index of [500, 1_999]) {
      const end = results[index]!
      assert.ok(end.result === 'unanswered' && end.error instanceof UnreachableError)
    }
  })

  it('sends no more once the service takes no more, and says that the rest was refused', async () => {
    const { client, end } = scriptedClient([taken(500), refusal(429, 'intake-limited')], { policy: { maxAttempts: 1 } })
    const results = await end(client.tasks.enqueueMany(tasks(1_500)))
    assert.deepEqual(
      [results[499]!.result, results[500]!.result, results[1_499]!.result],
      ['created', 'refused', 'refused'],
    )
  })

  it('says of an item that the answer leaves out that nobody knows', async () => {
    const { client, end } = scriptedClient([taken(1)])
    const results = await end(client.tasks.enqueueMany(tasks(2)))
    assert.deepEqual(
      results.map(({ result }) => result),
      ['created', 'unanswered'],
    )
  })

  it("rejects with the reason of an abort, the caller's or the client's", async () => {
    for (const whose of ['call', 'client'] as const) {
      const controller = new AbortController()
      const { signal } = controller
      const { client, clock } = scriptedClient(['hang'], whose === 'client' ? { signal } : {})
      const results = client.tasks.enqueueMany(tasks(2), whose === 'call' ? { signal } : {})
      results.catch(() => {})
      await clock.advance(1)
      const reason = new Error('enough')
      controller.abort(reason)
      await assert.rejects(results, reason)
    }
  })

  it('needs a list, and sends nothing for an empty one', async () => {
    const { client, server, end } = scriptedClient(['200'])
    await assert.rejects(end(client.tasks.enqueueMany('all' as never)), /must be a list/)
    assert.deepEqual(await end(client.tasks.enqueueMany([])), [])
    assert.equal(server.requests.length, 0)
  })

  it('sends every task once, in order, in chunks that the service takes, whatever their sizes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 1_500_000 }), { maxLength: 12 }), async lengths => {
        const sent: string[][] = []
        const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
          const body = init!.body as string
          const items = JSON.parse(body) as RetryTaskInput[]
          assert.ok(items.length === 1 || body.length <= 4_194_304)
          sent.push(items.map(({ idempotencyKey }) => idempotencyKey!))
          const answers = items.map((_item, index) => ({ index, result: 'created', taskId: `t-${index}` }))
          return Response.json({ created: items.length, existing: 0, refused: 0, items: answers })
        }
        const client = createClient({ url: 'http://service.test', fetch })
        const given = lengths.map((length, n) => ({ ...aTask(n), body: 'x'.repeat(length) }))
        const results = await client.tasks.enqueueMany(given)
        assert.ok(results.every(({ result }) => result === 'created'))
        assert.deepEqual(
          sent.flat(),
          given.map(({ idempotencyKey }) => idempotencyKey),
        )
      }),
      { numRuns: 20 },
    )
  })
})
