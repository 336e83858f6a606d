import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, it } from 'vitest'
import { refusalOf, serve, TASK } from './api.test-kit.ts'

describe('every answer', () => {
  it('has the id of its request: the caller’s own when it is one, else a new one', async () => {
    const { ask } = await serve()
    assert.equal(
      (await ask('GET', '/healthz', { headers: { 'x-request-id': 'abc-1' } })).headers['x-request-id'],
      'abc-1',
    )
    for (const headers of [{}, { 'x-request-id': 'a b' }, { 'x-request-id': 'x'.repeat(101) }])
      assert.match(String((await ask('GET', '/healthz', { headers })).headers['x-request-id']), /^[\da-f]{16}$/)
    assert.match(String((await ask('GET', '/nowhere')).headers['x-request-id']), /^[\da-f]{16}$/)
  })

  it('of JSON ends its line: the prompt of a shell does not stick to it', async () => {
    const { ask } = await serve()
    const answers = [
      ask('GET', '/healthz'),
      ask('GET', '/nowhere'),
      ask('GET', '/retry-tasks'),
      ask('POST', '/retry-tasks', { body: TASK }),
      ask('POST', '/retry-tasks', { body: { targetUrl: 'nowhere' } }),
    ]
    for (const { text } of await Promise.all(answers)) assert.match(text, /^\{.*\}\n$/)
  })
})

describe('a request that leads nowhere', () => {
  it('is told what may have been meant', async () => {
    const { ask } = await serve()
    const detailOf = async (path: string): Promise<unknown> => {
      const answer = await ask('GET', path)
      assert.deepEqual(refusalOf(answer), [404, 'route-not-found'])
      return answer.json.detail
    }
    assert.equal(await detailOf('/retry-task'), 'Nothing is there; did you mean /retry-tasks?')
    assert.equal(await detailOf('/dead-letters/'), 'Nothing is there; did you mean /dead-letters?')
    assert.equal(await detailOf('/'), 'Nothing is there; /openapi.json lists every path.')
    assert.equal(await detailOf(`/${'x'.repeat(1_000)}`), 'Nothing is there; /openapi.json lists every path.')
  })

  it('is told which methods the path takes', async () => {
    const { ask } = await serve()
    for (const [method, path, allow] of [
      ['PUT', '/retry-tasks', 'POST, GET, HEAD'],
      ['PATCH', '/retry-tasks/abc', 'GET, HEAD, DELETE'],
      ['GET', '/retry-tasks/abc/replay', 'POST'],
      ['POST', '/destinations?a=1', 'GET, HEAD'],
      ['OPTIONS', '/healthz', 'GET, HEAD'],
      ['PROPFIND', '/metrics', 'GET, HEAD'],
    ] as const) {
      const answer = await ask(method, path)
      assert.deepEqual(
        [answer.status, answer.json.code, answer.headers.allow],
        [405, 'method-not-allowed', allow],
        path,
      )
    }
  })

  it('is no way around the guards, and its body is not even read', async () => {
    const { ask } = await serve()
    assert.equal((await ask('POST', '/nowhere', { body: '{' })).status, 404)
    assert.equal((await ask('PUT', '/retry-tasks', { body: '<', headers: { 'content-type': 'text/xml' } })).status, 405)
    assert.equal((await ask('GET', '/nowhere', { headers: { host: 'evil.example' } })).status, 403)
  })
})

describe('without keys', () => {
  it('only loopback and what is allowed are served, under whatever name a page may have led here', async () => {
    const { ask, port } = await serve({ allow: { hosts: ['retry.internal'] } })
    const statusOf = async (host: string): Promise<number> =>
      (await ask('GET', '/retry-tasks', { headers: { host } })).status
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, 'retry.internal:80'])
      assert.equal(await statusOf(host), 200, host)
    for (const host of ['evil.example', `evil.example:${port}`, 'localhost.evil.example', 'x@localhost'])
      assert.equal(await statusOf(host), 403, host)
    const { code, detail } = (await ask('GET', '/metrics', { headers: { host: 'evil.example' } })).json
    assert.equal(code, 'foreign-host')
    assert.match(detail, /: ask localhost or 127\.0\.0\.1, or make keys: /)
  })

  it('a request without a host is refused', async () => {
    const { raw } = await serve()
    assert.match(await raw('GET /healthz HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 403 .*foreign-host/s)
  })

  it('a page of another origin cannot act for whoever looks at it', async () => {
    const { ask, port, store } = await serve()
    const post = (origin: string) =>
      ask('POST', '/retry-tasks', { body: TASK, headers: { host: `localhost:${port}`, origin } })
    for (const origin of ['https://evil.example', 'null', 'http://localhost:1'])
      assert.deepEqual(refusalOf(await post(origin)), [403, 'foreign-origin'])
    assert.deepEqual((await store.lanes({ limit: 1 })).items, [])
    assert.equal((await post(`http://localhost:${port}`)).status, 201)
  })

  it('a form cannot be a task: only JSON is read', async () => {
    const { ask } = await serve()
    for (const type of [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/json',
    ])
      assert.deepEqual(
        refusalOf(await ask('POST', '/retry-tasks', { body: JSON.stringify(TASK), headers: { 'content-type': type } })),
        [415, 'unsupported-media-type'],
      )
    const lines = { body: JSON.stringify(TASK), headers: { 'content-type': 'application/x-ndjson' } }
    assert.equal((await ask('POST', '/retry-tasks', lines)).status, 415)
  })
})

