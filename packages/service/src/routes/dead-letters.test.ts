import assert from 'node:assert/strict'
import type { Cause } from '@secondwind/client'
import { describe, it } from 'vitest'
import { expire } from '../task/settle.ts'
import { attempt, claim, refusalOf, serve, TASK, type Served } from './api.test-kit.ts'

const REFUSED = { outcome: { kind: 'failure', fault: 'permanent' }, errorMessage: 'no such account' } as const

async function withDeadLetters(): Promise<Served> {
  const served = await serve()
  for (const [targetUrl, responseStatus] of [
    ['https://api.example/1', 400],
    ['https://api.example/2', 400],
    ['https://api.example/3', 404],
    ['https://other.example/', 400],
  ] as const) {
    const { json } = await served.ask('POST', '/retry-tasks', { body: { ...TASK, targetUrl } })
    await attempt(served, json.taskId, { ...REFUSED, responseStatus, errorCode: `http-${responseStatus}` })
  }
  await served.ask('POST', '/retry-tasks', { body: TASK })
  return served
}

describe('GET /dead-letters', () => {
  it('groups them by what they died of, the most numerous first, with samples', async () => {
    const { ask } = await withDeadLetters()
    const { json } = await ask('GET', '/dead-letters')
    assert.equal(json.items.length, 3)
    const [most] = json.items
    assert.deepEqual(
      [most.destination, most.reason, most.responseStatus, most.errorCode, most.errorMessage, most.count],
      ['https://api.example', 'permanent', 400, 'http-400', 'no such account', 2],
    )
    assert.equal(most.sampleTaskIds.length, 2)
    assert.deepEqual((await ask('GET', '/dead-letters?group=cause')).json, json)
  })

  it('lists those of a cause, of a destination, or all', async () => {
    const { ask } = await withDeadLetters()
    const countOf = async (query: string): Promise<number> =>
      (await ask('GET', `/dead-letters?${query}`)).json.items.length
    const [{ causeId }] = (await ask('GET', '/dead-letters')).json.items
    assert.equal(await countOf('group=none'), 4)
    assert.equal(await countOf(`causeId=${causeId}`), 2)
    assert.equal(await countOf(`causeId=${causeId}&group=none`), 2)
    assert.equal(await countOf('destination=https%3A%2F%2Fother.example'), 1)
    assert.equal(await countOf('group=none&destination=https%3A%2F%2Fapi.example'), 3)
    const { items } = (await ask('GET', '/dead-letters?group=none&limit=1')).json
    assert.deepEqual([items[0].status, items[0].reason], ['EXHAUSTED', 'permanent'])
  })

  it('lists the latest death first, whenever the tasks came', async () => {
    const served = await serve()
    const ids: string[] = []
    for (let n = 0; n < 3; n++) {
      const body = { ...TASK, targetUrl: `https://${n}.example/` }
      ids.push((await served.ask('POST', '/retry-tasks', { body })).json.taskId)
    }
    const [first = '', second = '', third = ''] = ids
    for (const taskId of [second, third, first]) {
      await served.clock.advance(1_000)
      await attempt(served, taskId, REFUSED)
    }
    const { items } = (await served.ask('GET', '/dead-letters?group=none')).json
    assert.deepEqual(
      items.map(({ taskId }: { taskId: string }) => taskId),
      [first, third, second],
    )
  })

  it('groups apart those that a gate held until their deadline, and names the gate; each says since when', async () => {
    const served = await serve()
    const { ask, store, clock } = served
    for (const by of [undefined, 'paused', 'paused'] as const) {
      const { taskId } = (await ask('POST', '/retry-tasks', { body: TASK })).json
      const task = await claim(served, taskId)
      await store.settle([expire(task, by && { by, since: task.dueAt })])
    }
    const { items } = (await ask('GET', '/dead-letters')).json
    assert.deepEqual(
      items.map(({ reason, heldBy, count }: Cause) => [reason, heldBy, count]),
      [
        ['deadline', 'paused', 2],
        ['deadline', undefined, 1],
      ],
    )
    const [held] = (await ask('GET', `/dead-letters?causeId=${items[0].causeId}`)).json.items
    assert.deepEqual([held.reason, held.heldBy, held.heldSince], ['deadline', 'paused', clock.now()])
    const { explanation } = (await ask('GET', `/retry-tasks/${held.taskId}/explain`)).json
    assert.match(explanation, /for its deadline, .* and https:\/\/api\.example was paused\.$/)
  })

  it('no longer has what was replayed', async () => {
    const { ask } = await withDeadLetters()
    const [{ taskId }] = (await ask('GET', '/dead-letters?group=none&limit=1')).json.items
    await ask('POST', `/retry-tasks/${taskId}/replay`)
    assert.equal((await ask('GET', '/dead-letters?group=none')).json.items.length, 3)
  })

  it('refuses a cause together with grouping, and a group that there is not', async () => {
    const { ask } = await serve()
    assert.deepEqual(refusalOf(await ask('GET', '/dead-letters?causeId=a&group=cause')), [
      400,
      'invalid-request',
      'causeId lists the tasks of a cause: leave group out',
    ])
    assert.deepEqual(refusalOf(await ask('GET', '/dead-letters?group=tenant')), [
      400,
      'invalid-request',
      'group must be one of cause, none',
    ])
  })
})
