import assert from 'node:assert/strict'
import { setImmediate as immediate } from 'node:timers/promises'
import fc from 'fast-check'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import type { TargetAnswer } from '../target.ts'
import type { HttpTargetOptions } from './http-target.ts'
import {
  answer,
  localTarget,
  rawServer,
  send,
  write,
  type Play,
  type RawRequest,
  type SendOptions,
} from './wire.test-kit.ts'

type Answered = Extract<TargetAnswer, { readonly kind: 'answered' }>

/** What comes of one request to a server that does this. */
async function answered(play: Play, options: SendOptions = {}, target: HttpTargetOptions = {}): Promise<Answered> {
  const server = await rawServer(play)
  const got = await send(localTarget(target), server.url, options)
  return got.kind === 'answered' ? got : assert.fail(got.errorMessage)
}

const chunked = (...chunks: readonly string[]): string =>
  chunks.map(chunk => `${Buffer.byteLength(chunk).toString(16)}\r\n${chunk}\r\n`).join('')

describe('an answer', () => {
  it('is its status, its headers and its body', async () => {
    const got = await answered(
      answer('{"id":42}', '201 Created', 'content-type: application/json\r\nretry-after: 7\r\n'),
    )
    assert.deepEqual([got.status, got.headers['retry-after']], [201, '7'])
    assert.deepEqual(got.response, {
      headers: { 'content-type': 'application/json', 'retry-after': '7', 'content-length': '9' },
      body: '{"id":42}',
      bodyEncoding: 'utf8',
      truncated: false,
    })
  })

  it('is whatever the server says, a redirect too: nothing is followed', async () => {
    for (const status of ['302 Found', '404 Not Found', '503 Service Unavailable']) {
      const server = await rawServer(answer('', status, 'location: http://127.0.0.1:1/\r\n'))
      const got = await send(localTarget(), server.url)
      assert.ok(got.kind === 'answered' && got.status === Number.parseInt(status, 10))
      assert.equal(server.requests.length, 1)
    }
  })

  it('comes after interim ones, which say nothing', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
    const got = await answered(write(`${early.repeat(3)}HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na`))
    assert.deepEqual([got.status, got.response.body, got.headers['link']], [200, 'a', undefined])
  })

  it('comes after 100 Continue, which nobody had asked for: once or often, whole or in pieces', async () => {
    const interim = 'HTTP/1.1 100 Continue\r\n\r\n'
    const verbose = 'HTTP/1.1 100 Continue\r\nserver: a gateway\r\n\r\n'
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
    const last = 'HTTP/1.1 503 Service Unavailable\r\nretry-after: 7\r\ncontent-length: 1\r\n\r\na'
    for (const before of [interim, interim.repeat(3), verbose, interim + hints + interim]) {
      const got = await answered(write(before + last), { method: 'POST', body: Buffer.from('x') })
      assert.deepEqual([got.status, got.headers['retry-after'], got.response.body], [503, '7', 'a'], before)
    }
    const inPieces = async ({ socket }: RawRequest): Promise<void> => {
      socket.setNoDelay(true)
      for (const byte of verbose + last) {
        socket.write(byte)
        await immediate()
      }
    }
    assert.deepEqual((await answered(request => void inPieces(request))).response.body, 'a')
  })

  it('does not come behind interim ones without end: the attempt fails, and says why', async () => {
    const interim = 'HTTP/1.1 103 Early Hints\r\n\r\n'
    const last = 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na'
    assert.equal((await answered(write(interim.repeat(16) + last))).response.body, 'a')
    const inPieces = async ({ socket }: RawRequest): Promise<void> => {
      socket.setNoDelay(true)
      for (let sent = 0; sent < 10_000 && !socket.destroyed; sent++) {
        socket.write(interim)
        await immediate()
      }
    }
    for (const play of [write(interim.repeat(17) + last), (request: RawRequest) => void inPieces(request)]) {
      const { url } = await rawServer(play)
      const got = await send(localTarget(), url)
      assert.ok(got.kind === 'failed')
      assert.deepEqual([got.errorCode, got.unsent], ['bad-response', false])
      assert.match(got.errorMessage, /more than 16 interim answers/)
    }
  })

  it('that holds the words of an interim one in its body keeps them', async () => {
    const body = 'HTTP/1.1 100 Continue\r\n\r\n'
    const apart = async ({ socket }: RawRequest): Promise<void> => {
      socket.setNoDelay(true)
      socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`)
      await immediate()
      socket.write(body)
    }
    assert.equal((await answered(request => void apart(request))).response.body, body)
  })

  it('of the next request on the same connection may come after 100 Continue, too', async () => {
    const server = await rawServer(write('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na'))
    const target = localTarget({ connections: 1 })
    for (let n = 0; n < 3; n++) assert.equal((await send(target, server.url)).kind, 'answered')
    assert.equal(server.connections, 1)
  })

  it('may have no body, be in chunks, or end with its connection', async () => {
    assert.equal((await answered(write('HTTP/1.1 204 No Content\r\n\r\n'))).response.body, '')
    const head = await answered(write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n'), { method: 'HEAD' })
    assert.deepEqual([head.response.body, head.response.truncated], ['', false])
    const inChunks = `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunked('ab', 'c')}0\r\nx-trailer: 1\r\n\r\n`
    assert.equal((await answered(write(inChunks))).response.body, 'abc')
    const untilClosed = await answered(({ socket }) => socket.end('HTTP/1.1 200 OK\r\n\r\nabc'))
    assert.deepEqual([untilClosed.response.body, untilClosed.response.truncated], ['abc', false])
  })

  it('leaves its connection for the next request', async () => {
    const server = await rawServer(answer('x'.repeat(100_000)))
    const target = localTarget({ connections: 1 })
    for (let n = 0; n < 5; n++) await send(target, server.url)
    assert.deepEqual([server.requests.length, server.connections], [5, 1])
  })
})

describe('of a body', () => {
  it('the beginning is kept, up to a limit', async () => {
    const { response } = await answered(answer('abcdefgh'), {}, { captureBytes: 5 })
    assert.deepEqual([response.body, response.truncated], ['abcde', true])
    const whole = await answered(answer('abcde'), {}, { captureBytes: 5 })
    assert.deepEqual([whole.response.body, whole.response.truncated], ['abcde', false])
    assert.equal((await answered(answer('x'.repeat(20_000)))).response.body.length, 16_384)
  })

  it('a character that the limit cuts is left out', async () => {
    for (const [captureBytes, kept] of [
      [2, 'a'],
      [3, 'aé'],
      [5, 'aé'],
      [7, 'aé😀'],
    ] as const)
      assert.equal((await answered(answer('aé😀b'), {}, { captureBytes })).response.body, kept)
  })

  it('what is no text is kept in base64, and so is text with a zero in it', async () => {
    for (const bytes of [Buffer.from([0xff, 0xfe, 0x01]), Buffer.from('a\0b'), Buffer.from([0xc3])]) {
      const head = `HTTP/1.1 200 OK\r\ncontent-length: ${bytes.byteLength}\r\n\r\n`
      const { response } = await answered(write(Buffer.concat([Buffer.from(head), bytes])))
      assert.deepEqual([response.bodyEncoding, response.body], ['base64', bytes.toString('base64')])
    }
  })

  it('every byte comes back, whatever they are', async () => {
    const server = await rawServer(({ socket, body }) => {
      const head = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${body.byteLength}\r\n\r\n`)
      socket.write(Buffer.concat([head, body]))
    })
    const target = localTarget()
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async body => {
        const got = await send(target, server.url, { body })
        assert.ok(got.kind === 'answered')
        assert.deepEqual(new Uint8Array(Buffer.from(got.response.body, got.response.bodyEncoding)), body)
      }),
    )
  })

  it('so much is read and no more: an endless one ends with its connection, and the status counts', async () => {
    const server = await rawServer(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      const pour = (): void => {
        if (!socket.destroyed) socket.write(chunked('x'.repeat(10_000)), pour)
      }
      pour()
    })
    const closed = server.next('close')
    const got = await send(localTarget({ readBytes: 50_000 }), server.url)
    assert.ok(got.kind === 'answered' && got.status === 200 && got.response.truncated)
    assert.equal(got.response.body, 'x'.repeat(16_384))
    await closed
  })
})

