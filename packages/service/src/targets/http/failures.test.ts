import assert from 'node:assert/strict'
import { createServer, type AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { classifyError, type Fault } from '@secondwind/resilience'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import type { Lookup } from '../guard.ts'
import type { TargetAnswer } from '../target.ts'
import { failureOf, type Failed } from './failures.ts'
import {
  answer,
  hasOpenssl,
  localTarget,
  rawServer,
  selfSigned,
  send,
  silence,
  write,
  type Play,
  type RawRequest,
  type RawServerOptions,
} from './wire.test-kit.ts'

function failed(answer: TargetAnswer): Failed {
  return answer.kind === 'failed' ? answer : assert.fail(`it was ${answer.kind}`)
}

/** What a failure came to, in the words of an attempt's row, and what the library takes it for. */
function told(answer: TargetAnswer): { code: string; say: string; unsent: boolean; fault: Fault } {
  const { errorCode, errorMessage, unsent, error } = failed(answer)
  return { code: errorCode, say: errorMessage, unsent, fault: classifyError(error, [], 0).fault }
}

async function failure(play: Play, options: RawServerOptions = {}): Promise<ReturnType<typeof told>> {
  const { url } = await rawServer(play, options)
  return told(await send(localTarget(), url))
}

describe('no connection', () => {
  it('because nobody listens is connect-refused', async () => {
    const server = createServer()
    await new Promise<void>(resolve => void server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await new Promise(resolve => server.close(resolve))
    assert.deepEqual(told(await send(localTarget(), `http://127.0.0.1:${port}`)), {
      code: 'connect-refused',
      say: 'nobody listens at the address (ECONNREFUSED)',
      unsent: true,
      fault: 'transient',
    })
  })

  it('because a name does not exist is dns-failed, and dns-temporary while nobody knows', async () => {
    const asked = async (code: string): Promise<ReturnType<typeof told>> => {
      const error = Object.assign(new Error(`getaddrinfo ${code} a.example`), { code, syscall: 'getaddrinfo' })
      return told(await send(localTarget({ lookup: () => Promise.reject(error) }), 'http://a.example'))
    }
    const unsent = { unsent: true, fault: 'transient' }
    const never = 'the name cannot be resolved'
    assert.deepEqual(await asked('ENOTFOUND'), { code: 'dns-failed', say: `${never} (ENOTFOUND)`, ...unsent })
    assert.deepEqual(await asked('EAI_FAIL'), { code: 'dns-failed', say: `${never} (EAI_FAIL)`, ...unsent })
    assert.deepEqual(await asked('EAI_AGAIN'), { code: 'dns-temporary', say: `${never} now (EAI_AGAIN)`, ...unsent })
  })

  it('for a lack of ours is no failure of the target’s: it was never tried', async () => {
    for (const code of ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL']) {
      const error = Object.assign(new Error(`open ${code}`), { code })
      const got = await send(localTarget({ lookup: () => Promise.reject(error) }), 'http://a.example')
      assert.ok(got.kind === 'not-tried' && got.errorCode === 'resources-out' && got.errorMessage.endsWith(`(${code})`))
    }
  })

  it('within the time for connections is connect-timeout, name and TLS included', async () => {
    const deaf = await rawServer(silence)
    const target = localTarget({ connectTimeoutMs: 20, lookup: () => new Promise(() => {}) })
    const waiting = [`https://127.0.0.1:${deaf.port}`, 'http://slow.example'].map(url => send(target, url))
    for (const answer of await Promise.all(waiting))
      assert.deepEqual(told(answer), {
        code: 'connect-timeout',
        say: 'no connection came about in time (UND_ERR_CONNECT_TIMEOUT)',
        unsent: true,
        fault: 'transient',
      })
    assert.equal(deaf.requests.length, 0)
  })

  it('within the time of the attempt is connect-timeout too: nothing was sent', async () => {
    const clock = virtualClock()
    const deaf = await rawServer(silence)
    const connection = deaf.next('connection')
    const sending = send(localTarget({ clock }), `https://127.0.0.1:${deaf.port}`, { timeoutMs: 500 })
    await connection
    await clock.advance(500)
    const { code, unsent, fault } = told(await sending)
    assert.deepEqual([code, unsent, fault], ['connect-timeout', true, 'transient'])
  })

  it('that breaks during the handshake is a reset before anything was sent', async () => {
    const server = await rawServer(silence, { onConnection: socket => socket.once('data', () => socket.destroy()) })
    assert.deepEqual(told(await send(localTarget(), `https://127.0.0.1:${server.port}`)), {
      code: 'reset',
      say: 'the connection was closed before the request was sent (ECONNRESET)',
      unsent: true,
      fault: 'transient',
    })
  })

  it('to an address inside is target-forbidden, and no time mends it', async () => {
    const server = await rawServer(silence)
    const got = told(await send(localTarget({ rules: [] }), server.url))
    assert.deepEqual([got.code, got.unsent, got.fault], ['target-forbidden', true, 'permanent'])
    assert.match(got.say, /^127\.0\.0\.1 is an address inside \(loopback\)/)
    assert.equal(server.connections, 0)
  })
})

describe.skipIf(!hasOpenssl)(
  `TLS${hasOpenssl ? '' : ' (there is no openssl on this machine to make certificates)'}`,
  () => {
    const lookup = async () => [{ address: '127.0.0.1', family: 4 }]

    it('with a certificate that nobody vouches for fails, and says why', async () => {
      const tls = selfSigned('shop.example')
      const server = await rawServer(silence, { tls })
      const got = told(await send(localTarget({ lookup }), `https://shop.example:${server.port}`))
      assert.deepEqual(got, {
        code: 'tls',
        say: 'the certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)',
        unsent: true,
        fault: 'permanent',
      })
      assert.equal(server.requests.length, 0)
    })

    it('with a certificate for another name fails: the name that counts is the URL’s, not the address’s', async () => {
      const tls = selfSigned('shop.example')
      const server = await rawServer(write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), { tls })
      const target = localTarget({ lookup, ca: [tls.cert] })
      const wrong = told(await send(target, `https://other.example:${server.port}`))
      assert.deepEqual(
        [wrong.code, wrong.say],
        ['tls', 'the certificate is for another name (ERR_TLS_CERT_ALTNAME_INVALID)'],
      )
      const right = await send(target, `https://shop.example:${server.port}`)
      assert.ok(right.kind === 'answered' && right.status === 200)
    })

    it('asks for the name without the dot at its end, which the Host header and the resolver keep', async () => {
      const tls = selfSigned('shop.example')
      const server = await rawServer(write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'), { tls })
      const asked: string[] = []
      const noting = (host: string) => {
        asked.push(host)
        return lookup()
      }
      const got = await send(localTarget({ lookup: noting, ca: [tls.cert] }), `https://shop.example.:${server.port}`)
      assert.ok(got.kind === 'answered' && got.status === 200)
      const [{ head, socket }] = server.requests as [RawRequest]
      assert.deepEqual(asked, ['shop.example.'])
      assert.equal((socket as TLSSocket).servername, 'shop.example')
      assert.match(head, new RegExp(`^host: shop\\.example\\.:${server.port}$`, 'im'))
    })
  },
)

describe('TLS with a server that speaks none', () => {
  it('fails, and says so', async () => {
    const onConnection = (socket: { write(text: string): void }): void => socket.write('220 mail.example ESMTP\r\n')
    const server = await rawServer(silence, { onConnection })
    const got = told(await send(localTarget(), `https://127.0.0.1:${server.port}`))
    assert.deepEqual([got.code, got.unsent], ['tls', true])
    assert.match(got.say, /^the server does not speak TLS \(ERR_SSL_\w+\)$/)
  })
})

describe('a connection that breaks after the request went out', () => {
  const lost = { code: 'reset', unsent: false, fault: 'ambiguous' } as const
  const say = 'the connection was closed after the request went out and before the answer was whole'

  it('before an answer is a reset, and may have been carried out', async () => {
    const closed = await failure(({ socket }) => socket.end())
    assert.deepEqual(closed, { ...lost, say: `${say} (UND_ERR_SOCKET)` })
    const reset = await failure(({ socket }) => void socket.resetAndDestroy())
    assert.deepEqual(reset, { ...lost, say: `${say} (ECONNRESET)` })
  })

  it('in the middle of the headers or of the body is one too', async () => {
    const parts = [
      'HTTP/1.1 200 OK\r\ncontent-',
      'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc',
      'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 9\r\n\r\nabc',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc',
      'HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n5\r\nabc',
    ]
    for (const part of parts) {
      const { say: said, ...rest } = await failure(({ socket }) => socket.end(part))
      assert.deepEqual(rest, lost, part)
      assert.ok(said.startsWith(say), said)
    }
  })
})

describe('a server that takes its time', () => {
  it('for the answer is attempt-timeout: its connection is closed at once, and it may have been carried out', async () => {
    const clock = virtualClock()
    const server = await rawServer(silence)
    const request = server.next('request')
    const closed = server.next('close')
    const sending = send(localTarget({ clock }), server.url, { timeoutMs: 1_500 })
    await request
    await clock.advance(1_500)
    assert.deepEqual(told(await sending), {
      code: 'attempt-timeout',
      say: 'the attempt did not end within 1500 ms',
      unsent: false,
      fault: 'ambiguous',
    })
    await closed
    assert.equal(clock.pending, 0)
  })

  it('for the body, byte by byte, is attempt-timeout too', async () => {
    const server = await rawServer(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n')
      const drip = setInterval(() => socket.write('x'), 1)
      socket.on('close', () => clearInterval(drip))
    })
    const got = told(await send(localTarget(), server.url, { timeoutMs: 100 }))
    assert.deepEqual([got.code, got.unsent, got.fault], ['attempt-timeout', false, 'ambiguous'])
  })
})

describe('an answer that breaks the rules', () => {
  const lost = { unsent: false, fault: 'ambiguous' } as const

  it('is a bad-response, and may have been carried out', async () => {
    const broken = [
      'SSH-2.0-OpenSSH_9.2\r\n\r\n',
      'HTTP/1.1 abc OK\r\n\r\n',
      'HTTP/1.1 099 X\r\ncontent-length: 0\r\n\r\n',
      'HTTP/1.1 000 X\r\ncontent-length: 0\r\n\r\n',
      'HTTP/1.1 200 OK\r\nno colon\r\n\r\n',
      'HTTP/1.1 200 OK\r\ncontent-length: abc\r\n\r\nab',
      'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    ]
    for (const text of broken) {
      const { code, say, ...rest } = await failure(write(text))
      assert.deepEqual([code, rest], ['bad-response', lost], text)
      assert.match(say, /^the answer is no HTTP\/1\.1: [\w ,/-]+$|^the target sent 101 Switching Protocols/)
    }
  })

  it('with headers beyond measure is headers-too-large', async () => {
    const huge = await failure(write(`HTTP/1.1 200 OK\r\nx-huge: ${'y'.repeat(20_000)}\r\n\r\n`))
    assert.deepEqual(huge, {
      code: 'headers-too-large',
      say: 'the headers of the answer are too large (UND_ERR_HEADERS_OVERFLOW)',
      ...lost,
    })
    const endless = await failure(({ socket }) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const pour = (): void => {
        if (!socket.destroyed) socket.write('x-more: and more\r\n'.repeat(100), pour)
      }
      pour()
    })
    assert.equal(endless.code, 'headers-too-large')
  })
})

describe('whoever aborts', () => {
  it('at once, sends nothing', async () => {
    const server = await rawServer(silence)
    const reason = new Error('cancelled')
    const got = failed(await send(localTarget(), server.url, { signal: AbortSignal.abort(reason) }))
    assert.deepEqual([got.errorCode, got.unsent, got.error], ['aborted', true, reason])
    assert.equal(server.requests.length, 0)
  })

  it('before there is a connection, sends nothing, and nobody asks for the name any more', async () => {
    const server = await rawServer(silence)
    const abort = new AbortController()
    const asked: AbortSignal[] = []
    const lookup: Lookup = (_, signal) => {
      asked.push(signal!)
      return new Promise((_resolve, reject) => signal!.addEventListener('abort', () => reject(new Error('left'))))
    }
    const target = localTarget({ lookup })
    const sending = send(target, `http://slow.example:${server.port}`, { signal: abort.signal })
    while (asked.length === 0) await new Promise(resolve => setImmediate(resolve))
    abort.abort()
    const { code, unsent, fault } = told(await sending)
    assert.deepEqual([code, unsent, fault], ['aborted', true, 'ignored'])
    assert.deepEqual([asked.length, asked[0]!.aborted], [1, true])
    await target.close()
    assert.equal(server.connections, 0)
  })

  it('beside others that wait for the same name, sends nothing, and leaves the name to them', async () => {
    const server = await rawServer(answer())
    const abort = new AbortController()
    let answerName = (): void => {}
    const lookup = async () => {
      await new Promise<void>(resolve => (answerName = resolve))
      return [{ address: '127.0.0.1', family: 4 }]
    }
    const target = localTarget({ lookup })
    const url = `http://slow.example:${server.port}`
    const sending = send(target, url, { signal: abort.signal, headers: { 'x-id': 'gone' } })
    const other = send(target, url, { headers: { 'x-id': 'there' } })
    await new Promise(resolve => setImmediate(resolve))
    abort.abort()
    assert.equal(told(await sending).code, 'aborted')
    answerName()
    assert.equal((await other).kind, 'answered')
    assert.equal(server.connections, 1, 'none is opened for whoever has gone')
    await target.close()
    assert.deepEqual(
      server.requests.map(({ head }) => /x-id: (\w+)/.exec(head)![1]),
      ['there'],
    )
  })

  it('while the server works, closes the connection at once: it may have been carried out', async () => {
    const server = await rawServer(silence)
    const abort = new AbortController()
    const request = server.next('request')
    const closed = server.next('close')
    const sending = send(localTarget(), server.url, { signal: abort.signal })
    await request
    abort.abort()
    const { code, say, unsent } = told(await sending)
    assert.deepEqual([code, say, unsent], ['aborted', 'the attempt was cut off', false])
    await closed
  })
})

describe('the library', () => {
  const errorOf = (code: string): Error => Object.assign(new Error('secret words'), { code })

  it('reads every failure before sending as one that passes, though it never heard of it', () => {
    for (const code of ['EMFILE', 'EADDRNOTAVAIL', 'ENOBUFS', 'EACCES', 'ECONNRESET', 'ETIMEDOUT', 'EHOSTUNREACH', 'X'])
      assert.deepEqual(
        [classifyError(failureOf(errorOf(code), false).error, [], 0).fault, failureOf(errorOf(code), false).unsent],
        ['transient', true],
        code,
      )
  })

  it('reads every failure after sending as one that may have been carried out', () => {
    for (const code of ['EMFILE', 'ECONNRESET', 'ETIMEDOUT', 'EPIPE', 'UND_ERR_SOCKET', 'X'])
      assert.deepEqual(
        [classifyError(failureOf(errorOf(code), true).error, [], 0).fault, failureOf(errorOf(code), true).unsent],
        ['ambiguous', false],
        code,
      )
  })

  it('is given an error, and the row a sentence of ours: nothing that an error says of itself', () => {
    for (const code of ['EMFILE', 'ECONNRESET', 'EPROTO', 'ERR_TLS_X', 'UND_ERR_SOCKET', 'ENETUNREACH', ''])
      for (const isSent of [true, false])
        assert.doesNotMatch(failureOf(errorOf(code), isSent).errorMessage, /secret/, code)
  })

  it('is given something, whatever was thrown', () => {
    for (const thrown of [undefined, null, 'text', 7, {}, new Error('x')])
      assert.equal(failureOf(thrown, true).errorCode, 'network-error')
  })
})
