import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { openMemoryStore } from '../../stores/sqlite/sqlite-store.ts'
import { serve, TASK, type Served } from '../api.test-kit.ts'

const STORM = { level: 'retries-off', scope: { kind: 'all' }, reason: 'INC-2231' }

async function created(served: Served, body: object = STORM) {
  const answer = await served.ask('POST', '/controls', { body })
  assert.equal(answer.status, 201, answer.text)
  return answer.json
}

describe('POST /controls', () => {
  it('throws the switch, says who did it and what it holds, and is written into the audit', async () => {
    const served = await serve()
    const { ask, clock, store } = served
    await ask('POST', '/retry-tasks', { body: TASK })
    const answer = await ask('POST', '/controls', { body: { ...STORM, level: 'dispatch-off', forMs: 60_000 } })
    const { controlId } = answer.json
    assert.deepEqual(answer.json, {
      ...STORM,
      level: 'dispatch-off',
      controlId,
      createdAt: clock.now(),
      createdBy: 'local',
      isByOperator: true,
      expiresAt: clock.now() + 60_000,
      isInForce: true,
      version: 1,
      holds: { lanes: 1, waitingTasks: 1, isExact: true },
    })
    assert.equal(answer.headers.location, `/controls/${controlId}`)
    assert.deepEqual((await ask('GET', `/controls/${controlId}`)).json, answer.json)
    const { items } = await store.audit({ limit: 10, action: 'control.create' })
    assert.deepEqual([items[0]!.actor, items[0]!.subject, items[0]!.reason], ['local', controlId, 'INC-2231'])
    assert.equal(items[0]!.details?.['expiresAt'], clock.now() + 60_000)
  })

  it('is in force even where what it holds cannot be counted', async () => {
    const clock = virtualClock()
    const lanes = async (): Promise<never> => Promise.reject(new Error('the counters are away'))
    const { ask } = await serve({ clock, store: { ...openMemoryStore({ clock }), lanes } })
    const { status, json } = await ask('POST', '/controls', { body: STORM })
    assert.deepEqual([status, json.isInForce, json.holds], [201, true, undefined])
  })

  it('is not ended with 412 when it is another version than the one that was read', async () => {
    const served = await serve()
    const path = `/controls/${(await created(served)).controlId}`
    const { headers, json } = await served.ask('GET', path)
    assert.equal(headers.etag, `"${json.version}"`)
    const late = await served.ask('DELETE', path, { headers: { 'if-match': '"9"' } })
    assert.deepEqual([late.status, late.json.code, late.headers.etag], [412, 'version-changed', headers.etag])
    assert.equal((await served.ask('GET', path)).json.isInForce, true)
    const ended = await served.ask('DELETE', path, { headers: { 'if-match': headers.etag } })
    assert.deepEqual([ended.status, ended.json.version, ended.headers.etag], [200, 2, '"2"'])
    assert.equal((await served.ask('GET', '/controls?ended=true')).json.items[0].version, 2)
  })

  it('only says what it would hold when it is asked to', async () => {
    const { ask } = await serve()
    await ask('POST', '/retry-tasks', { body: TASK })
    const { status, json } = await ask('POST', '/controls', { body: { ...STORM, preview: true } })
    assert.equal(status, 200)
    assert.deepEqual(json.holds, { lanes: 1, waitingTasks: 1, isExact: false }, 'some of them may be first attempts')
    assert.deepEqual(
      [json.isPreview, json.controlId, json.isInForce, json.createdAt, json.level],
      [true, undefined, undefined, undefined, STORM.level],
    )
    assert.deepEqual((await ask('GET', '/controls')).json.items, [])
  })

  it('refuses what would hold nothing by a slip of the keyboard, with every problem at once', async () => {
    const { ask, clock } = await serve()
    const problems = async (body: object): Promise<string[]> => {
      const { status, json } = await ask('POST', '/controls', { body })
      assert.equal(status, 400)
      return json.problems.map(({ at, say }: { at: string; say: string }) => `${at} ${say}`)
    }
    assert.deepEqual(await problems({ ...STORM, scope: { kind: 'policy', policyId: 'defualt' } }), [
      'scope.policyId is not known here; did you mean default?',
    ])
    assert.deepEqual(await problems({ ...STORM, scope: { kind: 'destination' } }), ['scope.destination must be given'])
    assert.deepEqual(await problems({ ...STORM, scope: { kind: 'destination', destination: 'nowhere' } }), [
      'scope.destination must be an origin such as https://api.example, or the name of a destination',
    ])
    assert.deepEqual(await problems({ ...STORM, scope: { kind: 'all', policyId: 'default' } }), [
      'scope.policyId does not go with the kind all',
    ])
    const late = { ...STORM, expiresAt: clock.now() - 1, forMs: 5, scope: { kind: 'policy' } }
    assert.deepEqual(await problems(late), [
      'scope.policyId must be given',
      'forMs must not stand beside expiresAt: one of them',
      'expiresAt must be an instant that is to come',
    ])
    assert.match(
      (await problems({ level: 'retries-of', scope: { kind: 'all' } })).join('; '),
      /did you mean retries-off\?/,
    )
  })
})

