import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'vitest'
import { virtualClock } from '@secondwind/resilience/testing'
import { openMemoryBodies } from '../../bodies/memory/memory-bodies.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { guarded } from './guarded.test-kit.ts'

interface Held {
  readonly path: string
  readonly key: string
  readonly body: string
  readonly type?: string
}

/** A request of which all has arrived but the last byte; `finish` sends that, and answers the line that comes back. */
async function hold(port: number, { path, key, body, type = 'application/json' }: Held) {
  const socket = connect(port, '127.0.0.1')
  const head = `POST ${path} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\ncontent-type: ${type}\r\nconnection: close\r\n`
  socket.write(`${head}content-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`)
  // The head has been looked at as soon as the body is asked for.
  assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 100/)
  socket.write(body.slice(0, -1))
  return async (): Promise<string> => {
    let text = ''
    socket.on('data', chunk => (text += String(chunk)))
    socket.write(body.slice(-1))
    await once(socket, 'close')
    return `${text.split(' ')[1]} ${/"code":"([^"]+)"/.exec(text)?.[1]}`
  }
}

/** Whoever comes to it says so, and waits until it is opened. */
function door() {
  let [reached, open] = [(): void => {}, (): void => {}]
  const reading = new Promise<void>(resolve => (reached = resolve))
  const opened = new Promise<void>(resolve => (open = resolve))
  return { reached, reading, open, opened }
}

const idOf = (key: string): string => key.split('_')[1]!

describe('a key that is revoked while its request arrives', () => {
  it('does nothing more, and makes itself no successor', async () => {
    const served = await guarded()
    const { operator, port } = served
    await served.addTenant('acme')
    const key = await served.keyFor('acme', 'admin')
    const bodies: readonly Omit<Held, 'key'>[] = [
      { path: '/keys', body: '{"scopes":["admin"]}' },
      { path: '/secrets', body: '{}' },
      { path: '/controls', body: '{"level":"dispatch-off","scope":{"kind":"tenant","tenant":"acme"},"reason":"a"}' },
      { path: '/retry-tasks', body: '{"targetUrl":"https://a.example/"}' },
      { path: '/retry-tasks/batch', body: '[{"targetUrl":"https://a.example/"}]' },
      { path: '/bodies', body: 'bytes', type: 'text/plain' },
    ]
    const held = await Promise.all(bodies.map(body => hold(port, { ...body, key })))
    assert.equal((await served.as('DELETE', `/keys/${idOf(key)}`, { key: operator })).status, 200)
    assert.deepEqual(
      await Promise.all(held.map(finish => finish())),
      bodies.map(() => '401 key-unknown'),
    )
    const { items } = (await served.as('GET', '/keys', { key: operator, tenant: 'acme' })).json
    assert.deepEqual(items, [])
  })

  it('nor does the text that was rotated away without an overlap', async () => {
    const served = await guarded()
    const { operator, port } = served
    await served.addTenant('acme')
    const key = await served.keyFor('acme', 'admin')
    const finish = await hold(port, { path: '/keys', body: '{"scopes":["admin"]}', key })
    const rotated = await served.as('POST', `/keys/${idOf(key)}/rotate`, { key: operator, body: { overlapMs: 0 } })
    assert.equal(rotated.status, 200)
    assert.equal(await finish(), '401 key-unknown')
  })

  it('is looked at again right before what opens or shuts doors is written', async () => {
    const clock = virtualClock()
    const store = openMemoryStore({ clock })
    const { reached, reading, open, opened } = door()
    let isSlow = false
    const record: typeof store.record = async name => {
      const found = await store.record(name)
      if (isSlow && name.kind === 'key') {
        isSlow = false
        reached()
        await opened
      }
      return found
    }
    const served = await guarded({ clock, store: { ...store, record } })
    const { operator } = served
    await served.addTenant('acme')
    const [key, other] = [await served.keyFor('acme', 'admin'), await served.keyFor('acme', 'read')]
    isSlow = true
    const rotated = served.as('POST', `/keys/${idOf(other)}/rotate`, { key, body: {} })
    await reading
    assert.equal((await served.as('DELETE', `/keys/${idOf(key)}`, { key: operator })).status, 200)
    open()
    assert.deepEqual([(await rotated).status, (await rotated).json.code], [401, 'key-unknown'])
  })

  it('is shown nothing of what was read for it meanwhile', async () => {
    const clock = virtualClock()
    const store = openMemoryStore({ clock })
    const { reached, reading, open, opened } = door()
    const list: typeof store.list = async ask => {
      reached()
      await opened
      return store.list(ask)
    }
    const served = await guarded({ clock, store: { ...store, list } })
    const { operator } = served
    await served.addTenant('acme')
    const key = await served.keyFor('acme', 'read')
    const [listed, operators] = [key, operator].map(each => served.as('GET', '/retry-tasks', { key: each }))
    await reading
    assert.equal((await served.as('DELETE', `/keys/${idOf(key)}`, { key: operator })).status, 200)
    open()
    assert.deepEqual([(await listed!).status, (await listed!).json.code], [401, 'key-unknown'])
    assert.equal((await operators!).status, 200)
  })
})

describe('a key that is revoked while a body is read for it', () => {
  const PARTS = ['first, ', 'second, ', 'last']

  /** Whose bodies come in parts; before the last of the so-manyth reading there is a door. */
  async function answerOf(reading: number): Promise<string> {
    const clock = virtualClock()
    const bodies = openMemoryBodies({ clock })
    const between = door()
    let readings = 0
    async function* inParts(isHeld: boolean): AsyncIterable<Uint8Array> {
      for (const part of PARTS) {
        if (isHeld && part === 'last') {
          between.reached()
          await between.opened
        }
        yield Buffer.from(part)
      }
    }
    const served = await guarded({ clock, bodies: { ...bodies, read: async () => inParts(++readings === reading) } })
    await served.addTenant('acme')
    const key = await served.keyFor('acme', 'enqueue', 'read-bodies')
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/plain' }
    const { json } = await served.ask('POST', '/bodies', { body: PARTS.join(''), headers })
    const answer = served.raw(
      `GET /bodies/${json.bodyRef} HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\nconnection: close\r\n\r\n`,
    )
    await between.reading
    assert.equal((await served.as('DELETE', `/keys/${idOf(key)}`, { key: served.operator })).status, 200)
    between.open()
    return answer
  }

  it('is answered with nothing of it', async () => {
    assert.match(await answerOf(1), /^HTTP\/1.1 401 [^]*key-unknown/)
  })

  it('is sent nothing more of it', async () => {
    const text = await answerOf(2)
    assert.match(text, /^HTTP\/1.1 200 /)
    assert.doesNotMatch(text, /last/)
  })
})