describe('a body', () => {
  it('is JSON in UTF-8; a refusal does not repeat it', async () => {
    const { ask } = await serve()
    const detailOf = async (body: string | Buffer): Promise<unknown> => {
      const answer = await ask('POST', '/retry-tasks', { body })
      assert.deepEqual(refusalOf(answer), [400, 'bad-json'])
      return answer.json.detail
    }
    for (const body of ['{"targetUrl": "x",}', '{\n"a": s3cret}', '{"a":', `["${'a'.repeat(400_000)}"`])
      assert.equal(
        await detailOf(body),
        'It cannot be parsed as JSON: a quote, a comma or a bracket is missing, or stands where it should not.',
      )
    assert.match(String(await detailOf(Buffer.from([0x22, 0xff, 0x22]))), /not valid UTF-8/)
  })

  it('is refused before it is parsed if it is nested deeper or wider than anything, though it never ends', async () => {
    const { ask } = await serve()
    const wide = await ask('POST', '/retry-tasks', { body: '{"a":'.concat('[0,'.repeat(3), '1,'.repeat(10_000)) })
    assert.match(wide.json.detail, /more than 10000 names and items/)
    const body = '['.repeat(33)
    for (const path of ['/retry-tasks', '/keys'])
      assert.match((await ask('POST', path, { body })).json.detail, /nested deeper than 32/)
    const { json } = await ask('POST', '/retry-tasks/batch', { body: `[${body}1${']'.repeat(32)}}]` })
    assert.match(json.items[0].problem.detail, /nested deeper than 32/)
  })

  it('counts the last one of a name that stands twice in an object', async () => {
    const { ask } = await serve()
    const body = '{"targetUrl":"https://api.example/","idempotencyKey":"first","idempotencyKey":"last"}'
    assert.equal((await ask('POST', '/retry-tasks', { body })).json.idempotencyKey, 'last')
  })

  it('is refused where none is taken, with a GET too', async () => {
    const { ask } = await serve()
    const body = { status: 'PENDING' }
    for (const [method, path] of [
      ['GET', '/retry-tasks'],
      ['GET', '/healthz'],
      ['POST', '/retry-tasks/x/replay'],
    ] as const)
      assert.equal((await ask(method, path, { body })).json.code, 'invalid-request', path)
  })

  it('comes as it is: no compression, no other charset', async () => {
    const { ask } = await serve()
    for (const headers of [{ 'content-encoding': 'gzip' }, { 'content-type': 'application/json; charset=latin1' }]) {
      const answer = await ask('POST', '/retry-tasks', { body: TASK, headers })
      assert.deepEqual(refusalOf(answer), [415, 'unsupported-media-type'])
    }
    const utf8 = { 'content-type': 'application/json; charset="UTF-8"', 'content-encoding': 'identity' }
    assert.equal((await ask('POST', '/retry-tasks', { body: TASK, headers: utf8 })).status, 201)
  })

  it('holds no name that changes what an object is', async () => {
    const { ask } = await serve()
    const body = '{"targetUrl":"https://api.example/","__proto__":{"method":"DELETE"}}'
    assert.deepEqual(refusalOf(await ask('POST', '/retry-tasks', { body })), [
      400,
      'invalid-request',
      '__proto__ is an unknown field',
    ])
    const metadata = '{"targetUrl":"https://api.example/","metadata":{"__proto__":"a","constructor":"b"}}'
    const { text } = await ask('POST', '/retry-tasks', { body: metadata })
    assert.ok(text.includes('"metadata":{"__proto__":"a","constructor":"b"}'), text)
  })
})

