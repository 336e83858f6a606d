import assert from 'node:assert/strict'
// #region import
import { createClient, ServiceError, UnreachableError } from '@secondwind/client'
// #endregion
import { afterEach, beforeEach, describe, it, vi } from 'vitest'
import { aService, aTarget } from './service.test-kit.ts'

// Sockets and disks take as long as the machine lets them.
vi.setConfig({ testTimeout: 60_000 })

beforeEach(() => {
  vi.spyOn(console, 'info').mockReturnValue()
  vi.spyOn(console, 'debug').mockReturnValue()
})
afterEach(() => void vi.restoreAllMocks())

describe('the client, with a real service', () => {
  it('enqueues a task, and waits for its end', async () => {
    const { url } = await aService()
    const targetUrl = `${url}/_flaky/503x2`
    // #region enqueue
    const client = createClient({ url }) // http://127.0.0.1:4747; one for the whole program

    const task = await client.tasks.enqueue({
      targetUrl,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ amount: 100 }),
      policy: { maxAttempts: 8, initialDelayMs: 50 },
      idempotencyKey: 'order-8812',
    })
    const ended = await client.waitFor(task.taskId, { deadline: { inMs: 30_000 } })
    console.info(ended.status, ended.attemptNumber) // SUCCEEDED 3
    // #endregion
    assert.deepEqual([task.isNew, ended.status, ended.attemptNumber], [true, 'SUCCEEDED', 3])
    const again = await client.tasks.enqueue({
      targetUrl,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ amount: 100 }),
      policy: { maxAttempts: 8, initialDelayMs: 50 },
      idempotencyKey: 'order-8812',
    })
    assert.deepEqual([again.isNew, again.taskId], [false, task.taskId])
  })

  it('enqueues many, each with a result of its own', async () => {
    const { url } = await aService()
    const client = createClient({ url })
    const orders = Array.from({ length: 1_100 }, (_, order) => ({ order, hook: `${url}/_flaky/200` }))
    orders[7]!.hook = 'ftp://nowhere.example'
    const failed: number[] = []
    // #region many
    const results = await client.tasks.enqueueMany(
      orders.map(({ order, hook }) => ({ targetUrl: hook, idempotencyKey: `order-${order}` })),
    )
    for (const { index, result } of results)
      if (result === 'refused' || result === 'unanswered') failed.push(orders[index]!.order)
    // #endregion
    assert.deepEqual(failed, [7])
    assert.equal(results.length, 1_100)
    const again = await client.tasks.enqueueMany([{ targetUrl: `${url}/_flaky/200`, idempotencyKey: 'order-8' }])
    assert.equal(again[0]!.result, 'existing')
  })

  it('lists page by page, or item by item', async () => {
    const { url } = await aService()
    const client = createClient({ url })
    const due = { targetUrl: `${url}/_flaky/200`, delayMs: 600_000 }
    await client.tasks.enqueueMany(Array.from({ length: 450 }, () => due))
    let waiting = 0
    // #region list
    for await (const task of client.tasks.list({ status: 'PENDING' })) {
      console.debug(task.taskId, task.waits)
      waiting++
    }

    const first = await client.tasks.list({ status: 'PENDING' }).page({ limit: 20 })
    const second = await client.tasks.list({ status: 'PENDING' }).page({ limit: 20, cursor: first.nextCursor! })
    // #endregion
    assert.equal(waiting, 450)
    assert.equal(new Set([...first.items, ...second.items].map(({ taskId }) => taskId)).size, 40)
    const [destination] = (await client.destinations.list().page()).items
    assert.equal(destination!.backlog, 450)
  })

  it('does what an operator does: explain, attempt now, cancel, replay', async () => {
    const [{ url }, target] = await Promise.all([aService(), aTarget()])
    const client = createClient({ url })
    const dying = await client.tasks.enqueue({ targetUrl: target.url, policy: { maxAttempts: 1 } })
    assert.equal((await client.waitFor(dying.taskId)).reason, 'attempts')
    target.isUp = true
    // #region dead
    for await (const { causeId, count, errorCode, destination } of client.deadLetters.groups()) {
      console.info(`${count} × ${errorCode} at ${destination}`) // 1 × http-503 at http://127.0.0.1:…
      for await (const { taskId } of client.deadLetters.list({ causeId })) await client.tasks.replay(taskId)
    }
    // #endregion
    const { status, generation } = await client.waitFor(dying.taskId, { deadline: { inMs: 30_000 } })
    assert.deepEqual([status, generation], ['SUCCEEDED', 2])

    const { taskId } = await client.tasks.enqueue({ targetUrl: target.url, delayMs: 600_000 })
    // #region operate
    const { explanation } = await client.tasks.explain(taskId) // why it waits, until when, and for which gate
    await client.tasks.attemptNow(taskId)
    // #endregion
    assert.match(explanation, /10 min/)
    assert.equal((await client.waitFor(taskId, { deadline: { inMs: 30_000 } })).status, 'SUCCEEDED')

    const other = await client.tasks.enqueue({ targetUrl: target.url, delayMs: 600_000 })
    assert.equal((await client.tasks.cancel(other.taskId)).status, 'CANCELLED')
    const attempts = await client.tasks.attempts(dying.taskId).page()
    assert.deepEqual(
      attempts.items.map(each => [each.generation, each.attemptNumber, each.outcome]),
      [
        [1, 1, 'transient'],
        [2, 1, 'success'],
      ],
    )
  })

  it('keeps policies, and their versions', async () => {
    const { url } = await aService()
    const client = createClient({ url })
    // #region policy
    await client.policies.put({ policyId: 'payments', maxAttempts: 8, totalBudgetMs: 3_600_000 })
    const { version } = await client.policies.put({ policyId: 'payments', maxAttempts: 12, totalBudgetMs: 3_600_000 })
    // #endregion
    assert.equal(version, 2)
    assert.equal((await client.policies.get('payments')).maxAttempts, 12)
    const versions = await client.policies.versions('payments').page()
    assert.deepEqual(
      versions.items.map(({ maxAttempts }) => maxAttempts),
      [12, 8],
    )
    const names: string[] = []
    for await (const { policyId } of client.policies.list()) names.push(policyId)
    assert.deepEqual(names, ['default', 'payments'])
  })

  it('says what the service said', async () => {
    const [{ url }, target] = await Promise.all([aService(), aTarget()])
    target.isUp = true
    const client = createClient({ url })
    const { taskId } = await client.tasks.enqueue({ targetUrl: target.url })
    await client.waitFor(taskId)
    const said = vi.spyOn(console, 'warn').mockReturnValue()
    // #region error
    try {
      await client.tasks.cancel(taskId)
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'wrong-status') console.warn(`too late: ${error.taskStatus}`)
      else if (error instanceof UnreachableError) console.warn(error.message, error.cause)
      else throw error
    }
    // #endregion
    assert.deepEqual(said.mock.calls, [['too late: SUCCEEDED']])
    assert.equal((await client.health()).status, 'alive')
    assert.equal((await client.readiness()).isReady, true)
    const refused = await client.tasks
      .enqueue({ targetUrl: target.url, policyId: 'paymnets', headers: { 'retry-attempt': '1' } })
      .catch((error: unknown) => error)
    assert.ok(refused instanceof ServiceError)
    assert.deepEqual(refused.problems.map(({ at }) => at).toSorted(), ['headers.retry-attempt', 'policyId'])
    assert.ok(refused.requestId)
  })
})
