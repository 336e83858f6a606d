import assert from 'node:assert/strict'
import { expectNoLeaks, type ScriptEntry } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { refusal, scriptedClient, TASK_ID, type ScriptedClient } from '../client.test-kit.ts'
import { ServiceError, UnreachableError } from '../errors.ts'
import type { EventFilter, ServiceEvent } from '../wire/event.ts'

const HEADERS = { 'content-type': 'text/event-stream' }

function frame(number: number, taskId = `t${number}`): string {
  return `event: task\nid: 5f0c7a1b-${number}\ndata: {"at":1,"taskId":"${taskId}","status":"SUCCEEDED"}\n\n`
}

function stream(text: string, ending?: 'reset' | 'hang'): ScriptEntry {
  return { headers: HEADERS, body: text, ...(ending && { ending }) }
}

/** Listens until `count` events came, or it fails. */
async function heard(scripted: ScriptedClient, count: number, filter: EventFilter = {}): Promise<ServiceEvent[]> {
  const events: ServiceEvent[] = []
  const listening = (async () => {
    for await (const event of scripted.client.events(filter)) {
      events.push(event)
      if (events.length === count) return
    }
  })()
  await scripted.end(listening)
  return events
}

describe('client.events', () => {
  it('gives each event with its type and its id, and asks for what was wanted', async () => {
    const gap = 'event: gap\nid: 5f0c7a1b-9\ndata: {"because":"too-many","missed":3}\n\n'
    const scripted = scriptedClient([
      stream(`retry: 1000\n\n${frame(1)}event: newer\nid: 5f0c7a1b-2\ndata: {}\n\n${gap}`),
    ])
    const events = await heard(scripted, 2, { taskId: TASK_ID, types: ['task', 'gap'], since: '5f0c7a1b-0' })
    assert.deepEqual(events, [
      { type: 'task', eventId: '5f0c7a1b-1', at: 1, taskId: 't1', status: 'SUCCEEDED' },
      { type: 'gap', eventId: '5f0c7a1b-9', because: 'too-many', missed: 3 },
    ])
    const [{ path, headers }] = scripted.server.requests as [(typeof scripted.server.requests)[number]]
    assert.equal(path, `/events?taskId=${TASK_ID}&types=task%2Cgap`)
    assert.deepEqual([headers['accept'], headers['last-event-id']], ['text/event-stream', '5f0c7a1b-0'])
  })

  it('is asked for with the key and for the tenant of its client', async () => {
    const scripted = scriptedClient([stream(frame(1))], { key: 'swk_example', tenant: 'acme' })
    await heard(scripted, 1)
    const [{ headers }] = scripted.server.requests as [(typeof scripted.server.requests)[number]]
    assert.deepEqual([headers['authorization'], headers['secondwind-tenant']], ['Bearer swk_example', 'acme'])
  })

  it('goes on after the last event when the connection ends, breaks or falls silent', async () => {
    const scripted = scriptedClient([
      stream(frame(1)),
      stream(frame(2), 'reset'),
      stream(frame(3) + 'event: task\nid: 5f0c7a1b-4\nda', 'hang'),
      'reset',
      refusal(503, 'not-ready'),
      stream(frame(4)),
    ])
    const events = await heard(scripted, 4)
    assert.deepEqual(
      events.map(({ eventId }) => eventId),
      [1, 2, 3, 4].map(number => `5f0c7a1b-${number}`),
    )
    assert.deepEqual(
      scripted.server.requests.map(({ headers }) => headers['last-event-id']),
      [undefined, '5f0c7a1b-1', '5f0c7a1b-2', '5f0c7a1b-3', '5f0c7a1b-3', '5f0c7a1b-3'],
    )
    assert.ok(scripted.server.requests[3]!.at - scripted.server.requests[2]!.at >= 45_000, 'silence is waited out')
  })

  it('comes back no earlier than the service asked for, and later with every failure', async () => {
    const scripted = scriptedClient([stream(`retry: 3000\n\n${frame(1)}`), 'reset', stream(frame(2))])
    await heard(scripted, 2)
    const [first, second, third] = scripted.server.requests
    assert.ok(second!.at - first!.at >= 3_000 && third!.at - second!.at >= 3_000)
  })

  it('comes back after half a minute, though it was asked to stay away for days', async () => {
    const scripted = scriptedClient([stream(`retry: 999999999\n\n${frame(1)}`), stream(frame(2))])
    await heard(scripted, 2)
    const [first, second] = scripted.server.requests
    assert.equal(second!.at - first!.at, 30_000)
  })

  it('gives up on a service that was there after a minute, and on one that never was after ten seconds', async () => {
    const gone = scriptedClient([stream(frame(1)), 'reset'])
    await assert.rejects(heard(gone, 2), UnreachableError)
    assert.ok(gone.clock.monotonic() >= 60_000 && gone.clock.monotonic() < 70_000)
    const never = scriptedClient(['reset'])
    await assert.rejects(heard(never, 1), UnreachableError)
    assert.ok(never.clock.monotonic() >= 10_000 && never.clock.monotonic() < 20_000)
  })

  it('throws at once what no waiting mends', async () => {
    const refused = scriptedClient([refusal(400, 'invalid-request')])
    await assert.rejects(heard(refused, 1), ServiceError)
    const full = scriptedClient([refusal(429, 'too-many-listeners', {}, { 'retry-after': '15' })])
    await assert.rejects(heard(full, 1), /too-many-listeners/)
    assert.deepEqual([refused.server.requests.length, full.server.requests.length], [1, 1])
  })

  it('throws at once what is no event of the service, and says so', async () => {
    for (const data of ['notjson', '7', 'null', '[]', '{"at":1}']) {
      const scripted = scriptedClient([stream(`${frame(1)}event: task\ndata: ${data}\n\n`)])
      await assert.rejects(heard(scripted, 2), (error: unknown) => {
        assert.ok(error instanceof ServiceError && error.code === 'unexpected-answer', String(error))
        assert.match(error.detail, /an event task does not hold what it should/)
        return true
      })
      assert.equal(scripted.server.requests.length, 1)
    }
  })

  it('refuses what it cannot ask for', async () => {
    const scripted = scriptedClient([stream('')])
    for (const wrong of [{ types: ['tasks'] }, { types: [] }, { taskId: 'a' }, { since: 'x' }, { destinaton: 'a' }])
      await assert.rejects(heard(scripted, 1, wrong as never), /events cannot be listened to/)
    assert.equal(scripted.server.requests.length, 0)
  })

  it('ends with the reason of an abort, and leaves nothing behind; nor does a loop that is left', async () => {
    for (const script of [[stream(frame(1), 'hang')], [stream(frame(1)), 'hang' as const]]) {
      const { client, clock } = scriptedClient(script)
      await expectNoLeaks(
        async leaks => {
          const controller = leaks.controller()
          const listening = (async () => {
            for await (const _ of client.events({}, { signal: controller.signal })) continue
          })()
          listening.catch(() => {})
          await clock.advance(5_000)
          const reason = new Error('the user left')
          controller.abort(reason)
          await assert.rejects(listening, reason)
        },
        { clock },
      )
    }
    const left = scriptedClient([stream(frame(1), 'hang')])
    await expectNoLeaks(async () => void (await heard(left, 1)), { clock: left.clock })
  })
})

describe('client.series', () => {
  it('asks for what was wanted, and refuses what cannot be', async () => {
    const series = { resolution: 'minute', slots: [] }
    const { client, server, end } = scriptedClient([{ body: series }])
    assert.deepEqual(await end(client.series({ destination: 'https://a.example', resolution: 'minute' })), series)
    assert.equal(server.requests[0]!.path, '/series?destination=https%3A%2F%2Fa.example&resolution=minute')
    await assert.rejects(client.series({ resolution: 'hour' as never, from: 5 }), /resolution.*from/s)
  })
})
