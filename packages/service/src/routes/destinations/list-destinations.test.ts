import assert from 'node:assert/strict'
import type { Destination } from '@secondwind/client'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { openMemoryStore } from '../../stores/sqlite/sqlite-store.ts'
import type { LanesPage } from '../../stores/store.ts'
import { laneKey } from '../../task/lane.ts'
import { guarded } from '../access/guarded.test-kit.ts'
import { attempt, serve, TASK } from '../api.test-kit.ts'

describe('GET /destinations', () => {
  it('shows the backlog of each, what retrying costs it, and what became of its tasks', async () => {
    const served = await serve()
    const { ask, clock } = served
    const { json: task } = await ask('POST', '/retry-tasks', { body: TASK })
    await attempt(served, task.taskId, { outcome: { kind: 'failure', fault: 'transient' } })
    await clock.advance(3_600_000)
    await attempt(served, task.taskId, { outcome: { kind: 'success' } })
    await ask('POST', '/retry-tasks', { body: TASK })
    const { json } = await ask('GET', '/destinations')
    assert.deepEqual(json.items, [
      {
        tenant: 'default',
        destination: 'https://api.example',
        inFlight: 0,
        backlog: 1,
        succeeded: 1,
        exhausted: 0,
        cancelled: 0,
        attempts: 2,
        retryShare: 0.5,
        amplification: 2,
      },
    ])
  })

  it('says what retrying costs now beside what it ever did: neither hides the other', async () => {
    const served = await serve()
    const { ask, clock, live } = served
    await ask('POST', '/retry-tasks', { body: TASK })
    const end = (count: number, attemptNumber: number): void => {
      for (let call = 0; call < count; call++)
        live.series.attemptEnded({
          taskId: 'a',
          lane: laneKey({ tenant: 'default', destination: 'https://api.example' }),
          policyId: 'default',
          outcome: 'success',
          attemptNumber,
          durationMs: 10,
          latenessMs: 0,
          ownLatenessMs: 0,
          overheadMs: 0,
        })
    }
    const recent = async (): Promise<unknown> => (await ask('GET', '/destinations')).json.items[0].recent
    end(900, 1)
    await clock.advance(400_000)
    assert.equal(await recent(), undefined)
    end(10, 1)
    await clock.advance(59_000)
    end(30, 2)
    assert.deepEqual(await recent(), { windowMs: 60_000, attempts: 40, retryShare: 0.75, amplification: 4 })
    await clock.advance(2_000)
    assert.deepEqual(await recent(), { windowMs: 60_000, attempts: 30, retryShare: 1 })
    assert.deepEqual((await ask('GET', '/destinations/https%3A%2F%2Fapi.example')).json.recent, await recent())
    await clock.advance(60_000)
    assert.equal(await recent(), undefined)
  })

  it('shows the last failure of each', async () => {
    const { ask, live, clock } = await serve()
    await ask('POST', '/retry-tasks', { body: TASK })
    const end = { outcome: 'transient', responseStatus: 503, errorCode: 'http-503', errorMessage: 'down' } as const
    live.series.attemptEnded({
      taskId: 'a',
      lane: laneKey({ tenant: 'default', destination: 'https://api.example' }),
      policyId: 'default',
      attemptNumber: 2,
      durationMs: 10,
      latenessMs: 0,
      ownLatenessMs: 0,
      overheadMs: 0,
      ...end,
    })
    const lastFailure = { at: clock.now(), taskId: 'a', attemptNumber: 2, ...end }
    const { json } = await ask('GET', '/destinations')
    assert.deepEqual(json.items[0].lastFailure, lastFailure)
    const one = await ask('GET', '/destinations/https%3A%2F%2Fapi.example')
    assert.deepEqual(one.json.lastFailure, lastFailure)
  })

  it('shows its gates where this instance serves it', async () => {
    const { ask, views, clock } = await serve()
    await ask('POST', '/retry-tasks', { body: TASK })
    const lane = laneKey({ tenant: 'default', destination: 'https://api.example' })
    const retry = { reason: 'breaker-open', since: 1, everyMs: 9_000, until: clock.now() + 1 } as const
    views.set(lane, {
      lane,
      breaker: 'open',
      hold: { reason: 'concurrency' },
      kindHolds: { retry },
      limit: 25,
      inFlight: 0,
      credit: { first: 19, retry: 0, late: 20 },
      nextProbeAt: clock.now() + 1,
      oldestDueAt: clock.now(),
    })
    const [shown] = (await ask('GET', '/destinations')).json.items
    assert.deepEqual(
      [shown.breaker, shown.hold, shown.kindHolds, shown.limit, shown.credit, shown.nextProbeAt, shown.oldestDueAt],
      [
        'open',
        { reason: 'concurrency' },
        { retry },
        25,
        { first: 19, retry: 0, late: 20 },
        clock.now() + 1,
        clock.now(),
      ],
    )
  })

  it('is read in pages', async () => {
    const { ask } = await serve()
    for (const name of ['a', 'b', 'c'])
      await ask('POST', '/retry-tasks', { body: { targetUrl: `http://${name}.example/` } })
    const first = (await ask('GET', '/destinations?limit=2')).json
    const second = (await ask('GET', `/destinations?limit=2&cursor=${first.nextCursor}`)).json
    assert.deepEqual(
      [...first.items, ...second.items].map(({ destination }) => destination),
      ['http://a.example', 'http://b.example', 'http://c.example'],
    )
    assert.equal(second.nextCursor, undefined)
  })
})