describe('GET /controls', () => {
  it('lists what is in force, the newest first, in pages; what has ended if asked', async () => {
    const served = await serve()
    const { ask, clock } = served
    const ids: string[] = []
    for (let n = 0; n < 3; n++) {
      ids.unshift((await created(served)).controlId)
      await clock.advance(1)
    }
    await ask('DELETE', `/controls/${ids[1]}`)
    const idsAt = async (path: string) =>
      (await ask('GET', path)).json.items.map(({ controlId }: { controlId: string }) => controlId)
    assert.deepEqual(await idsAt('/controls'), [ids[0], ids[2]])
    assert.deepEqual(await idsAt('/controls?ended=true'), ids)
    const first = (await ask('GET', '/controls?limit=1')).json
    assert.deepEqual(await idsAt(`/controls?limit=1&cursor=${first.nextCursor}`), [ids[2]])
  })

  it('knows one that ended by itself', async () => {
    const served = await serve()
    const { controlId } = await created(served, { ...STORM, forMs: 1_000 })
    await served.clock.advance(1_000)
    assert.deepEqual((await served.ask('GET', '/controls')).json.items, [])
    assert.equal((await served.ask('GET', `/controls/${controlId}`)).json.isInForce, false)
  })
})

describe('DELETE /controls/{controlId}', () => {
  it('ends it, once, and says who and when', async () => {
    const served = await serve()
    const { ask, clock } = served
    const { controlId } = await created(served)
    await clock.advance(5)
    const ended = (await ask('DELETE', `/controls/${controlId}?reason=over`)).json
    assert.deepEqual([ended.endedAt, ended.endedBy, ended.isInForce], [clock.now(), 'local', false])
    await clock.advance(5)
    assert.equal((await ask('DELETE', `/controls/${controlId}`)).json.endedAt, clock.now() - 5)
  })

  it('knows nothing of one that never was', async () => {
    const { ask } = await serve()
    const { status, json } = await ask('DELETE', '/controls/019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a')
    assert.deepEqual([status, json.code], [404, 'control-not-found'])
  })
})

describe('GET /controls/state', () => {
  it('is small, and another one only when something has changed', async () => {
    const served = await serve()
    const { ask, clock } = served
    const { controlId } = await created(served)
    const { json, headers } = await ask('GET', '/controls/state')
    assert.deepEqual(json, { now: clock.now(), controls: [{ ...STORM, controlId }] })
    const again = { headers: { 'if-none-match': headers.etag! } }
    await clock.advance(1_000)
    assert.equal((await ask('GET', '/controls/state', again)).status, 304)
    await ask('DELETE', `/controls/${controlId}`)
    assert.deepEqual((await ask('GET', '/controls/state', again)).json.controls, [])
  })
})

describe('intake-off', () => {
  it('turns tasks away with a time to come back, one by one in a batch, and lets them in when it is over', async () => {
    const served = await serve()
    const { ask } = served
    const scope = { kind: 'destination', destination: 'https://api.example' }
    const { controlId } = await created(served, { level: 'intake-off', scope, reason: 'the disk is full' })
    const refused = await ask('POST', '/retry-tasks', { body: TASK })
    assert.deepEqual([refused.status, refused.json.code], [503, 'intake-off'])
    assert.ok(Number(refused.headers['retry-after']) >= 30)
    const batch = await ask('POST', '/retry-tasks/batch', { body: [TASK, { targetUrl: 'https://other.example/' }] })
    assert.deepEqual([batch.json.created, batch.json.refused], [1, 1])
    assert.equal(batch.json.items[0].problem.code, 'intake-off')
    await ask('DELETE', `/controls/${controlId}`)
    assert.equal((await ask('POST', '/retry-tasks', { body: TASK })).status, 201)
  })

  it('that has an end asks to come back soon after it: a fifth later at the latest', async () => {
    const served = await serve()
    await created(served, { level: 'intake-off', forMs: 300_000, scope: { kind: 'all' }, reason: 'INC-2231' })
    const asked = await Promise.all(
      Array.from({ length: 20 }, () => served.ask('POST', '/retry-tasks', { body: TASK })),
    )
    const waits = asked.map(({ headers }) => Number(headers['retry-after']))
    assert.ok(Math.min(...waits) >= 300 && Math.max(...waits) <= 360, String(waits))
    assert.ok(new Set(waits).size > 10, 'nobody comes back with all the others')
  })

  it('of a whole tenant turns bodies away, too: they are the largest thing that comes in', async () => {
    const served = await serve()
    const upload = () => served.ask('POST', '/bodies', { body: 'bytes', headers: { 'content-type': 'text/plain' } })
    await created(served, { level: 'intake-off', scope: { kind: 'tenant' }, reason: 'the disk is full' })
    const refused = await upload()
    assert.deepEqual([refused.status, refused.json.code], [503, 'intake-off'])
    await served.ask('DELETE', `/controls/${(await served.ask('GET', '/controls')).json.items[0].controlId}`)
    assert.equal((await upload()).status, 201)
  })

  it('of a policy turns away its tasks alone', async () => {
    const served = await serve()
    await served.ask('POST', '/retry-policies', { body: { policyId: 'payments' } })
    await created(served, { level: 'intake-off', scope: { kind: 'policy', policyId: 'payments' }, reason: 'x' })
    const ends = [{ ...TASK, policyId: 'payments' }, TASK].map(body => served.ask('POST', '/retry-tasks', { body }))
    assert.deepEqual(
      (await Promise.all(ends)).map(({ status }) => status),
      [503, 201],
    )
  })
})