describe('a caller that is refused while it is still sending', () => {
  const head = (port: number, length: number): string =>
    `POST /retry-tasks HTTP/1.1\r\nhost: localhost:${port}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`

  it('can send the rest, then hears why, and keeps its connection', async () => {
    const { port } = await serve()
    const socket = connect({ host: '127.0.0.1', port })
    let heard = ''
    socket.on('data', chunk => void (heard += chunk.toString()))
    const chunk = Buffer.alloc(1_000_000, 'x')
    socket.write(head(port, 20 * chunk.length))
    for (let n = 0; n < 20; n++) await new Promise(resolve => void socket.write(chunk, resolve))
    socket.write(`GET /healthz HTTP/1.1\r\nhost: localhost:${port}\r\nconnection: close\r\n\r\n`)
    await once(socket, 'close')
    assert.match(heard, /^HTTP\/1\.1 413 .*body-too-large.*HTTP\/1\.1 200 OK/s)
  })

  it('is cut off when it goes on for too long', async () => {
    const { port, clock, raw } = await serve()
    const heard = raw(head(port, 20_000_000))
    while (clock.pending === 0) await new Promise(resolve => void setImmediate(resolve))
    await clock.advance(2_000)
    assert.match(await heard, /^HTTP\/1\.1 413 /)
  })
})

describe('an answer', () => {
  it('is JSON, and a request that cannot take that is refused', async () => {
    const { ask } = await serve()
    const statusOf = async (accept: string): Promise<number> =>
      (await ask('GET', '/healthz', { headers: { accept } })).status
    for (const accept of ['*/*', 'application/json', 'text/html, application/*;q=0.5', 'text/html,*/*;q=0.8'])
      assert.equal(await statusOf(accept), 200, accept)
    for (const accept of ['text/html', 'application/xml', 'application/json;q=0', ''])
      assert.equal(await statusOf(accept), 406)
    assert.equal((await ask('GET', '/metrics', { headers: { accept: 'text/plain' } })).status, 200)
  })

  it('to HEAD has no body', async () => {
    const { ask } = await serve()
    const { status, text, headers } = await ask('HEAD', '/retry-tasks')
    assert.deepEqual([status, text, Number(headers['content-length']) > 0], [200, '', true])
  })
})

describe('connections', () => {
  it('are hung up on soon after the answer, though the other side never closes its own', async () => {
    const { api, port, clock } = await serve({ limits: { requestTimeoutMs: 100 } })
    for (const text of ['nonsense\r\n\r\n', 'CONNECT a.example:80 HTTP/1.1\r\nhost: localhost\r\n\r\n', '']) {
      const accepted = once(api.server, 'connection') as Promise<[Socket]>
      const caller = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
      caller.on('error', () => undefined).resume()
      const [socket] = await accepted
      const closed = once(socket, 'close')
      if (text !== '') caller.write(text)
      await once(caller, 'end')
      assert.ok(!socket.destroyed, 'it may still read')
      await clock.advance(2_000)
      await closed
      caller.destroy()
    }
  })
})

