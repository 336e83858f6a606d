import { virtualClock } from '@secondwind/resilience/testing'
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { describe, it } from 'vitest'
import { LOCAL_CALLER } from '../../access/caller.ts'
import { openMemoryStore } from '../../stores/sqlite/sqlite-store.ts'
import type { Store } from '../../stores/store.ts'
import { numbered, tellChange, toldIn } from '../../telemetry/stream/stream.test-kit.ts'
import { guarded } from '../access/guarded.test-kit.ts'
import { attempt, refusalOf, serve, TASK, type ServeOptions } from '../api.test-kit.ts'
import { listenTo, type Listening } from './listen.test-kit.ts'

/** A turn of the stream, and what it brought. */
async function turn(served: Awaited<ReturnType<typeof serve>>, ...listening: Listening[]): Promise<void> {
  const before = listening.map(({ text }) => text().length)
  await served.clock.advance(100)
  await Promise.all(
    listening.map(({ until }, place) => until(text => text.length > before[place]! && text.endsWith('\n\n'))),
  )
}

const EVENTS = 'GET /events HTTP/1.1\r\nhost: localhost\r\n\r\n'

/** Who asks is said by a header, as a key would. */
const WITH_TENANTS: ServeOptions = {
  practice: scope =>
    scope.addHook('preValidation', (request, _, done) => {
      const tenant = String(request.headers['x-tenant'])
      request.caller = { ...LOCAL_CALLER, actor: tenant, tenant, isForAll: false }
      done()
    }),
}

