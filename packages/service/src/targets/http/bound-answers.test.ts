import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { HttpTargetOptions } from './http-target.ts'
import { localTarget, rawServer, send, write, type Play } from './wire.test-kit.ts'

const CHUNKED = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'

/** Begins so, and then writes this for as long as somebody reads. */
const endless =
  (begin: string, more: string): Play =>
  ({ socket }) => {
    const much = Buffer.from(more.repeat(65_536 / more.length))
    const goOn = (): void => {
      while (!socket.destroyed && socket.write(much));
    }
    socket.on('drain', goOn)
    socket.write(begin)
    goOn()
  }

async function failed(play: Play, target: HttpTargetOptions = {}): Promise<string> {
  const server = await rawServer(play)
  const got = await send(localTarget(target), server.url)
  assert.ok(got.kind === 'failed' && !got.unsent)
  while (server.sockets.size > 0) await server.next('close')
  return `${got.errorCode}: ${got.errorMessage}`
}

describe('what is read of an answer without end', () => {
  it('is 64 KiB before its headers are whole, whatever it is made of', async () => {
    const plays = {
      'line feeds before the status': endless('\r\n', '\n'),
      'a reason': endless('HTTP/1.1 200 ', 'y'),
      'spaces before a value': endless('HTTP/1.1 200 OK\r\na:', ' '),
      'spaces in a header of an interim answer': endless('HTTP/1.1 103 Early Hints\r\na:', ' '),
    }
    for (const [name, play] of Object.entries(plays))
      assert.match(await failed(play), /^bad-response: .* more than 64 KiB before the headers/, name)
  })

  it('is little more than a body may have, though it never comes to one', async () => {
    const plays = {
      'what stands behind the size of a chunk': endless(`${CHUNKED}5;`, 'y'),
      'zeros of a size': endless(`${CHUNKED}0`, '0'),
      'headers behind the body': endless(`${CHUNKED}0\r\na:`, ' '),
      'a byte in each chunk, and much beside it': endless(CHUNKED, '1;yyyyyyyyyy\r\nx\r\n'),
    }
    for (const [name, play] of Object.entries(plays))
      assert.match(await failed(play, { readBytes: 100_000 }), /^bad-response: .* far more than its answer holds/, name)
  })

  it('counts as an answer where its status is a failure: of that the status is enough', async () => {
    const server = await rawServer(endless(`${CHUNKED.replace('200 OK', '503 Busy')}5;`, 'y'))
    const got = await send(localTarget(), server.url)
    assert.ok(got.kind === 'answered' && got.status === 503)
  })
})

describe('what is read of an answer', () => {
  it('may have as many headers as fit, its end in pieces, and a body up to the limit in small chunks', async () => {
    const head = `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(8_000)}transfer-encoding: chunked\r`
    const play: Play = ({ socket }) => {
      socket.setNoDelay(true)
      const pieces = [head, '\n', '\r', '\n', '8\r\nabcdefgh\r\n'.repeat(12_500), '0\r\n\r\n']
      const next = (): void => void (pieces.length > 0 && socket.write(pieces.shift()!, () => setImmediate(next)))
      next()
    }
    const server = await rawServer(play)
    const got = await send(localTarget({ readBytes: 100_000 }), server.url)
    assert.ok(got.kind === 'answered' && got.status === 200 && got.response.body.startsWith('abcdefgh'))
  })

  it('is counted anew for each request on a connection', async () => {
    const server = await rawServer(write(`HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n${'x'.repeat(60_000)}`))
    const target = localTarget({ connections: 1, readBytes: 60_000 })
    for (let n = 0; n < 10; n++) assert.equal((await send(target, server.url)).kind, 'answered')
    assert.equal(server.connections, 1)
  })
})
