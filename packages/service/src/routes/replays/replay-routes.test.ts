import { virtualClock } from '@secondwind/resilience/testing'
import assert from 'node:assert/strict'
import { describe, it, onTestFinished } from 'vitest'
import { attempt, serve, TASK, type Served, type ServeOptions } from '../api.test-kit.ts'
import { PolicyBook } from '../../policies/policy-book.ts'
import { ReplayRunner } from '../../replays/replay-runner.ts'
import { openMemoryStore } from '../../stores/sqlite/sqlite-store.ts'
import { openTemporarySqliteStore } from '../../stores/sqlite/sqlite.test-kit.ts'

/** The API, dead letters, and a runner of replays that takes its turns when a test says so. */
async function setting(options: ServeOptions = {}) {
  const served = await serve(options)
  const { store, clock } = served
  const runner = new ReplayRunner({
    store,
    policies: new PolicyBook(store, clock),
    clock,
    now: () => clock.now(),
    serves: () => true,
    onProblem: error => assert.fail(String(error)),
  })
  const run = async (): Promise<void> => {
    runner.wake('default')
    await clock.advance(50)
    for (let rounds = 0; rounds < 5; rounds++) await runner.round()
  }
  return { served, run, ...served }
}

async function kill(served: Served, count: number, fault: 'transient' | 'permanent' = 'transient'): Promise<string[]> {
  const ids: string[] = []
  for (let n = 0; n < count; n++) {
    const body = { ...TASK, policy: { maxAttempts: 1 } }
    const { taskId } = (await served.ask('POST', '/retry-tasks', { body })).json
    await attempt(served, taskId, { outcome: { kind: 'failure', fault }, errorCode: 'http-503' })
    await served.clock.advance(1)
    ids.push(taskId)
  }
  return ids
}

const PLAN = { filter: { errorCode: 'http-503' }, ratePerSecond: 10 }

describe('POST /replays', () => {
  it('plans: what is selected, what is left alone and why, and nothing is sent', async () => {
    const { ask, served, run, clock } = await setting()
    await kill(served, 3)
    const permanent = await kill(served, 2, 'permanent')
    const created = await ask('POST', '/replays', { body: { ...PLAN, reason: 'INC-2231' } })
    assert.equal(created.status, 201)
    const { replayId } = created.json
    assert.equal(created.headers.location, `/replays/${replayId}`)
    assert.deepEqual([created.json.status, created.json.asOf], ['PLANNING', clock.now()])
    await kill(served, 1)
    await run()
    const { json } = await ask('GET', `/replays/${replayId}`)
    assert.equal(json.status, 'PLANNED')
    assert.equal(json.selected, 3)
    assert.deepEqual(json.skipped, [{ because: 'permanent', count: 2, sampleTaskIds: permanent }])
    assert.deepEqual(json.newSince, { count: 1, isExact: true })
    assert.deepEqual([json.canary, json.stopOnFailureRate, json.overLast], [5, 0.2, 50])
    assert.equal(json.counts.left, 3)
    assert.deepEqual(
      Object.keys(json).filter(name => ['cursor', 'nextAt', 'start', 'pulses'].includes(name)),
      [],
    )
  })

  it('refuses an empty filter, tasks by id and by something else, and every other problem, at once', async () => {
    const { ask } = await setting()
    const refused = async (body: object): Promise<string[]> => {
      const { status, json } = await ask('POST', '/replays', { body })
      assert.deepEqual([status, json.code], [400, 'invalid-request'])
      return json.problems.map(({ at, say }: { at: string; say: string }) => `${at} ${say}`)
    }
    assert.deepEqual(await refused({ filter: {}, ratePerSecond: 1 }), [
      'filter must name something: without it every dead letter would be replayed',
    ])
    const taskIds = ['019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a']
    const range = { endedFrom: 1_767_225_600_001, endedTo: 1_767_225_600_000 }
    assert.deepEqual(await refused({ filter: { taskIds, ...range }, ratePerSecond: 1 }), [
      'filter.endedFrom must be earlier than endedTo',
      'filter.taskIds must be the only field of the filter: it names them all',
    ])
    assert.deepEqual(await refused({ filter: {} }), [
      'ratePerSecond must be given',
      'filter must name something: without it every dead letter would be replayed',
    ])
    assert.deepEqual(await refused({ filter: { endedFrom: 'x', endedTo: 1_767_225_600_000 }, ratePerSecond: 0 }), [
      'filter.endedFrom must be an instant in whole milliseconds since the epoch',
      'ratePerSecond must be a number from 0.01 to 1000',
    ])
    assert.deepEqual(await refused({ filter: { destinatoin: 'x' }, rate: 5, canary: -1, stopOnFailureRate: 2 }), [
      'ratePerSecond must be given',
      'rate is an unknown field',
      'filter.destinatoin is an unknown field; did you mean destination?',
      'canary must be a whole number from 0 to 100',
      'stopOnFailureRate must be a number from 0 to 1',
    ])
  })

  it('refuses more than anybody can read', async () => {
    const { ask } = await setting()
    for (let n = 0; n < 200; n++) await ask('POST', '/replays', { body: PLAN })
    const { status, json, headers } = await ask('POST', '/replays', { body: PLAN })
    assert.deepEqual([status, json.code, headers['retry-after']], [429, 'too-many-replays', '3600'])
  })
})