describe('GET /events', () => {
  it('tells what becomes of a task, from the moment it is accepted', async () => {
    const served = await serve()
    const { ask, port, clock } = served
    const listening = await listenTo(port, '?types=task', { 'secondwind-tenant': 'default' })
    assert.match(String(listening.response.headers['content-type']), /^text\/event-stream/)
    assert.equal(listening.response.headers['cache-control'], 'no-store')
    assert.ok(listening.response.headers['x-request-id'])
    const { taskId } = (await ask('POST', '/retry-tasks', { body: TASK })).json
    const batch = await ask('POST', '/retry-tasks/batch', { body: [{ ...TASK, targetUrl: 'https://b.example' }] })
    await ask('POST', `/retry-tasks/${taskId}/attempt-now`)
    await attempt(served, taskId, { outcome: { kind: 'failure', fault: 'permanent' }, errorCode: 'http-400' })
    await ask('POST', `/retry-tasks/${taskId}/replay`)
    await ask('DELETE', `/retry-tasks/${taskId}`)
    const now = clock.now()
    await turn(served, listening)
    assert.deepEqual(listening.heard().map(toldIn), [
      { taskId, destination: 'https://api.example', status: 'PENDING', attemptNumber: 0, nextAttemptAt: now },
      {
        taskId: batch.json.items[0].taskId,
        destination: 'https://b.example',
        status: 'PENDING',
        attemptNumber: 0,
        nextAttemptAt: now,
      },
      { taskId, destination: 'https://api.example', status: 'PENDING', attemptNumber: 0, nextAttemptAt: now },
      {
        taskId,
        destination: 'https://api.example',
        status: 'PENDING',
        attemptNumber: 0,
        nextAttemptAt: now,
        outcome: 'permanent',
        errorCode: 'http-400',
      },
      {
        taskId,
        destination: 'https://api.example',
        status: 'CANCELLED',
        attemptNumber: 0,
        outcome: 'permanent',
        errorCode: 'http-400',
      },
    ])
  })

  it('tells nothing of a task that was there already', async () => {
    const served = await serve()
    const listening = await listenTo(served.port)
    const body = { ...TASK, idempotencyKey: 'once' }
    await served.ask('POST', '/retry-tasks', { body })
    await served.ask('POST', '/retry-tasks', { body })
    await served.ask('POST', '/retry-tasks/batch', { body: [body] })
    await turn(served, listening)
    assert.equal(listening.heard().length, 1)
  })

  it('goes on after a connection that broke, without loss or repetition: by header, and by query', async () => {
    const served = await serve()
    const { stream } = served.live
    const heard: unknown[] = []
    let listening = await listenTo(served.port)
    for (let round = 0; round < 6; round++) {
      for (const taskId of numbered(5, round * 10)) tellChange(stream, { taskId })
      await turn(served, listening)
      heard.push(...listening.heard().map(({ data }) => data['taskId']))
      const id = listening.lastId()
      listening.leave()
      for (const taskId of numbered(5, round * 10 + 5)) tellChange(stream, { taskId })
      listening =
        round % 2 === 0
          ? await listenTo(served.port, '', { 'last-event-id': id })
          : await listenTo(served.port, `?since=${id}`)
    }
    await turn(served, listening)
    heard.push(...listening.heard().map(({ data }) => data['taskId']))
    assert.deepEqual(heard, numbered(60))
  })

  it('says what is missing: what is no longer kept, and what another process told', async () => {
    const served = await serve({ streamLimits: { events: 2 } })
    // Nothing is kept before somebody has listened.
    const first = await listenTo(served.port)
    first.leave()
    for (const taskId of numbered(10)) tellChange(served.live.stream, { taskId })
    const old = await listenTo(served.port, '', { 'last-event-id': '5f0c7a1b-3' })
    const foreign = await listenTo(served.port, '', { 'last-event-id': '99999999-3' })
    await turn(served, old)
    await foreign.until(text => text.includes('restart'))
    assert.deepEqual(
      old.heard().map(({ type, data }) => (type === 'gap' ? data : data['taskId'])),
      [{ because: 'too-old', missed: 5 }, 't8', 't9'],
    )
    assert.deepEqual(foreign.heard(), [{ type: 'gap', id: '5f0c7a1b-10', data: { because: 'restart' } }])
  })

  it('shows each tenant its own events, whatever it asks for', async () => {
    const served = await serve(WITH_TENANTS)
    const { stream } = served.live
    const one = await listenTo(served.port, '', { 'x-tenant': 'one' })
    const two = await listenTo(served.port, '?taskId=019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a', { 'x-tenant': 'two' })
    tellChange(stream, { tenant: 'one', taskId: '019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a' })
    stream.tell({ tenant: 'one', type: 'control', data: { level: 'retries-off' } })
    await turn(served, one)
    const late = await listenTo(served.port, '?since=5f0c7a1b-0', { 'x-tenant': 'two' })
    tellChange(stream, { tenant: 'two', taskId: 'theirs' })
    await turn(served, late)
    assert.equal(one.heard().length, 2)
    assert.deepEqual(two.heard(), [])
    assert.deepEqual(
      late.heard().map(({ id, data }) => [id, data['taskId']]),
      [['5f0c7a1b-1', 'theirs']],
    )
  })

  it('cuts off a listener whose connection takes nothing, and goes on for the others', async () => {
    const served = await serve()
    const { live, clock, api, port } = served
    const slow = await listenTo(port)
    slow.response.pause()
    const connections = (): Promise<number> =>
      new Promise(resolve => api.server.getConnections((_, count) => resolve(count)))
    // As much as the buffers of a socket take, and then ten seconds in which nothing is taken.
    const longName = 'd'.repeat(8_000)
    for (let turns = 0; turns < 1_000 && (await connections()) > 0; turns++) {
      for (const taskId of numbered(8)) tellChange(live.stream, { taskId, destination: longName })
      await clock.advance(100)
    }
    assert.equal(await connections(), 0)
    const quick = await listenTo(port)
    tellChange(live.stream, { taskId: 'still' })
    await turn(served, quick)
    assert.deepEqual(
      quick.heard().map(({ data }) => data['taskId']),
      ['still'],
    )
  })

  it('refuses one listener too many, and says when to come back', async () => {
    const served = await serve({ streamLimits: { listeners: 1 } })
    const first = await listenTo(served.port)
    const answer = await served.ask('GET', '/events')
    assert.deepEqual(refusalOf(answer), [429, 'too-many-listeners'])
    assert.ok(Number(answer.headers['retry-after']) >= 10)
    first.leave()
    for (;;) if ((await served.ask('GET', '/events')).status === 200) break
  })

  it('takes a place back when the connection closes, even before the stream could begin', async () => {
    const store: Store = {
      ...openMemoryStore({ clock: virtualClock() }),
      list: () => new Promise(() => {}),
    }
    const served = await serve({ store, streamLimits: { listeners: 1 } })
    const { stream } = served.live
    const hearer = { tenant: 'default', isOperator: true }
    const waiting = connect(served.port, '127.0.0.1')
    waiting.write(`GET /retry-tasks HTTP/1.1\r\nhost: localhost\r\n\r\n${EVENTS}`)
    while (stream.hasRoom(hearer)) await served.ask('GET', '/healthz')
    waiting.destroy()
    // A test that waits in vain ends by its own time-out.
    while (!stream.hasRoom(hearer)) await served.ask('GET', '/healthz')
    assert.ok(stream.hasRoom(hearer))
  })

  it('leaves room for another tenant, and for an operator, however often one asks', async () => {
    const served = await guarded({ streamLimits: { listeners: 4 } })
    const keys = []
    for (const tenant of ['greedy', 'other', 'late']) {
      await served.addTenant(tenant)
      keys.push(await served.keyFor(tenant, 'read'))
    }
    const [greedy, other, late] = keys as [string, string, string]
    const listen = (key: string) => listenTo(served.port, '', { authorization: `Bearer ${key}` })
    const refused = async (key: string) => refusalOf(await served.as('GET', '/events', { key }))
    for (const key of [greedy, greedy]) await listen(key)
    assert.deepEqual(await refused(greedy), [429, 'too-many-listeners'])
    await listen(other)
    assert.deepEqual(await refused(late), [429, 'too-many-listeners'])
    await listen(served.operator)
  })

  it('ends when whoever listens may no longer do so', async () => {
    let isAllowed = true
    const asked: unknown[] = []
    const served = await serve({
      isStillAllowed: async caller => {
        asked.push(caller.tenant)
        return isAllowed
      },
    })
    const listening = await listenTo(served.port)
    await served.clock.advance(5_100)
    isAllowed = false
    await served.clock.advance(5_100)
    await listening.closed
    assert.deepEqual(asked, ['default', 'default'])
  })

  it('ends when the service stops, and does not keep it from stopping', async () => {
    const served = await serve()
    const listening = await listenTo(served.port)
    tellChange(served.live.stream, { taskId: 'last' })
    await served.close()
    await listening.closed
    assert.deepEqual(
      listening.heard().map(({ data }) => data['taskId']),
      ['last'],
    )
    assert.equal(listening.response.complete, true)
  })

  it('tells the listener to wait for one to two seconds before it comes back', async () => {
    const served = await serve()
    const { text, until } = await listenTo(served.port)
    await until(all => all.includes(': listening'))
    const waitMs = Number(/^retry: (\d+)$/m.exec(text())![1])
    assert.ok(waitMs >= 1_000 && waitMs <= 2_000)
  })

  it('refuses what it cannot filter by, and has no head', async () => {
    const { ask } = await serve()
    assert.deepEqual(refusalOf(await ask('GET', '/events?types=task,tasks&since=x&destinaton=a')), [
      400,
      'invalid-request',
      'destinaton is an unknown parameter; did you mean destination?',
      'types must be some of task, counters, destination, control, replay, gap, with commas between them',
      'since must be the id of an event that was heard, such as 5f0c7a1b-41',
    ])
    assert.equal((await ask('HEAD', '/events')).status, 405)
  })
})
