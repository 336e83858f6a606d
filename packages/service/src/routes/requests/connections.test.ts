import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'vitest'
import { guarded } from '../access/guarded.test-kit.ts'
import type { ServeOptions } from '../api.test-kit.ts'

/** A caller on a connection of its own, which never closes it. */
async function call(port: number, text = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  if (text !== '') socket.write(text)
  return socket
}

/** Its status; undefined for whoever is hung up on. */
async function answerOf(socket: Socket): Promise<string | undefined> {
  const [data = ''] = (await Promise.race([once(socket, 'data'), once(socket, 'end')])) as [data?: Buffer]
  return String(data).split(' ')[1]
}

const HEALTH = 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n'
const READY = 'GET /readyz HTTP/1.1\r\nhost: a\r\n\r\n'
const isGone = (socket: Socket): Promise<unknown> => once(socket.resume(), 'close')

/** So many callers at the most; whoever makes keys is one of them, an operator. */
async function crowded(connections = 3, options: ServeOptions = {}) {
  const served = await guarded({ ...options, limits: { connections } })
  const withKey = (key: string) => {
    const asked = `host: a\r\nauthorization: Bearer ${key}\r\n`
    const list = `GET /retry-tasks HTTP/1.1\r\n${asked}\r\n`
    const begun = `POST /retry-tasks HTTP/1.1\r\n${asked}content-type: application/json\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n`
    return { list, begun }
  }
  const addTenant = async (tenant: string) => {
    await served.addTenant(tenant)
    return withKey(await served.keyFor(tenant, 'read', 'enqueue'))
  }
  return { ...served, addTenant, ...withKey(served.operator) }
}

describe('connections, when they are all taken', () => {
  it('make room by the longest idle that showed no key, whether it said something or nothing', async () => {
    const { port, list, log } = await crowded(4)
    const talker = await call(port, HEALTH)
    assert.equal(await answerOf(talker), '200')
    const silent = await call(port)
    const known = await call(port, list)
    assert.equal(await answerOf(known), '200')
    const gone = isGone(talker)
    assert.equal(await answerOf(await call(port, list)), '200')
    await gone
    const silentGone = isGone(silent)
    assert.equal(await answerOf(await call(port, list)), '200')
    await silentGone
    assert.equal(log.filter(line => line.includes('connections-full')).length, 1)
    known.write(list)
    assert.equal(await answerOf(known), '200')
  })

  it('stay with those who have a request under way: whoever comes then is hung up on', async () => {
    const { port, begun } = await crowded()
    const callers: Socket[] = []
    for (let n = 0; n < 3; n++) {
      const busy = await call(port, begun)
      assert.equal(await answerOf(busy), '100')
      callers.push(busy)
    }
    await isGone(await call(port))
    for (const busy of callers) {
      busy.write('{"a": 1 }')
      assert.equal(await answerOf(busy), '400')
    }
    // One that leaves by itself makes room as well.
    callers[0]!.destroy()
    let answer: string | undefined
    while (answer === undefined) answer = await answerOf(await call(port, HEALTH)).catch(() => undefined)
    assert.equal(answer, '200')
  })

  it('make room by the one of those that showed no key that is longest under way, where none of them is idle', async () => {
    const asked: (() => void)[] = []
    const health = (): Promise<never> => new Promise(() => asked.shift()?.())
    const { port, list } = await crowded(4, { health })
    const callers: Socket[] = []
    for (let n = 0; n < 3; n++) {
      const isAsked = new Promise<void>(resolve => void asked.push(resolve))
      callers.push(await call(port, READY))
      await isAsked
    }
    for (const busy of callers.slice(0, 2)) {
      const gone = isGone(busy)
      assert.equal(await answerOf(await call(port, list)), '200')
      await gone
    }
    assert.equal(callers[2]!.destroyed, false)
    callers[2]!.destroy()
  })

  it('make room by the longest idle of whoever has most idle ones, where all have shown a key', async () => {
    const { port, addTenant, list } = await crowded(6)
    const [acme, other] = [await addTenant('acme'), await addTenant('other')]
    const callers: Socket[] = []
    for (const text of [list, other.list, acme.list, acme.list, acme.list]) {
      const socket = await call(port, text)
      assert.equal(await answerOf(socket), '200')
      callers.push(socket)
    }
    const [operators, others, first, ...rest] = callers
    const gone = isGone(first!)
    assert.equal(await answerOf(await call(port, other.list)), '200')
    await gone
    for (const [socket, text] of [[operators!, list] as const, [others!, other.list] as const]) {
      socket.write(text)
      assert.equal(await answerOf(socket), '200')
    }
    assert.ok(rest.every(({ destroyed }) => !destroyed))
  })
})

