import { virtualClock } from '@secondwind/resilience/testing'
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'vitest'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { guarded } from '../access/guarded.test-kit.ts'
import type { Answered, Served } from '../api.test-kit.ts'
import type { ApiLimits } from '../context.ts'

/** An API whose store answers no list before it is told to; `begun` are the tenants whose lists it was asked for. */
async function slowLists(limits: Partial<ApiLimits> = { lists: 200 }) {
  const clock = virtualClock()
  const store = openMemoryStore({ clock })
  const begun: string[] = []
  let open = (): void => {}
  const opened = new Promise<void>(resolve => (open = resolve))
  const list: typeof store.list = async ask => {
    begun.push(ask.filter.tenant!)
    await opened
    return store.list(ask)
  }
  const served = await guarded({ clock, store: { ...store, list }, limits })
  const keyOf = async (tenant: string): Promise<string> => {
    await served.addTenant(tenant)
    return served.keyFor(tenant, 'read')
  }
  const listAs = (key: string): Promise<Answered> => served.as('GET', '/retry-tasks', { key })
  return { served, keyOf, listAs, open, begun }
}

describe('lists under way', () => {
  it('are bounded: a tenant leaves places for others and for operators, and is told when to come back', async () => {
    const { served, keyOf, listAs, open } = await slowLists()
    const [greedy, other] = [await keyOf('greedy'), await keyOf('other')]
    const refused: Answered[] = []
    const asked: Promise<void>[] = []
    const enough = new Promise<void>(resolve => {
      const askOne = async (): Promise<void> => {
        const answer = await listAs(greedy)
        if (answer.status === 429 && refused.push(answer) === 20) resolve()
      }
      while (asked.length < 200) asked.push(askOne())
    })
    await enough
    const [first] = refused
    assert.deepEqual([first!.json.code, Number(first!.headers['retry-after']) >= 1], ['too-many-lists', true])
    const admitted = [listAs(other), listAs(served.operator)]
    open()
    assert.deepEqual(
      (await Promise.all(admitted)).map(({ status }) => status),
      [200, 200],
    )
    await Promise.all(asked)
    assert.equal(refused.length, 20)
  })

  it('keep place and bytes until their answers have been taken', async () => {
    for (const [limits, said] of [
      [{ lists: 10 }, /10 lists may be under way/],
      [{ listBytes: 100 }, /100 bytes of answers may be under way/],
    ] as const) {
      const { served, keyOf, listAs, open } = await slowLists(limits)
      const [reader, other] = [await keyOf('reader'), await keyOf('other')]
      // Those behind the first, which waits, are answered into memory.
      const socket = connect(served.port, '127.0.0.1')
      const head = `HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${reader}\r\n\r\n`
      socket.write(`GET /retry-tasks ${head}${`GET /retry-policies ${head}`.repeat(12)}`)
      const listPolicies = (key: string): Promise<Answered> => served.as('GET', '/retry-policies', { key })
      let refused = await listPolicies(reader)
      while (refused.status === 200) refused = await listPolicies(reader)
      assert.deepEqual([refused.status, refused.json.code], [429, 'too-many-lists'])
      assert.match(refused.json.detail, said)
      assert.equal((await listPolicies(other)).status, 200)
      open()
      // It goes without having taken them all.
      await once(socket, 'data')
      socket.destroy()
      while ((await listAs(reader)).status !== 200);
    }
  })

  it('give their places back, whatever was answered', async () => {
    const { keyOf, listAs, served, open } = await slowLists()
    const key = await keyOf('busy')
    open()
    for (let round = 0; round < 3; round++) {
      const answers = await Promise.all(Array.from({ length: 100 }, () => listAs(key)))
      assert.ok(answers.every(({ status }) => status === 200))
      const broken = Array.from({ length: 100 }, () => served.as('GET', '/retry-tasks?cursor=none', { key }))
      assert.ok((await Promise.all(broken)).every(({ status }) => status === 400))
    }
  })
})

/** So many of one reader are under way. */
const AT_ONCE = 4

