import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe, it } from 'vitest'
import { LOOPBACK_RULES, parseAllowTarget, type AllowRule } from '../allow-target.ts'
import type { Lookup } from '../guard.ts'
import { answer, localTarget, rawServer, send, type RawServer } from './wire.test-kit.ts'

const rule = (text: string): AllowRule => parseAllowTarget(text).rule!

const addresses = (...list: readonly string[]): Awaited<ReturnType<Lookup>> =>
  list.map(address => ({ address, family: address.includes(':') ? 6 : 4 }))

const hasIpv6 = await new Promise<boolean>(resolve => {
  const probe = createServer().once('error', () => resolve(false))
  probe.listen(0, '::1', () => probe.close(() => resolve(true)))
})

/** Loopback, in every spelling that leads a socket there. */
const SPELLINGS =
  '127.0.0.1 127.1 127.0.1 0x7f.1 0x7f000001 0177.0.0.1 2130706433 017700000001 127.0.0.1. 0 ' +
  '0.0.0.0 127.255.255.254 １２７.０.０.１ ①②⑦.0.0.1 127。0。0。1 %31%32%37.0.0.1 [::1] [::] ' +
  '[0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [::ffff:0.0.0.0] ' +
  'localhost LOCALHOST localhost. loopback.example mapped.example mixed.example'

const NAMES: { readonly [host: string]: Awaited<ReturnType<Lookup>> } = {
  localhost: addresses('127.0.0.1', '::1'),
  'localhost.': addresses('127.0.0.1'),
  'loopback.example': addresses('127.0.0.1'),
  'mapped.example': addresses('::ffff:127.0.0.1'),
  'mixed.example': addresses('1.1.1.1', '127.0.0.1'),
}
const lookup: Lookup = host => Promise.resolve(NAMES[host] ?? assert.fail(`nobody asks for ${host}`))

/** A server on every address of this machine, which must not be reached. */
async function everywhere(): Promise<RawServer> {
  return rawServer(answer('secret'), { host: hasIpv6 ? '::' : '0.0.0.0' })
}

describe('a server inside', () => {
  it('is reached by no spelling: not one socket is opened', async () => {
    const server = await everywhere()
    const target = localTarget({ rules: [], lookup })
    for (const host of SPELLINGS.split(' '))
      for (const protocol of ['http', 'https']) {
        const got = await send(target, `${protocol}://${host}:${server.port}/`)
        assert.ok(got.kind === 'failed' && got.errorCode === 'target-forbidden' && got.unsent, `${protocol} ${host}`)
      }
    assert.equal(server.connections, 0)
  })

  it('is reached where a rule allows it, and at no other port or address', async () => {
    const server = await everywhere()
    const other = await everywhere()
    const target = localTarget({ rules: [rule(`127.0.0.1:${server.port}`), rule('loopback.example')], lookup })
    const reached = async (url: string): Promise<boolean> => (await send(target, url)).kind === 'answered'
    assert.ok(await reached(`http://127.1:${server.port}/`))
    assert.ok(await reached(`http://loopback.example:${other.port}/`))
    for (const url of [
      `http://127.0.0.1:${other.port}/`,
      `http://127.0.0.2:${server.port}/`,
      `http://localhost:${server.port}/`,
    ])
      assert.ok(!(await reached(url)), url)
    assert.deepEqual([server.requests.length, other.requests.length], [1, 1])
  })

  it.skipIf(!hasIpv6)('is reached over IPv6 where a rule allows that', async () => {
    const server = await everywhere()
    const target = localTarget({ rules: LOOPBACK_RULES, lookup })
    for (const host of ['[::1]', '[::ffff:127.0.0.1]', 'localhost'])
      assert.equal((await send(target, `http://${host}:${server.port}/`)).kind, 'answered', host)
  })

  it('is not reached by an answer that leads there', async () => {
    const inside = await everywhere()
    const outside = await rawServer(
      answer('', '307 Temporary Redirect', `location: http://127.0.0.2:${inside.port}/\r\n`),
    )
    const got = await send(localTarget({ rules: [rule('127.0.0.1')] }), outside.url)
    assert.ok(got.kind === 'answered' && got.status === 307)
    assert.equal(inside.connections, 0)
  })
})

describe('a name that changes its answer', () => {
  it('is judged by the answer that the socket is opened with: none is asked for twice', async () => {
    const server = await everywhere()
    let asked = 0
    const rebinding: Lookup = () => Promise.resolve(asked++ % 2 === 0 ? addresses('127.0.0.1') : addresses('127.0.0.2'))
    // The first answer is allowed and the second is not: a check and a connection that ask apart would mix them up.
    const target = localTarget({ rules: [rule('127.0.0.1')], lookup: rebinding })
    for (let n = 0; n < 6; n++) {
      const got = await send(target, `http://rebinding.example:${server.port}/${n}`)
      assert.equal(got.kind === 'answered', n % 2 === 0, `request ${n}`)
      const closed = server.next('close')
      if (server.sockets.size > 0) {
        for (const socket of server.sockets) socket.destroy()
        await closed
      }
    }
    assert.equal(asked, 6)
    assert.ok(
      server.requests.every(({ socket }) => /^(?:::ffff:)?127\.0\.0\.1$/.test(socket.localAddress ?? '127.0.0.1')),
    )
    assert.equal(server.requests.length, 3)
  })

  it('is refused from then on, though it was allowed at intake and at every attempt before', async () => {
    const server = await everywhere()
    let current = addresses('127.0.0.1')
    const target = localTarget({ rules: [rule('127.0.0.1')], lookup: () => Promise.resolve(current), connections: 1 })
    const url = `http://turned.example:${server.port}/`
    assert.equal((await send(target, url)).kind, 'answered')
    current = addresses('10.0.0.1')
    const closed = server.next('close')
    for (const socket of server.sockets) socket.destroy()
    await closed
    const got = await send(target, url)
    assert.ok(got.kind === 'failed' && got.errorCode === 'target-forbidden')
  })
})
