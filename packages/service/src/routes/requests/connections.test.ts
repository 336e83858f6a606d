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

/** Its status; undefined for whoever is hung up on. */
async function answerOf(socket: Socket): Promise<string | undefined> {
  const [data = ''] = (await Promise.race([once(socket, 'data'), once(socket, 'end')])) as [data?: Buffer]
  return String(data).split(' ')[1]
}

const HEALTH = 'GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n'
const isGone = (socket: Socket): Promise<unknown> => once(socket.resume(), 'close')

/** Three callers at the most; those who are made here do not count. */
async function crowded() {
  const served = await guarded({ limits: { connections: 3 } })
  const asked = `host: a\r\nauthorization: Bearer ${served.operator}\r\n`
  const list = `GET /retry-tasks HTTP/1.1\r\n${asked}\r\n`
  const begun = `POST /retry-tasks HTTP/1.1\r\n${asked}content-type: application/json\r\ncontent-length: 9\r\nexpect: 100-continue\r\n\r\n`
  return { ...served, list, begun }
}

describe('connections, when they are all taken', () => {
  it('make room by the longest idle that showed no key, whether it said something or nothing', async () => {
    const { port, list, log } = await crowded()
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

  it('stay with those who have a request under way, or showed a good key: whoever comes then is hung up on', async () => {
    const { port, list, begun } = await crowded()
    const [known, busy] = [await call(port, list), await call(port, begun)]
    assert.equal(await answerOf(known), '200')
    assert.equal(await answerOf(busy), '100')
    const other = await call(port, list)
    assert.equal(await answerOf(other), '200')
    await isGone(await call(port))
    for (const socket of [known, other]) {
      socket.write(list)
      assert.equal(await answerOf(socket), '200')
    }
    busy.write('{"a": 1 }')
    assert.equal(await answerOf(busy), '400')
    // One that leaves by itself makes room as well.
    known.destroy()
    let answer: string | undefined
    while (answer === undefined) answer = await answerOf(await call(port, HEALTH)).catch(() => undefined)
    assert.equal(answer, '200')
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