describe('GET /destinations?hasSettings=true', () => {
  const pathOf = (host: string, verb: string): string =>
    `/destinations/${encodeURIComponent(`https://${host}.example`)}/${verb}`

  it('shows what was set, before the first task too, and nothing that is as for all', async () => {
    const { ask } = await serve()
    await ask('POST', '/retry-tasks', { body: { targetUrl: 'https://plain.example/' } })
    await ask('POST', '/retry-tasks', { body: { targetUrl: 'https://busy.example/' } })
    await ask('POST', pathOf('busy', 'pause'), { body: { reason: 'INC-2231' } })
    await ask('PUT', pathOf('quiet', 'settings'), { body: { limits: { concurrency: 5 } } })
    await ask('POST', pathOf('lifted', 'drain'))
    await ask('POST', pathOf('lifted', 'undrain'))
    const { items } = (await ask('GET', '/destinations?hasSettings=true')).json
    assert.deepEqual(
      items.map((one: Destination) => [
        one.destination,
        one.backlog,
        one.settings?.limits,
        one.settings?.paused?.reason,
      ]),
      [
        ['https://busy.example', 1, undefined, 'INC-2231'],
        ['https://quiet.example', 0, { concurrency: 5 }, undefined],
      ],
    )
  })

  it('is read in pages, whose cursors are of no other list', async () => {
    const { ask } = await serve()
    for (const host of ['c', 'a', 'b']) await ask('POST', pathOf(host, 'drain'))
    const first = (await ask('GET', '/destinations?hasSettings=true&limit=2')).json
    const second = (await ask('GET', `/destinations?hasSettings=true&limit=2&cursor=${first.nextCursor}`)).json
    assert.deepEqual(
      [...first.items, ...second.items].map(({ destination }) => destination),
      ['https://a.example', 'https://b.example', 'https://c.example'],
    )
    assert.equal(second.nextCursor, undefined)
    const { status, json } = await ask('GET', `/destinations?cursor=${first.nextCursor}`)
    assert.deepEqual([status, json.problems[0].at], [400, 'cursor'])
  })

  it('asks the store once for all that one tenant is shown', async () => {
    const clock = virtualClock()
    const store = openMemoryStore({ clock })
    const asked: LanesPage[] = []
    const lanes: typeof store.lanes = ask => {
      asked.push(ask)
      return store.lanes(ask)
    }
    const { as, addTenant, keyFor, operator } = await guarded({ clock, store: { ...store, lanes } })
    await addTenant('shop')
    const key = await keyFor('shop', 'enqueue', 'read', 'operate')
    for (const host of ['a', 'b', 'c', 'd']) await as('POST', pathOf(host, 'pause'), { key })
    await as('POST', pathOf('z', 'pause'), { key: operator })
    for (const host of ['b', 'd', 'e'])
      await as('POST', '/retry-tasks', { key, body: { targetUrl: `https://${host}.example/` } })
    asked.length = 0
    const { items } = (await as('GET', '/destinations?hasSettings=true&limit=3', { key })).json
    assert.deepEqual(
      items.map((one: Destination) => [one.destination, one.backlog, one.settings?.paused !== undefined]),
      [
        ['https://a.example', 0, true],
        ['https://b.example', 1, true],
        ['https://c.example', 0, true],
      ],
    )
    assert.deepEqual(
      asked.map(({ tenant, names }) => [tenant, names]),
      [['shop', ['a', 'b', 'c'].map(host => laneKey({ tenant: 'shop', destination: `https://${host}.example` }))]],
    )
  })

  it('takes true and nothing else: those without settings cannot be asked for', async () => {
    const { ask } = await serve()
    const { status, json } = await ask('GET', '/destinations?hasSettings=false')
    assert.deepEqual(
      [status, json.problems],
      [400, [{ at: 'hasSettings', is: false, say: 'must be true, or left out' }]],
    )
  })
})