describe('a replay', () => {
  it('is run, paused, resumed at another rate and cancelled, and the audit says by whom and why', async () => {
    const { ask, served, run, store } = await setting()
    await kill(served, 30)
    const { replayId } = (await ask('POST', '/replays', { body: { ...PLAN, canary: 0 } })).json
    await run()
    const told: [string, number, string][] = []
    for (const [verb, body] of [
      ['run', { reason: 'it is back' }],
      ['pause', undefined],
      ['resume', { ratePerSecond: 5 }],
      ['cancel', {}],
    ] as const) {
      const { status, json } = await ask('POST', `/replays/${replayId}/${verb}`, body === undefined ? {} : { body })
      told.push([json.status, json.ratePerSecond, String(status)])
      await run()
    }
    assert.deepEqual(told, [
      ['RUNNING', 10, '200'],
      ['PAUSED', 10, '200'],
      ['RUNNING', 5, '200'],
      ['CANCELLED', 5, '200'],
    ])
    const { items } = await store.audit({ tenant: 'default', subject: replayId, limit: 10 })
    assert.deepEqual(
      items.map(({ actor, action, reason }) => [actor, action, reason]),
      [
        ['local', 'replay.cancel', undefined],
        ['local', 'replay.resume', undefined],
        ['local', 'replay.pause', undefined],
        ['local', 'replay.run', 'it is back'],
        ['local', 'replay.create', undefined],
      ],
    )
    const { moved, left } = (await ask('GET', `/replays/${replayId}`)).json.counts
    assert.equal(moved + left, 30)
    assert.ok(moved > 0 && left > 0)
  })

  it('obeys twenty callers who act on it at the same moment', async () => {
    const clock = virtualClock()
    const { store } = await openTemporarySqliteStore({ clock })
    onTestFinished(() => store.close())
    const { ask, served, run } = await setting({ clock, store })
    await kill(served, 1)
    const { replayId } = (await ask('POST', '/replays', { body: { ...PLAN, canary: 0 } })).json
    await run()
    await ask('POST', `/replays/${replayId}/run`)
    const rates = Array.from({ length: 20 }, (_, index) => index + 11)
    const answers = await Promise.all(
      rates.map(ratePerSecond => ask('POST', `/replays/${replayId}/resume`, { body: { ratePerSecond } })),
    )
    assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
    const { items } = await store.audit({ tenant: 'default', subject: replayId, limit: 100 })
    assert.equal(items.filter(({ action }) => action === 'replay.resume').length, 20)
  })

  it('is left as it is with 409 when other instances change it over and over', async () => {
    const clock = virtualClock()
    const store = openMemoryStore({ clock })
    let isContended = false
    const write: typeof store.write = async (writes, audit) =>
      isContended ? { now: clock.now(), kind: 'conflict', name: writes[0]! } : store.write(writes, audit)
    const { ask, run } = await setting({ clock, store: { ...store, write } })
    const { replayId } = (await ask('POST', '/replays', { body: PLAN })).json
    await run()
    isContended = true
    const { status, json } = await ask('POST', `/replays/${replayId}/cancel`)
    assert.deepEqual([status, json.code], [409, 'write-conflict'])
  })

  it('says what can be done instead where its status does not allow it', async () => {
    const { ask } = await setting()
    const { replayId } = (await ask('POST', '/replays', { body: PLAN })).json
    const { status, json } = await ask('POST', `/replays/${replayId}/run`)
    assert.deepEqual([status, json.code], [409, 'wrong-replay-status'])
    assert.match(json.detail, /is PLANNING\. Its selection is being counted: ask again when it is PLANNED/)
  })

  it('is left as it is with 412 when it is another version than the one that was read', async () => {
    const { ask, served, run } = await setting()
    await kill(served, 1)
    const { replayId } = (await ask('POST', '/replays', { body: PLAN })).json
    await run()
    const { headers, json } = await ask('GET', `/replays/${replayId}`)
    assert.equal(headers.etag, `"${json.version}"`)
    const late = await ask('POST', `/replays/${replayId}/run`, { body: {}, headers: { 'if-match': '"1"' } })
    assert.deepEqual([late.status, late.json.code, late.headers.etag], [412, 'version-changed', headers.etag])
    const asRead = await ask('POST', `/replays/${replayId}/run`, { body: {}, headers: { 'if-match': headers.etag } })
    assert.deepEqual([asRead.status, asRead.headers.etag], [200, `"${asRead.json.version}"`])
    assert.equal(asRead.json.version, json.version + 1)
  })

  it('of nobody, or of another tenant, is none', async () => {
    const { ask, store } = await setting()
    const { replayId } = (await ask('POST', '/replays', { body: PLAN })).json
    const record = (await store.record({ kind: 'replay', id: replayId }))!
    const id = `${replayId.slice(0, -1)}${replayId.endsWith('0') ? 1 : 0}`
    await store.write([{ kind: 'replay', id, tenant: 'other', document: record.document, ifVersion: 0 }])
    for (const unknown of [id, '019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a'])
      for (const [method, path] of [
        ['GET', ''],
        ['POST', '/run'],
        ['POST', '/cancel'],
      ] as const) {
        const { status, json } = await ask(method, `/replays/${unknown}${path}`)
        assert.deepEqual([status, json.code], [404, 'replay-not-found'])
      }
    const { items } = (await ask('GET', '/replays')).json
    assert.deepEqual(
      items.map((item: { replayId: string }) => item.replayId),
      [replayId],
    )
  })
})

