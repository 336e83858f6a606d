import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'vitest'
import { guarded } from '../access/guarded.test-kit.ts'

/** A caller on a connection of its own, which never closes it. */
async function call(port: number, text = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  if (text !== '') socket.write(text)
  return socket
}

/** The status of the answer; undefined if the caller is hung up on. */
async function answerOf(socket: Socket): Promise<string | undefined> {
  const [data = ''] = (await Promise.race([once(socket, 'data'), once(socket, 'end')])) as [data?: Buffer]
  return String(data).split(' ')[1]
}

const HEALTH = 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n'
const isGone = (socket: Socket): Promise<unknown> => once(socket.resume(), 'close')

function requestsWith(key: string) {
  const asked = `host: a\r\nauthorization: Bearer ${key}\r\n`
  return {
    list: `GET /retry-tasks HTTP/1.1\r\n${asked}\r\n`,
    /** Half a request: its body is still to come. */
    begun: `POST /retry-tasks HTTP/1.1\r\n${asked}content-type: application/json\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n`,
  }
}

describe('connections, when they are all taken', () => {
  it('are closed unless they serve an admitted request, so that an operator gets in when it tries again', async () => {
    const { port, operator, log, addTenant, keyFor } = await guarded({ limits: { connections: 40 } })
    await addTenant('acme')
    const tenant = requestsWith(await keyFor('acme', 'read', 'enqueue'))
    const busy = await call(port, tenant.begun)
    assert.equal(await answerOf(busy), '100')
    const spared: Promise<unknown>[] = []
    const kinds = ['', 'GET /half', HEALTH, tenant.list, 'GET /retry-tasks HTTP/1.1\r\nhost: a\r\n\r\n'] as const
    // One connection is the one by which the keys were made.
    for (let n = 0; n < 38; n++) {
      const text = kinds[n % kinds.length]!
      const caller = await call(port, text)
      if (text.endsWith('\r\n\r\n')) assert.ok(['200', '401'].includes((await answerOf(caller))!))
      spared.push(isGone(caller))
    }
    const { list } = requestsWith(operator)
    assert.equal(await answerOf(await call(port, list)).catch(() => undefined), undefined)
    await Promise.all(spared)
    assert.equal(await answerOf(await call(port, list)), '200')
    assert.equal(log.filter(line => line.includes('connections-full')).length, 1)
    busy.write('{"a": 1 }')
    assert.equal(await answerOf(busy), '400')
  })
})

describe('one connection', () => {
  it('serves a thousand requests; Node refuses those that are sent after them', async () => {
    const { port } = await guarded()
    const caller = await call(port, HEALTH.repeat(1_010))
    let text = ''
    caller.on('data', data => (text += String(data)))
    const answers = (status = '') => text.split(`HTTP/1.1 ${status}`).length - 1
    while (answers() < 1_010) await once(caller, 'data')
    assert.deepEqual([answers('200'), answers('503')], [1_000, 10])
    caller.destroy()
  })
})

describe('an answer that its caller does not take', () => {
  it('ends with its connection', async () => {
    const served = await guarded({ limits: { socketTimeoutMs: 100 } })
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