describe('connections of tenants', () => {
  it('leave some for operators, whatever tenants do', async () => {
    const { port, addTenant, list } = await crowded(10)
    const acme = await addTenant('acme')
    const busy: Socket[] = []
    for (let n = 0; n < 9; n++) {
      const socket = await call(port, acme.begun)
      assert.equal(await answerOf(socket), '100')
      busy.push(socket)
    }
    const refused = await call(port, acme.list)
    const text = String((await once(refused, 'data'))[0])
    for (const part of [/^HTTP\/1\.1 429 /, /^retry-after: \d/m, /^connection: close/m, /"too-many-connections"/])
      assert.match(text, part)
    assert.equal(await answerOf(await call(port, list)), '200')
    // As soon as one of its own is idle, that makes room for its next.
    busy[0]!.write('{"a": 1 }')
    assert.equal(await answerOf(busy[0]!), '400')
    const gone = isGone(busy[0]!)
    assert.equal(await answerOf(await call(port, acme.list)), '200')
    await gone
    // The service waits for what is under way before it ends.
    for (const socket of busy) socket.destroy()
  })
})

describe('an answer that nobody takes', () => {
  it('ends with its connection', async () => {
    const served = await guarded({ limits: { answerTimeoutMs: 100 } })
    const { operator, port, api } = served
    const headers = { authorization: `Bearer ${operator}`, 'content-type': 'application/octet-stream' }
    const put = await served.ask('POST', '/bodies', { body: Buffer.alloc(16_000_000), headers })
    assert.equal(put.status, 201)
    const accepted = once(api.server, 'connection') as Promise<[Socket]>
    const caller = connect(port, '127.0.0.1')
    caller.on('error', () => undefined).pause()
    caller.write(`GET ${put.headers.location} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${operator}\r\n\r\n`)
    const [socket] = await accepted
    await once(socket, 'close')
    caller.destroy()
  })
})

describe('requests that are sent ahead', () => {
  it('are answered in their order, as many as may be', async () => {
    const { port } = await guarded({ limits: { sentAhead: 4 } })
    const caller = await call(port, HEALTH.repeat(4))
    let text = ''
    caller.on('data', data => (text += String(data)))
    while (text.split('HTTP/1.1 200').length < 5) await once(caller, 'data')
    caller.write(HEALTH)
    assert.equal(await answerOf(caller), '200')
    caller.destroy()
  })

  it('end their connection when they are more, and nothing of the rest is begun, nor even parsed', async () => {
    for (const rest of [READY.repeat(1_000), 'GET / HTTP/1.1\r\nhost: a\r\nexpect: much\r\n\r\n']) {
      let asked = 0
      const health = (): Promise<never> => new Promise(() => asked++)
      const { port, api } = await guarded({ limits: { sentAhead: 4 }, health })
      let parsed = 0
      for (const event of ['request', 'checkExpectation']) api.server.on(event, () => parsed++)
      await isGone(await call(port, `${READY.repeat(4)}${rest}`))
      assert.deepEqual({ asked, parsed }, { asked: 4, parsed: 5 })
    }
  })
})
