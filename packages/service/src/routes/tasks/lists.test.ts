import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { openMemoryStore } from '../../stores/sqlite/sqlite-store.ts'
import { NoIndexError } from '../../stores/store.ts'
import { guarded } from '../access/guarded.test-kit.ts'
import { attempt, refusalOf, serve, TASK, type Served } from '../api.test-kit.ts'

const FAILED = { outcome: { kind: 'failure', fault: 'transient' }, responseStatus: 503, errorCode: 'http-503' } as const

async function submit({ ask }: Served, body: object = {}): Promise<string> {
  return (await ask('POST', '/retry-tasks', { body: { ...TASK, ...body } })).json.taskId
}

describe('GET /retry-tasks', () => {
  it('lists the newest first, in pages that end', async () => {
    const served = await serve()
    const ids: string[] = []
    for (let n = 0; n < 5; n++) ids.unshift(await submit(served))
    const seen: string[] = []
    let cursor = ''
    for (let page = 0; page < 5; page++) {
      const { json } = await served.ask('GET', `/retry-tasks?limit=2${cursor}`)
      seen.push(...json.items.map(({ taskId }: { taskId: string }) => taskId))
      if (json.nextCursor === undefined) break
      cursor = `&cursor=${encodeURIComponent(json.nextCursor)}`
    }
    assert.deepEqual(seen, ids)
  })

  it('lists those that match every filter', async () => {
    const served = await serve()
    const { ask, clock } = served
    const from = clock.now()
    const failed = await submit(served, { policy: { maxAttempts: 5 } })
    await attempt(served, failed, FAILED)
    await clock.advance(1_000)
    const other = await submit(served, { targetUrl: 'http://other.example/x' })
    const idsOf = async (query: string): Promise<string[]> =>
      (await ask('GET', `/retry-tasks?${query}`)).json.items.map(({ taskId }: { taskId: string }) => taskId)
    assert.deepEqual(await idsOf('status=PENDING'), [other, failed])
    assert.deepEqual(await idsOf('status=SUCCEEDED'), [])
    assert.deepEqual(await idsOf('destination=http%3A%2F%2Fother.example'), [other])
    assert.deepEqual(await idsOf('policyId=inline'), [failed])
    assert.deepEqual(await idsOf('attemptFrom=1'), [failed])
    assert.deepEqual(await idsOf(`idempotencyKey=${failed}`), [failed])
    assert.deepEqual(await idsOf('idempotencyKey=order%201'), [])
    assert.deepEqual(await idsOf('errorCode=http-503'), [failed])
    assert.deepEqual(await idsOf(`createdFrom=${from + 1}`), [other])
    assert.deepEqual(await idsOf(`createdTo=${from + 1}`), [failed])
    assert.deepEqual(await idsOf(`createdTo=${from + 1}&destination=http%3A%2F%2Fother.example`), [])
  })

  it('lists dead letters alone by when they ended, the latest death first', async () => {
    const served = await serve()
    const { ask, clock } = served
    const ids: string[] = []
    for (let n = 0; n < 4; n++) ids.push(await submit(served, { targetUrl: `https://${n}.example/` }))
    const [first = '', second = '', third = '', won = ''] = ids
    const from = clock.now()
    await attempt(served, won, { outcome: { kind: 'success' }, responseStatus: 200 })
    for (const taskId of [third, first, second]) {
      await attempt(served, taskId, { outcome: { kind: 'failure', fault: 'permanent' } })
      await clock.advance(1_000)
    }
    const idsOf = async (query: string): Promise<string[]> =>
      (await ask('GET', `/retry-tasks?${query}`)).json.items.map(({ taskId }: { taskId: string }) => taskId)
    assert.deepEqual(await idsOf(`endedFrom=${from}`), [second, first, third])
    assert.deepEqual(await idsOf(`endedTo=${from + 1_001}`), [first, third])
    assert.deepEqual(await idsOf('status=EXHAUSTED'), [second, first, third])
  })

  it('finds a key of every tenant for an operator who names none, in pages that end', async () => {
    const { as, operator: key, addTenant, keyFor } = await guarded()
    const ids: string[] = []
    for (const tenant of ['a', 'b', 'c']) {
      await addTenant(tenant)
      const body = { ...TASK, idempotencyKey: tenant === 'b' ? 'other' : 'shared' }
      ids.push((await as('POST', '/retry-tasks', { key: await keyFor(tenant, 'enqueue'), body })).json.taskId)
    }
    const idsOf = async (query: string): Promise<readonly [string[], string | undefined]> => {
      const { items, nextCursor } = (await as('GET', `/retry-tasks?idempotencyKey=shared${query}`, { key })).json
      return [items.map(({ taskId }: { taskId: string }) => taskId), nextCursor]
    }
    assert.deepEqual(await idsOf(''), [[ids[0], ids[2]], undefined])
    const [first, nextCursor] = await idsOf('&limit=1')
    assert.deepEqual(first, [ids[0]])
    assert.deepEqual(await idsOf(`&limit=1&cursor=${nextCursor}`), [[ids[2]], undefined])
  })

  it('says why where the store has no index for a question', async () => {
    const clock = virtualClock()
    const list = () => Promise.reject(new NoIndexError('nothing is looked up by policyId here; name a destination'))
    const { ask } = await serve({ clock, store: { ...openMemoryStore({ clock }), list } })
    const answer = await ask('GET', '/retry-tasks?policyId=payments')
    assert.deepEqual(refusalOf(answer), [400, 'no-index'])
    assert.equal(answer.json.detail, 'Nothing is looked up by policyId here; name a destination.')
  })

  it('refuses parameters that are unknown, wrong, given twice or contradicting, all at once', async () => {
    const { ask } = await serve()
    const query =
      'stauts=PENDING&createdBy=local&limit=201&attemptFrom=-1&createdFrom=1e3&destination=a&destination=b&status=pending'
    assert.deepEqual(refusalOf(await ask('GET', `/retry-tasks?${query}`)), [
      400,
      'invalid-request',
      'stauts is an unknown parameter; did you mean status?',
      'createdBy is an unknown parameter',
      'status must be one of PENDING, IN_FLIGHT, SUCCEEDED, EXHAUSTED, CANCELLED; did you mean PENDING?',
      'destination must be given once',
      'attemptFrom must be a whole number from 0 to 10000',
      'createdFrom must be an instant in whole milliseconds since the epoch',
      'limit must be a whole number from 1 to 200',
    ])
    const range = ['created', 'ended'].map(end => `${end}From=1767225600001&${end}To=1767225600000`).join('&')
    assert.deepEqual(refusalOf(await ask('GET', `/retry-tasks?${range}`)), [
      400,
      'invalid-request',
      'createdFrom must be earlier than createdTo',
      'endedFrom must be earlier than endedTo',
    ])
  })

  it('refuses a cursor that was cut, made up or taken from another list', async () => {
    const served = await serve()
    for (let n = 0; n < 2; n++) await submit(served)
    const { nextCursor } = (await served.ask('GET', '/retry-tasks?limit=1')).json
    for (const [path, cursor] of [
      ['/retry-tasks', nextCursor.slice(0, -3)],
      ['/retry-tasks', 'nonsense'],
      ['/destinations', nextCursor],
      ['/retry-policies', nextCursor],
      ['/dead-letters', nextCursor],
    ]) {
      const answer = await served.ask('GET', `${path}?cursor=${cursor}`)
      assert.deepEqual([answer.status, answer.json.code], [400, 'invalid-cursor'], path)
    }
  })
})