describe('an answer that cannot be read whole', () => {
  const partOf = (status: string): Play => write(`HTTP/1.1 ${status}\r\ncontent-length: 9\r\nretry-after: 3\r\n\r\nabc`)
  const brokenPartOf =
    (status: string): Play =>
    ({ socket }) =>
      socket.end(`HTTP/1.1 ${status}\r\ncontent-length: 9\r\n\r\nabc`)

  it('in time is no answer, but for a failure: of that the status is enough', async () => {
    const clock = virtualClock()
    const target = localTarget({ clock })
    const got = async (status: string): Promise<TargetAnswer> => {
      const server = await rawServer(partOf(status))
      const request = server.next('request')
      const sending = send(target, server.url, { timeoutMs: 500 })
      await request
      // Until what the server wrote has been read: there is no event for it on this side.
      await arrival()
      await clock.advance(500)
      return sending
    }
    const good = await got('200 OK')
    assert.ok(good.kind === 'failed' && good.errorCode === 'attempt-timeout' && !good.unsent)
    const bad = await got('503 Service Unavailable')
    assert.ok(bad.kind === 'answered' && bad.status === 503 && bad.headers['retry-after'] === '3')
    assert.deepEqual([bad.response.body, bad.response.truncated], ['abc', true])
  })

  it('because its connection broke is no answer either, with the same exception', async () => {
    const good = await send(localTarget(), (await rawServer(brokenPartOf('200 OK'))).url)
    assert.ok(good.kind === 'failed' && good.errorCode === 'reset' && !good.unsent)
    const bad = await send(localTarget(), (await rawServer(brokenPartOf('500 Oh'))).url)
    assert.ok(bad.kind === 'answered' && bad.status === 500)
    assert.deepEqual([bad.response.body, bad.response.truncated], ['abc', true])
  })
})

