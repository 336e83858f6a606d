import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { guarded } from '../access/guarded.test-kit.ts'
import { refusalOf, serve, TASK } from '../api.test-kit.ts'

describe('a full backlog refuses', () => {
  it('more tasks than may wait, and says when to come back', async () => {
    const lane = await serve({ limits: { backlog: { perLane: 1, total: 10 } } })
    const total = await serve({ limits: { backlog: { perLane: 10, total: 1 } } })
    for (const [{ ask }, say] of [
      [lane, /for https:\/\/api\.example/],
      [total, /over all destinations and tenants/],
    ] as const) {
      await ask('POST', '/retry-tasks', { body: TASK })
      const answer = await ask('POST', '/retry-tasks', { body: TASK })
      assert.deepEqual(refusalOf(answer), [429, 'backlog-full'])
      assert.match(answer.json.detail, say)
      assert.match(answer.headers['retry-after']!, /^1\d|20$/)
    }
  })

  it('no request that came before, though the backlog is full since then', async () => {
    const { ask } = await serve({ limits: { backlog: { perLane: 1, total: 10 } } })
    const body = { ...TASK, idempotencyKey: 'k' }
    const first = await ask('POST', '/retry-tasks', { body })
    const again = await ask('POST', '/retry-tasks', { body })
    assert.deepEqual([again.status, again.json.taskId], [200, first.json.taskId])
    const other = await ask('POST', '/retry-tasks', { body: { ...body, body: '{}' } })
    assert.deepEqual(refusalOf(other), [422, 'idempotency-conflict'])
    const late = await ask('POST', '/retry-tasks', { body: { ...TASK, idempotencyKey: 'l' } })
    assert.deepEqual(refusalOf(late), [429, 'backlog-full'])
  })

  it('tasks until a beat has said that there is room again', async () => {
    const { ask, beat } = await serve({ limits: { backlog: { perLane: 1, total: 10 } } })
    const { taskId } = (await ask('POST', '/retry-tasks', { body: TASK })).json
    await ask('DELETE', `/retry-tasks/${taskId}`)
    assert.equal((await ask('POST', '/retry-tasks', { body: TASK })).status, 429)
    await beat()
    assert.equal((await ask('POST', '/retry-tasks', { body: TASK })).status, 201)
  })

  it('tasks of a tenant that has its part of the backlog, and takes in those of others', async () => {
    const limits = { backlog: { perLane: 100, total: 20 } }
    const { as, addTenant, keyFor } = await guarded({ limits })
    for (const tenant of ['busy', 'quiet']) await addTenant(tenant)
    const [busy, quiet] = [await keyFor('busy', 'enqueue'), await keyFor('quiet', 'enqueue')]
    const post = (key: string, host: string) =>
      as('POST', '/retry-tasks', { key, body: { ...TASK, targetUrl: `https://${host}.example/` } })
    let taken = 0
    for (let n = 0; n < 25; n++) if ((await post(busy, `api-${n % 5}`)).status === 201) taken++
    assert.equal(taken, 18)
    const refusal = await post(busy, 'api-9')
    assert.deepEqual(refusalOf(refusal), [429, 'backlog-full'])
    assert.match(refusal.json.detail, /kept for others/)
    assert.match(refusal.headers['retry-after']!, /^(1\d|20)$/)
    assert.equal((await post(quiet, 'api-0')).status, 201)
  })

  it('tasks for one destination more than may have some waiting, and takes those for the others', async () => {
    const { ask } = await serve({ limits: { backlog: { perLane: 100, total: 100, lanes: 1 } } })
    assert.equal((await ask('POST', '/retry-tasks', { body: TASK })).status, 201)
    const refusal = await ask('POST', '/retry-tasks', { body: { ...TASK, targetUrl: 'https://other.example/' } })
    assert.deepEqual(refusalOf(refusal), [429, 'backlog-full'])
    assert.match(refusal.json.detail, /^As many destinations have tasks waiting as may.* https:\/\/other\.example/)
    assert.match(refusal.headers['retry-after']!, /^(1\d|20)$/)
    assert.equal((await ask('POST', '/retry-tasks', { body: TASK })).status, 201)
  })

  it('tasks whose end could not be told, and says where', async () => {
    const { ask } = await serve({ limits: { backlog: { perLane: 2, total: 100 } } })
    await ask('POST', '/retry-tasks', { body: { ...TASK, targetUrl: 'https://told.example/other' } })
    const callbackUrl = 'https://told.example/ends'
    const answer = await ask('POST', '/retry-tasks', { body: { ...TASK, callbackUrl } })
    assert.deepEqual(refusalOf(answer), [429, 'backlog-full'])
    assert.match(answer.json.detail, /wait for https:\/\/told\.example that .* callbackUrl/)
    assert.match(answer.headers['retry-after']!, /^(1\d|20)$/)
    assert.equal((await ask('POST', '/retry-tasks', { body: TASK })).status, 201)
  })

  it('each item of a batch for itself', async () => {
    const { ask } = await serve({ limits: { backlog: { perLane: 2, total: 100 } } })
    const known = { ...TASK, idempotencyKey: 'k' }
    await ask('POST', '/retry-tasks', { body: known })
    const batch = [TASK, TASK, known, { ...TASK, targetUrl: 'https://other.example/' }, { ...TASK, metod: 'PUT' }]
    const { json } = await ask('POST', '/retry-tasks/batch', { body: batch })
    assert.deepEqual([json.created, json.existing, json.refused], [2, 1, 2])
    assert.deepEqual(
      json.items.map((item: { result: string; problem?: { code: string } }) => item.problem?.code ?? item.result),
      ['created', 'backlog-full', 'existing', 'created', 'invalid-request'],
    )
  })
})