/** Resolves when so many more requests have come in. */
function arrived({ api }: Pick<Served, 'api'>, count: number): Promise<void> {
  let left = count
  return new Promise(resolve => {
    api.server.on('request', () => {
      if (--left === 0) resolve()
    })
  })
}

describe('lists that wait for others of their reader', () => {
  it('are forgotten when their caller goes, and so are their places', async () => {
    const { served, keyOf, listAs, open, begun } = await slowLists({ lists: 20 })
    const key = await keyOf('hasty')
    let come = arrived(served, AT_ONCE)
    const first = Array.from({ length: AT_ONCE }, () => listAs(key))
    await come
    come = arrived(served, 14)
    const accepted = once(served.api.server, 'connection')
    const socket = connect(served.port, '127.0.0.1')
    socket.write(`GET /retry-tasks HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\n\r\n`.repeat(14))
    await come
    assert.equal((await listAs(key)).status, 429)
    const [itsEnd] = (await accepted) as [Socket]
    const gone = once(itsEnd, 'close')
    socket.destroy()
    await gone
    const last = listAs(key)
    open()
    assert.ok((await Promise.all([...first, last])).every(({ status }) => status === 200))
    assert.equal(begun.length, AT_ONCE + 1)
  })
})

describe('what reads as much as a list', () => {
  it('takes a place as one: a preview, one control, one replay, one destination', async () => {
    const { served, listAs, open } = await slowLists({ lists: 10 })
    await served.addTenant('greedy')
    const key = await served.keyFor('greedy', 'read', 'operate')
    const control = { level: 'intake-off', scope: { kind: 'tenant' }, reason: 'a drill' }
    const { controlId } = (await served.as('POST', '/controls', { key, body: control })).json
    const asked = Array.from({ length: 10 }, () => listAs(key))
    assert.equal((await Promise.race(asked)).status, 429)
    for (const [method, path, body] of [
      ['POST', '/controls', { ...control, preview: true }],
      ['GET', `/controls/${controlId}`],
      ['GET', '/replays/019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a'],
      ['GET', '/destinations/https%3A%2F%2Fapi.example'],
    ] as const) {
      const { status, json } = await served.as(method, path, { key, body })
      assert.deepEqual([status, json.code], [429, 'too-many-lists'], `${method} ${path}`)
    }
    assert.equal((await served.as('POST', '/controls', { key, body: control })).status, 201, 'it waits for nothing')
    open()
    await Promise.all(asked)
  })
})

describe('other answers', () => {
  it('count by their bytes, until they have been taken: nothing more is read or done meanwhile', async () => {
    const { served, keyOf, open } = await slowLists({ listBytes: 100 })
    const [greedy, other] = [await keyOf('greedy'), await keyOf('other')]
    const reason = 'r'.repeat(400)
    for (let n = 0; n < 12; n++) {
      const scope = { kind: 'destination', destination: `https://${n}.example` }
      const body = { level: 'retries-off', scope, reason }
      assert.equal((await served.as('POST', '/controls', { key: served.operator, body })).status, 201)
    }
    const stateAs = (key: string): Promise<Answered> => served.as('GET', '/controls/state', { key })
    assert.equal((await stateAs(greedy)).status, 200)
    const socket = connect(served.port, '127.0.0.1')
    const head = `HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${greedy}\r\n\r\n`
    // Behind the first, which waits, it is answered into memory.
    socket.write(`GET /retry-tasks ${head}GET /controls/state ${head}`)
    let refused = await stateAs(greedy)
    while (refused.status === 200) refused = await stateAs(greedy)
    assert.deepEqual([refused.status, refused.json.code], [429, 'too-many-lists'])
    assert.match(refused.json.detail, /100 bytes of answers may be under way/)
    // Small as it is.
    assert.equal((await served.as('GET', '/series', { key: greedy })).json.code, 'too-many-lists')
    assert.equal((await stateAs(other)).status, 200)
    open()
    socket.destroy()
    while ((await stateAs(greedy)).status !== 200);
  })
})
