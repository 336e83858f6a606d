import { virtualClock } from '@secondwind/resilience/testing'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'vitest'
import { openMemoryStore } from '../../stores/sqlite/sqlite-store.ts'
import { EVERY_TENANT } from '../../task/lane.ts'
import { guarded } from '../access/guarded.test-kit.ts'
import { TASK, type Answered, type ServeOptions } from '../api.test-kit.ts'
import type { ApiLimits } from '../context.ts'
import { Gate, type Entry } from './gate.ts'

const MIB = 1_048_576

/** As many requests of so many bytes as a holder can have under way. */
function fill(gate: Gate, holder: string, bytes = 0): Entry[] {
  const entries: Entry[] = []
  for (let entry = gate.enter(holder, bytes); entry !== undefined; entry = gate.enter(holder, bytes))
    entries.push(entry)
  return entries
}

function end(entry: Entry): void {
  entry.ready()
  entry.taken()
}

describe('the admission gate', () => {
  it('gives one tenant nine tenths of all requests, the next nine tenths of the rest, and operators one', () => {
    const gate = new Gate({ requests: 100, bytesUnderWay: MIB })
    const counts = ['greedy', 'other', EVERY_TENANT].map(holder => fill(gate, holder).length)
    assert.deepEqual(counts, [90, 9, 1])
  })

  it('divides bytes in the same way; small bodies are not counted', () => {
    const gate = new Gate({ requests: 1_000, bytesUnderWay: 100 * MIB })
    const counts = ['greedy', 'other', EVERY_TENANT].map(holder => fill(gate, holder, MIB).length)
    assert.deepEqual(counts, [89, 9, 1])
    assert.ok(gate.enter('greedy', 65_535))
    assert.equal(gate.enter('greedy', 65_536), undefined)
  })

  it('counts a request until its answer is ready and taken, whichever comes first', () => {
    const gate = new Gate({ requests: 10, bytesUnderWay: 10 * MIB })
    const entries = fill(gate, 'busy', MIB)
    const [first, second] = entries as [Entry, Entry]
    first.taken()
    second.ready()
    assert.equal(gate.enter('busy', MIB), undefined)
    first.ready()
    second.taken()
    // A refusal in the place of an answer is ready, too.
    first.ready()
    assert.equal(fill(gate, 'busy', MIB).length, 2)
  })

  it('counts an answer that is larger than its request as what it is', () => {
    const gate = new Gate({ requests: 10, bytesUnderWay: 10 * MIB })
    const list = gate.enter('reader', MIB)!
    assert.equal(list.hasRoomFor(11 * MIB), false)
    assert.equal(list.hasRoomFor(8 * MIB), true)
    list.count(8 * MIB)
    list.count(2 * MIB)
    assert.equal(gate.enter('reader', 2 * MIB), undefined)
    end(list)
    assert.ok(gate.enter('reader', 8 * MIB))
  })
})

/** An API whose store answers lists after `open` only. `begun` counts the lists that the store was asked for. */
async function slowLists(limits: Partial<ApiLimits>, options: ServeOptions = {}) {
  const clock = virtualClock()
  const store = openMemoryStore({ clock })
  const asked = { begun: 0 }
  let open = (): void => {}
  const opened = new Promise<void>(resolve => (open = resolve))
  const list: typeof store.list = async ask => {
    asked.begun++
    await opened
    return store.list(ask)
  }
  const served = await guarded({ ...options, clock, store: { ...store, list }, limits })
  const keyOf = async (tenant: string): Promise<string> => {
    await served.addTenant(tenant)
    return served.keyFor(tenant, 'read', 'enqueue')
  }
  const listAs = (key: string): Promise<Answered> => served.as('GET', '/retry-tasks', { key })
  return { served, keyOf, listAs, open, asked }
}

const HEALTH = ['/healthz', '/readyz', '/openapi.json']