describe('GET /replays', () => {
  it('lists the newest first, in pages, by status if asked', async () => {
    const { ask, clock } = await setting()
    const ids: string[] = []
    for (let n = 0; n < 5; n++) {
      ids.push((await ask('POST', '/replays', { body: PLAN })).json.replayId)
      await clock.advance(10)
    }
    await ask('POST', `/replays/${ids[1]}/cancel`)
    const idsOf = (page: { items: { replayId: string }[] }): string[] => page.items.map(({ replayId }) => replayId)
    const first = (await ask('GET', '/replays?limit=3')).json
    assert.deepEqual(idsOf(first), [ids[4], ids[3], ids[2]])
    const rest = (await ask('GET', `/replays?limit=3&cursor=${first.nextCursor}`)).json
    assert.deepEqual([idsOf(rest), rest.nextCursor], [[ids[1], ids[0]], undefined])
    assert.deepEqual(idsOf((await ask('GET', '/replays?status=CANCELLED')).json), [ids[1]])
    const short = (await ask('GET', '/replays?status=CANCELLED&limit=2')).json
    assert.deepEqual(idsOf(short), [], 'none of the two newest')
    const next = (await ask('GET', `/replays?status=CANCELLED&limit=2&cursor=${short.nextCursor}`)).json
    assert.deepEqual(idsOf(next), [ids[1]])
  })

  it('leads on under the filter that its cursor was given for, and under no other', async () => {
    const { ask } = await setting()
    for (let n = 0; n < 2; n++) await ask('POST', '/replays', { body: PLAN })
    const { nextCursor } = (await ask('GET', '/replays?limit=1')).json
    const { status, json } = await ask('GET', `/replays?limit=1&status=PLANNED&cursor=${nextCursor}`)
    assert.deepEqual([status, json.code], [400, 'invalid-cursor'])
  })

  it('is one reading, however many it shows, and leaves the ids of tasks to whoever reads one of them', async () => {
    const clock = virtualClock()
    const store = openMemoryStore({ clock })
    let readings = 0
    const replayCounts: typeof store.replayCounts = replayIds => {
      readings++
      return store.replayCounts(replayIds)
    }
    const { ask } = await serve({ clock, store: { ...store, replayCounts } })
    const filter = { taskIds: ['019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a'] }
    for (let n = 0; n < 5; n++) await ask('POST', '/replays', { body: { filter, ratePerSecond: 10 } })
    readings = 0
    const { items } = (await ask('GET', '/replays')).json
    assert.deepEqual([items.length, readings], [5, 1])
    const { replayId, ...listed } = items[0]
    assert.deepEqual(listed.filter, {})
    const { json } = await ask('GET', `/replays/${replayId}`)
    assert.deepEqual(json, { ...listed, replayId, filter })
  })
})
