import assert from 'node:assert/strict'
import { setImmediate as immediate } from 'node:timers/promises'
import { expectNoLeaks, seededRandom, virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import type { TargetAnswer } from '../target.ts'
import { answer, localTarget, rawServer, send, silence, type Play, type RawServer } from './wire.test-kit.ts'

const statuses = (answers: readonly TargetAnswer[]): unknown[] =>
  answers.map(answer => (answer.kind === 'answered' ? answer.status : answer.errorCode))

/** Resolves when the server has no socket any more. */
async function allClosed(server: RawServer): Promise<void> {
  while (server.sockets.size > 0) await server.next('close')
}

describe('a request is sent once', () => {
  it('though its server closes every connection as soon as it was used', async () => {
    const server = await rawServer(({ socket }) => {
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok')
    })
    const target = localTarget({ connections: 1 })
    for (let n = 0; n < 50; n++) await send(target, server.url, { headers: { 'x-id': String(n) } })
    const ids = server.requests.map(({ head }) => /^x-id: (\d+)/m.exec(head)![1])
    assert.equal(new Set(ids).size, ids.length)
  })

  it('at the most, whatever breaks and whenever; unsent is said only of what never arrived', async () => {
    const seed = 20_260_101
    const random = seededRandom(seed)
    const play: Play = request => {
      const { socket } = request
      const die = random()
      if (die < 0.15) socket.resetAndDestroy()
      else if (die < 0.3) socket.end()
      else if (die < 0.4) socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc')
      else answer('ok')(request, 0)
      // A server may hang up on an idle connection just when the next request is on its way.
      if (die > 0.7) setImmediate(() => (die > 0.85 ? socket.end() : socket.resetAndDestroy()))
    }
    const server = await rawServer(play, { onConnection: socket => void (random() < 0.1 && socket.resetAndDestroy()) })
    const target = localTarget({ connections: 4 })
    const answers = await Promise.all(
      Array.from({ length: 400 }, (_, n) => send(target, server.url, { headers: { 'x-id': `id-${n}.` } })),
    )
    const arrived = server.requests.map(({ head }) => /^x-id: id-(\d+)\./m.exec(head)![1]!)
    assert.equal(new Set(arrived).size, arrived.length, `nothing arrives twice (seed ${seed})`)
    for (const [n, got] of answers.entries()) {
      const hasArrived = arrived.includes(String(n))
      if (got.kind === 'answered') assert.ok(hasArrived)
      else assert.ok(!(got.kind === 'failed' && got.unsent && hasArrived), `request ${n} arrived (seed ${seed})`)
    }
    assert.ok(answers.some(({ kind }) => kind === 'answered') && answers.some(({ kind }) => kind === 'failed'))
  })
})

describe('connections to one origin', () => {
  it('are no more than allowed; whoever finds none free waits its turn', async () => {
    const held: (() => void)[] = []
    const server = await rawServer((request, number) => held.push(() => answer()(request, number)))
    const target = localTarget({ connections: 3 })
    const sending = Array.from({ length: 10 }, () => send(target, server.url))
    for (let released = 0; released < 10; released++) {
      while (held.length <= released) await server.next('request')
      assert.ok(held.length <= released + 3)
      held[released]!()
    }
    assert.deepEqual(
      statuses(await Promise.all(sending)),
      Array.from({ length: 10 }, () => 200),
    )
    assert.equal(server.connections, 3)
  })

  it('are each origin’s own: a silent one takes none from the others', async () => {
    const [deaf, good] = [await rawServer(silence), await rawServer(answer())]
    const target = localTarget({ connections: 1 })
    for (let n = 0; n < 20; n++) void send(target, deaf.url)
    const got = await send(target, good.url)
    assert.equal(got.kind, 'answered')
  })

  it('are waited for within the time of the attempt; then nothing was sent, and nothing will be', async () => {
    const clock = virtualClock()
    const server = await rawServer(silence)
    const target = localTarget({ connections: 1, clock })
    const first = server.next('request')
    const patient = send(target, server.url, { timeoutMs: 1_000 })
    const hasty = send(target, server.url, { timeoutMs: 100 })
    await first
    await clock.advance(100)
    const got = await hasty
    assert.ok(got.kind === 'failed' && got.errorCode === 'connect-timeout' && got.unsent)
    await clock.advance(900)
    assert.deepEqual(statuses([await patient]), ['attempt-timeout'])
    await target.close()
    assert.equal(server.requests.length, 1)
  })

  it('are free again however attempts ended, at whatever moment', async () => {
    const seed = 7_041
    const random = seededRandom(seed)
    const server = await rawServer((request, number) => void (random() < 0.5 && answer('ok')(request, number)), {
      onConnection: socket => void (random() < 0.1 && socket.destroy()),
    })
    const lookup = async () => [{ address: '127.0.0.1', family: 4 }]
    const target = localTarget({ connections: 2, lookup })
    const attempt = async (): Promise<TargetAnswer> => {
      const abort = new AbortController()
      const sending = send(target, `http://a.example:${server.port}`, { signal: abort.signal, timeoutMs: 20 })
      for (let turns = Math.floor(random() * 8); turns > 0; turns--) await new Promise(resolve => setImmediate(resolve))
      if (random() < 0.5) abort.abort()
      return sending
    }
    for (let round = 0; round < 8; round++) await Promise.all(Array.from({ length: 20 }, attempt))
    let last: TargetAnswer | undefined
    for (let tries = 0; tries < 50 && last?.kind !== 'answered'; tries++)
      last = await send(target, `http://a.example:${server.port}`, { timeoutMs: 1_000 })
    assert.equal(last?.kind, 'answered', `seed ${seed}`)
    assert.ok(server.sockets.size <= 2)
  })

  it('are not used up by requests that cannot be sent', async () => {
    const server = await rawServer(answer())
    const target = localTarget({ connections: 1 })
    const headers = { 'x-bad': '\n' }
    const bad = Array.from({ length: 1_000 }, () => send(target, server.url, { headers }))
    assert.equal((await send(target, server.url)).kind, 'answered')
    assert.ok((await Promise.all(bad)).every(got => got.kind === 'failed' && got.errorCode === 'target-invalid'))
  })
})

/** Keeps the connection for longer than a test lasts. */
const lasting = answer('', '200 OK', 'keep-alive: timeout=600\r\n')

const servers = (count: number, play: Play): Promise<readonly RawServer[]> =>
  Promise.all(Array.from({ length: count }, () => rawServer(play)))

const open = (servers: readonly RawServer[]): number[] => servers.map(({ sockets }) => sockets.size)

/** Resolves when the server has no more sockets than that. */
async function fewerThan(count: number, server: RawServer): Promise<void> {
  while (server.sockets.size >= count) await server.next('close')
}

describe('sockets to all origins', () => {
  it('are no more than allowed: where all have as many idle ones, the longest idle is closed', async () => {
    const called = await servers(6, lasting)
    const target = localTarget({ sockets: 2 })
    for (const { url } of called) assert.equal((await send(target, url)).kind, 'answered')
    await Promise.all(called.slice(0, 4).map(allClosed))
    assert.deepEqual(open(called), [0, 0, 0, 0, 1, 1])
  })

  it('are closed to make room where most are idle, though those of others have been so for longer', async () => {
    const [few, many, next] = [await rawServer(lasting), await rawServer(lasting), await rawServer(lasting)]
    const target = localTarget({ sockets: 4 })
    await send(target, few.url)
    await Promise.all([send(target, many.url), send(target, many.url), send(target, many.url)])
    for (let n = 0; n < 2; n++) {
      // A connection is idle a turn after its answer.
      await immediate()
      await send(target, n === 0 ? next.url : few.url)
    }
    await fewerThan(3, many)
    assert.deepEqual(open([few, many, next]), [1, 2, 1])
    assert.equal(few.connections, 1)
  })

  it('are few again after a storm, whatever the servers say of how long they wait', async () => {
    const called = await servers(10, lasting)
    const target = localTarget({ sockets: 7 })
    for (const { url } of called) await Promise.all(Array.from({ length: 6 }, () => send(target, url)))
    while (open(called).reduce((sum, size) => sum + size) > 7) await immediate()
    assert.equal((await send(target, called[0]!.url)).kind, 'answered')
  })

  it('are never closed with a request on them, nor is one lost that was about to be sent', async () => {
    const seed = 4_096
    const random = seededRandom(seed)
    const called = await servers(5, (request, number) => {
      if (random() < 0.5) lasting(request, number)
      else setImmediate(() => lasting(request, number))
    })
    const target = localTarget({ sockets: 3, connections: 3 })
    const caller = async (): Promise<void> => {
      for (let n = 0; n < 40; n++) {
        const { url } = called[Math.floor(random() * called.length)]!
        assert.equal((await send(target, url)).kind, 'answered', `seed ${seed}`)
        if (random() < 0.5) await immediate()
      }
    }
    await Promise.all(Array.from({ length: 8 }, caller))
    assert.equal(
      called.reduce((sum, { requests }) => sum + requests.length, 0),
      8 * 40,
    )
    assert.ok(called.reduce((sum, { connections }) => sum + connections, 0) > 15, 'some were closed and opened again')
  })

  it('are one for each request all the same: whoever is at work is never closed to make room', async () => {
    const held: (() => void)[] = []
    const called = await servers(4, (request, number) => held.push(() => answer()(request, number)))
    const target = localTarget({ sockets: 1 })
    const arrived = Promise.all(called.map(server => server.next('request')))
    const sending = called.map(({ url }) => send(target, url))
    await arrived
    for (const release of held) release()
    assert.deepEqual(statuses(await Promise.all(sending)), [200, 200, 200, 200])
  })
})

describe('origins', () => {
  it('come back after everything to them was closed', async () => {
    const server = await rawServer(answer())
    const target = localTarget()
    for (let n = 0; n < 3; n++) {
      assert.equal((await send(target, server.url)).kind, 'answered')
      for (const socket of server.sockets) socket.destroy()
      await allClosed(server)
    }
    assert.equal(server.requests.length, 3)
  })
})

describe('a target that is closed', () => {
  it('ends what is under way, what waits and what is connecting, and leaves no socket', async () => {
    const server = await rawServer(silence)
    const target = localTarget({ connections: 1, lookup: () => new Promise(() => {}) })
    const request = server.next('request')
    const urls = [
      server.url,
      server.url,
      `https://localhost.example:${server.port}`,
      `https://127.0.0.1:${server.port}`,
    ]
    const sending = urls.map(url => send(target, url))
    await request
    await target.close()
    const got = await Promise.all(sending)
    assert.deepEqual(statuses(got), ['aborted', 'aborted', 'aborted', 'aborted'])
    assert.deepEqual(
      got.map(answer => answer.kind === 'failed' && answer.unsent),
      [false, true, true, true],
    )
    await allClosed(server)
  })

  it('sends nothing any more, and says so', async () => {
    const server = await rawServer(answer())
    const target = localTarget()
    await target.close()
    const got = await send(target, server.url)
    assert.ok(got.kind === 'failed' && got.unsent && got.errorMessage === 'the target is closed')
    assert.equal(server.connections, 0)
    await target.close()
  })

  it('leaves no listener, alarm or timer behind, however its attempts ended', async () => {
    const clock = virtualClock()
    const servers = [
      await rawServer(answer('ok')),
      await rawServer(({ socket }) => socket.end()),
      await rawServer(silence),
    ]
    const target = localTarget({ clock, rules: [{ kind: 'network', network: '127.0.0.1/32' }] })
    const ended = await expectNoLeaks(
      async check => {
        const { signal } = check.controller()
        const abort = check.controller()
        const request = servers[2]!.next('request')
        const sending = [
          ...servers.map(({ url }) => send(target, url, { signal })),
          send(target, 'http://127.0.0.2:1', { signal }),
          send(target, servers[2]!.url, { signal: abort.signal }),
        ]
        await request
        abort.abort()
        await clock.advance(60_000)
        const answers = await Promise.all(sending)
        await target.close()
        return statuses(answers)
      },
      { clock },
    )
    assert.deepEqual(ended, [200, 'reset', 'attempt-timeout', 'target-forbidden', 'aborted'])
  })
})