describe('a request that is no HTTP, too long or too slow', () => {
  it('is told so on its connection', async () => {
    const { raw, port } = await serve({ limits: { requestTimeoutMs: 100 } })
    const host = `host: localhost:${port}\r\n`
    assert.match(await raw('nonsense\r\n\r\n'), /^HTTP\/1\.1 400 .*application\/problem\+json.*"code":"bad-http"/s)
    const large = await raw(`GET /healthz HTTP/1.1\r\n${host}x: ${'x'.repeat(20_000)}\r\n\r\n`)
    assert.match(large, /^HTTP\/1\.1 431 .*"code":"headers-too-large"/s)
    const slow = await raw(
      `POST /retry-tasks HTTP/1.1\r\n${host}content-type: application/json\r\ncontent-length: 10\r\n\r\n{`,
    )
    assert.match(slow, /^HTTP\/1\.1 408 .*"code":"request-timeout"/s)
  })

  it('is told which header stands twice that may stand once, before a key or a body is looked at', async () => {
    const { raw, port, log } = await serve()
    const head = `POST /retry-tasks HTTP/1.1\r\nhost: localhost:${port}\r\nconnection: close\r\ncontent-length: 0\r\n`
    for (const name of ['Authorization', 'Secondwind-Tenant', 'Idempotency-Key', 'Content-Type', 'Last-Event-ID']) {
      const heard = await raw(`${head}${name.toLowerCase()}: one\r\naccept: */*\r\n${name}: other\r\n\r\n`)
      assert.match(heard, /^HTTP\/1\.1 400 .*"code":"bad-http"/s)
      assert.ok(heard.includes(`"detail":"It has more than one ${name}."`), heard)
    }
    const both = await raw(`${head}${'authorization: a\r\nidempotency-key: b\r\n'.repeat(2)}\r\n`)
    assert.match(both, /It has more than one Authorization, and more than one Idempotency-Key\./)
    assert.ok(log.length > 0 && !log.join('').includes('other'))
  })

  it('is not taken if it is coded on its way in another manner than in chunks', async () => {
    const { raw, port } = await serve()
    const send = (coding: string): Promise<string> =>
      raw(
        `POST /bodies HTTP/1.1\r\nhost: localhost:${port}\r\nconnection: close\r\ncontent-type: text/plain\r\ntransfer-encoding: ${coding}\r\n\r\n1\r\na\r\n0\r\n\r\n`,
      )
    for (const coding of ['gzip, chunked', 'deflate,Chunked'])
      assert.match(await send(coding), /^HTTP\/1\.1 501 .*"code":"bad-http"/s)
    assert.match(await send('Chunked'), /^HTTP\/1\.1 201 /)
  })

  it('is not refused for what may stand there more than once', async () => {
    const { raw, port } = await serve()
    const head = `GET /healthz HTTP/1.1\r\nhost: localhost:${port}\r\nconnection: close\r\n`
    assert.match(await raw(`${head}accept: text/plain\r\nx: 1\r\naccept: */*\r\nX: 2\r\n\r\n`), /^HTTP\/1\.1 200 /)
  })

  it('is answered in the same form before any route: no host, two of them, another expectation, a tunnel', async () => {
    const { raw, port } = await serve()
    const host = `host: localhost:${port}\r\nconnection: close\r\n`
    for (const [request, answered] of [
      ['GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n', /^HTTP\/1\.1 403 .*"code":"foreign-host"/s],
      [`GET /healthz HTTP/1.1\r\n${host}host: evil.example\r\n\r\n`, /^HTTP\/1\.1 400 .*"code":"bad-http"/s],
      [`GET /healthz HTTP/1.1\r\n${host}expect: banana\r\n\r\n`, /^HTTP\/1\.1 417 .*"code":"bad-http"/s],
      [`CONNECT a.example:443 HTTP/1.1\r\n${host}\r\n`, /^HTTP\/1\.1 405 .*"code":"method-not-allowed"/s],
    ] as const) {
      const heard = await raw(request)
      assert.match(heard, answered)
      assert.match(heard, /content-type: application\/problem\+json/)
    }
  })

  it('does not keep the service from closing', async () => {
    const { raw, port, api, clock } = await serve()
    const body = 'content-type: application/json\r\ncontent-length: 10\r\n\r\n{'
    const arrived = new Promise(resolve => void api.server.once('request', resolve))
    const stuck = raw(`POST /retry-tasks HTTP/1.1\r\nhost: localhost:${port}\r\n${body}`)
    await arrived
    const closing = api.close()
    while (clock.pending === 0) await new Promise(resolve => void setImmediate(resolve))
    await clock.advance(5_000)
    await closing
    assert.equal(await stuck, '')
  })

  it('is told which part of its address is too long, or not encoded', async () => {
    const { ask } = await serve()
    assert.deepEqual(refusalOf(await ask('GET', `/retry-tasks?cursor=${'x'.repeat(9_000)}`)), [414, 'url-too-long'])
    assert.deepEqual(refusalOf(await ask('GET', `/retry-policies/${'x'.repeat(600)}`)), [414, 'url-too-long'])
    assert.deepEqual(refusalOf(await ask('GET', '/retry-policies/%zz')), [400, 'bad-http'])
  })
})

describe('the log', () => {
  it('has a line for each answer, by the pattern of its path, and no secret of anybody', async () => {
    const { ask, log, api } = await serve()
    const secret = { authorization: 'Bearer s3cret', cookie: 's3cret' }
    await ask('POST', '/retry-tasks', { body: { ...TASK, body: 's3cret', headers: secret }, headers: secret })
    await ask('GET', '/retry-policies/s3cret?x=s3cret', { headers: secret })
    await ask('GET', '/s3cret', { headers: secret })
    api.log.info({ req: { headers: secret }, headers: secret, body: 's3cret' }, 'by mistake')
    const lines = log.map(line => JSON.parse(line)).filter(({ msg }) => msg === 'answered' || msg === 'refused')
    assert.deepEqual(
      lines.map(({ msg, method, route, status, code }) => [msg, method, route, status, code]),
      [
        ['answered', 'POST', '/retry-tasks', 201, undefined],
        ['refused', 'GET', '/retry-policies/:policyId', 400, 'invalid-request'],
        ['refused', 'GET', 'none', 404, 'route-not-found'],
      ],
    )
    assert.ok(!log.join('').includes('s3cret'), log.join(''))
    assert.ok(lines.every(({ requestId }) => /^[\da-f]{16}$/.test(requestId)))
  })
})