describe('GET /retry-tasks/{taskId}/attempts', () => {
  it('lists what every attempt came to, in pages, without secrets', async () => {
    const served = await serve()
    const { ask, clock } = served
    const taskId = await submit(served)
    const startedAt = clock.now()
    const response = {
      headers: { 'retry-after': '1', 'set-cookie': 's3cret' },
      body: 'sorry',
      bodyEncoding: 'utf8',
      truncated: false,
    } as const
    await attempt(served, taskId, { ...FAILED, errorMessage: 'busy', response })
    await clock.advance(3_600_000)
    await attempt(served, taskId, FAILED)
    const first = await ask('GET', `/retry-tasks/${taskId}/attempts?limit=1`)
    assert.deepEqual(first.json.items, [
      {
        taskId,
        generation: 1,
        attemptNumber: 1,
        startedAt,
        durationMs: 5,
        outcome: 'transient',
        responseStatus: 503,
        errorCode: 'http-503',
        errorMessage: 'busy',
        response: { ...response, headers: { 'retry-after': '1', 'set-cookie': '[redacted]' } },
      },
    ])
    const second = await ask('GET', `/retry-tasks/${taskId}/attempts?cursor=${first.json.nextCursor}`)
    assert.deepEqual(
      second.json.items.map(({ attemptNumber }: { attemptNumber: number }) => attemptNumber),
      [2],
    )
    assert.equal(second.json.nextCursor, undefined)
  })

  it('is an empty page before the first', async () => {
    const served = await serve()
    assert.deepEqual((await served.ask('GET', `/retry-tasks/${await submit(served)}/attempts`)).json, { items: [] })
  })
})