/** A round trip on this machine and a few turns of the event loop. */
async function arrival(): Promise<void> {
  const echo = await rawServer(answer())
  await send(localTarget(), echo.url)
  await send(localTarget(), echo.url)
}

describe('what is kept of an answer', () => {
  it('has no secrets of the server’s', async () => {
    const names =
      'set-cookie authorization www-authenticate proxy-authenticate x-api-key apikey x-auth-token ' +
      'x-amz-security-token client-secret session-id'
    const secret = names.split(' ').map(name => `${name.toUpperCase()}: a=b`)
    const plain = ['Set-Cookie: c=d', 'x-request-id: 7', 'etag: "a"']
    const { response, headers } = await answered(answer('', '200 OK', [...secret, ...plain, ''].join('\r\n')))
    for (const name of names.split(' ')) assert.equal(response.headers[name], '[redacted]', name)
    assert.deepEqual([response.headers['x-request-id'], response.headers['etag']], ['7', '"a"'])
    assert.deepEqual(headers['set-cookie'], ['a=b', 'c=d'])
  })

  it('has none of ours, though the server repeats what it was asked with', async () => {
    const headers = {
      Authorization: 'Bearer tok-1234567890',
      'x-api-key': 'key-1234567890',
      'x-plain': 'plain-1234567',
    }
    const echo: Play = ({ head, socket }) => {
      const token = 'tok-1234567890'
      const body = `${head}\n${token}`
      socket.write(`HTTP/1.1 400 Bad\r\nx-echo: ${token}\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
    }
    const { response } = await answered(echo, { headers })
    assert.doesNotMatch(JSON.stringify(response), /tok-1234567890|key-1234567890/)
    assert.match(response.body, /Authorization: \[redacted\]\r\nx-api-key: \[redacted\]\r\nx-plain: plain-1234567/)
    assert.equal(response.headers['x-echo'], '[redacted]')
  })

  it('has not even the half of one that stands across the limit', async () => {
    const headers = { authorization: 'Bearer tok-1234567890' }
    const { response } = await answered(answer(`xxxx tok-1234567890`), { headers }, { captureBytes: 12 })
    assert.equal(response.body, 'xxxx [redact')
  })

  it('has not the half of one that the server did not finish, nor of one at the end of a long header', async () => {
    const headers = { authorization: 'Bearer tok-1234567890' }
    const breakOff: Play = ({ socket }) => socket.end('HTTP/1.1 400 Bad\r\ncontent-length: 99\r\n\r\nno tok-1234')
    const broken = await answered(breakOff, { headers })
    assert.equal(broken.response.body, 'no [redacted]')
    const long = `x-long: ${'y'.repeat(1_016)}tok-1234567890\r\n`
    const { response } = await answered(answer('a', '200 OK', long), { headers })
    assert.deepEqual([response.headers['x-long'], response.truncated], [`${'y'.repeat(1_016)}[redacte`, true])
  })

  it('has so many headers, each so long, and says when there was more', async () => {
    const many = Array.from({ length: 100 }, (_, n) => `x-${n}: ${n}\r\n`).join('')
    const crowded = await answered(answer('a', '200 OK', many))
    assert.deepEqual([Object.keys(crowded.response.headers).length, crowded.response.truncated], [64, true])
    const long = await answered(answer('a', '200 OK', `x-long: ${'y'.repeat(5_000)}\r\n`))
    assert.deepEqual([long.response.headers['x-long']?.length, long.response.truncated], [1_024, true])
    assert.equal(long.headers['x-long']?.length, 5_000)
  })

  it('has a header of any name as its own', async () => {
    const { response } = await answered(answer('', '200 OK', '__proto__: a\r\nconstructor: b\r\n'))
    assert.deepEqual(
      Object.entries(response.headers).filter(([name]) => name !== 'content-length'),
      [
        ['__proto__', 'a'],
        ['constructor', 'b'],
      ],
    )
  })
})