describe('requests under way', () => {
  it('are refused in plain words beyond a tenant’s part; others, operators and health checks are answered', async () => {
    const { served, keyOf, listAs, open } = await slowLists({ requests: 100 })
    const [greedy, other] = [await keyOf('greedy'), await keyOf('other')]
    const asked = Array.from({ length: 100 }, () => listAs(greedy))
    const { status, json, headers } = await Promise.race(asked)
    assert.deepEqual([status, json.code, headers['retry-after']], [429, 'too-many-requests', '2'])
    assert.equal(json.title, 'Too many requests are under way')
    assert.match(
      json.detail,
      /^Too many requests of this tenant, or of all together, are under way; try again in 2 s\.$/,
    )
    for (const path of HEALTH) assert.equal((await served.as('GET', path)).status, 200, path)
    assert.equal((await served.as('POST', '/retry-tasks', { key: other, body: TASK })).status, 201)
    assert.equal((await served.as('GET', '/audit', { key: served.operator })).status, 200)
    open()
    const statuses = (await Promise.all(asked)).map(answer => answer.status)
    assert.deepEqual(
      [statuses.filter(each => each === 200).length, statuses.filter(each => each === 429).length],
      [90, 10],
    )
    assert.equal((await listAs(greedy)).status, 200)
  })

  it('are counted before their body is read, by the length that their head announces or by the longest', async () => {
    const { served, keyOf } = await slowLists({ bytesUnderWay: 1_000_000 })
    const [greedy, other] = [await keyOf('greedy'), await keyOf('other')]
    const post = async (key: string, bytes: number): Promise<string> =>
      (await served.as('POST', '/retry-tasks', { key, body: { ...TASK, body: 'y'.repeat(bytes) } })).json.code
    const head = (key: string): string =>
      `POST /retry-tasks/batch HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\n`
    const slow = connect(served.port, '127.0.0.1')
    slow.write(`${head(greedy)}content-length: 800000\r\nexpect: 100-continue\r\n\r\n`)
    // It is let in before the others come.
    await once(slow, 'data')
    slow.write('[')
    while ((await post(greedy, 150_000)) !== 'too-many-requests');
    assert.notEqual(await post(greedy, 1_000), 'too-many-requests')
    assert.notEqual(await post(other, 150_000), 'too-many-requests')
    const unmeasured = `${head(other)}connection: close\r\ntransfer-encoding: chunked\r\n\r\n2\r\n[]\r\n0\r\n\r\n`
    assert.match(await served.raw(unmeasured), /^HTTP\/1.1 429 [^]*too-many-requests/)
    slow.destroy()
    while ((await post(greedy, 150_000)) === 'too-many-requests');
    // A request that was answered counts no more.
    for (let n = 0; n < 10; n++) assert.notEqual(await post(greedy, 800_000), 'too-many-requests')
    assert.equal(await post(greedy, 2_000_000), 'body-too-large')
  })

  it('stay until the work for them is done, though their caller has hung up', async () => {
    const { served, keyOf, listAs, open, asked } = await slowLists({ requests: 10 })
    const hasty = await keyOf('hasty')
    for (let n = 1; n <= 9; n++) {
      const accepted = once(served.api.server, 'connection')
      const caller = connect(served.port, '127.0.0.1')
      caller.write(`GET /retry-tasks HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${hasty}\r\n\r\n`)
      const [socket] = (await accepted) as [Socket]
      while (asked.begun < n) await new Promise(setImmediate)
      const gone = once(socket, 'close')
      caller.destroy()
      await gone
    }
    assert.equal((await listAs(hasty)).status, 429)
    open()
    while ((await listAs(hasty)).status !== 200);
    assert.ok(asked.begun >= 10)
  })

  it('keep the bytes of their answers until these are taken; where there is no room a reading is refused', async () => {
    const text = 'x'.repeat(200_000)
    const metrics = async () => ({ contentType: 'text/plain', text })
    const { served, keyOf, open } = await slowLists({ bytesUnderWay: 3_000_000 }, { metrics })
    const other = await keyOf('other')
    const socket = connect(served.port, '127.0.0.1')
    const head = `HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${served.operator}\r\n\r\n`
    // Those behind the first, which waits, are answered into memory.
    socket.write(`GET /retry-tasks ${head}${`GET /metrics ${head}`.repeat(10)}`)
    const readMetrics = (): Promise<Answered> => served.as('GET', '/metrics', { key: served.operator })
    let refused = await readMetrics()
    while (refused.status === 200) refused = await readMetrics()
    assert.deepEqual([refused.status, refused.json.code], [429, 'too-many-requests'])
    assert.equal((await served.as('POST', '/retry-tasks', { key: other, body: TASK })).status, 201)
    open()
    // Its caller goes without having taken them all.
    await once(socket, 'data')
    socket.destroy()
    while ((await readMetrics()).status !== 200);
  })
})
