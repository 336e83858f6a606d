import assert from 'node:assert/strict'
import fc from 'fast-check'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it, onTestFinished } from 'vitest'
import { answer, localTarget, rawServer, send, type SendOptions } from './wire.test-kit.ts'

import manifest from '../../../package.json' with { type: 'json' }

/** What one request looks like to the server: the head line by line, and the body. */
async function sent(options: SendOptions, path = '/'): Promise<{ lines: string[]; body: Buffer; host: string }> {
  const server = await rawServer(answer())
  const got = await send(localTarget(), server.url + path, options)
  assert.equal(got.kind, 'answered')
  const { head, body } = server.requests[0]!
  return { lines: head.split('\r\n'), body, host: `host: 127.0.0.1:${server.port}` }
}

/** Also what no text should hold: controls, halves of characters. */
const anyUnit = fc.integer({ min: 0, max: 0xff_ff }).map(code => String.fromCharCode(code))

/** Why a request is not sent. */
async function refused(options: SendOptions, url?: string): Promise<string> {
  const server = await rawServer(answer())
  const got = await send(localTarget(), url ?? `${server.url}/`, options)
  assert.equal(server.requests.length, 0)
  assert.ok(got.kind === 'failed' && got.unsent && got.errorCode === 'target-invalid', JSON.stringify(got))
  return got.errorMessage
}

describe('a request', () => {
  it('is the method, the path with its query, the task’s headers and the bytes of the body, to the letter', async () => {
    const body = Buffer.from([0, 255, 13, 10, 128])
    const headers = { 'Content-Type': 'application/octet-stream', 'x-shop': 'caf\u00E9' }
    const { lines, body: got, host } = await sent({ method: 'PUT', headers, body }, '/a%20b/%C3%A9?q=1&q=2')
    assert.deepEqual(lines, [
      'PUT /a%20b/%C3%A9?q=1&q=2 HTTP/1.1',
      host,
      'connection: keep-alive',
      'Content-Type: application/octet-stream',
      'x-shop: caf\u00E9',
      `user-agent: secondwind/${manifest.version}`,
      'content-length: 5',
    ])
    assert.deepEqual(got, body)
  })

  it('without a body has none', async () => {
    const { lines, body } = await sent({ method: 'GET', body: null })
    assert.ok(!lines.some(line => line.startsWith('content-length')))
    assert.equal(body.byteLength, 0)
  })

  it('says that its body is empty where one is expected', async () => {
    for (const body of [null, new Uint8Array()])
      assert.ok((await sent({ method: 'POST', body })).lines.includes('content-length: 0'))
  })

  it('carries what the attempt says of itself, in place of what the task says under that name', async () => {
    const headers = { 'Idempotency-Key': 'theirs', Traceparent: 'theirs', 'x-mine': 'theirs' }
    const { lines } = await sent({ headers, own: { 'idempotency-key': 'ours', 'retry-attempt': '2' } })
    const named = lines.filter(line => /^(?:idempotency-key|retry-attempt|traceparent|x-mine):/i.test(line))
    assert.deepEqual(named, ['Traceparent: theirs', 'x-mine: theirs', 'idempotency-key: ours', 'retry-attempt: 2'])
  })

  it('names us, unless the task names somebody', async () => {
    for (const options of [{ headers: { 'User-Agent': 'shop/1' } }, { own: { 'user-agent': 'shop/1' } }]) {
      const { lines } = await sent(options)
      assert.deepEqual(
        lines.filter(line => /^user-agent:/i.test(line)).map(line => line.toLowerCase()),
        ['user-agent: shop/1'],
      )
    }
  })

  it('leaves out what belongs to the browser: the fragment', async () => {
    assert.match((await sent({}, '/a?b#c')).lines[0]!, /^POST \/a\?b HTTP/)
  })
})

describe('a request is refused, and nothing is sent', () => {
  it('if a header would break out of its line', async () => {
    for (const value of ['a\r\nx-evil: 1', 'a\nb', 'a\rb', 'a\u0000b', 'a\u007Fb', '\u20AC'])
      assert.equal(await refused({ headers: { 'x-a': value } }), 'the header x-a has a value that cannot be sent')
    for (const name of ['x a', 'x\r\ny', 'x:y', '', 'x\u00E9'])
      assert.equal(await refused({ headers: { [name]: 'a' } }), 'a header has a name that is none')
    assert.match(await refused({ own: { 'idempotency-key': 'a\r\nb' } }), /^the header idempotency-key has a value/)
  })

  it('if a header belongs to the connection', async () => {
    const names = ['Host', 'content-length', 'Transfer-Encoding', 'connection', 'keep-alive', 'upgrade', 'te', 'expect']
    for (const name of names)
      assert.equal(await refused({ headers: { [name]: '1' } }), `the header ${name} belongs to the connection`)
  })

  it('if its method is none, or a tunnel', async () => {
    for (const method of ['GET /x HTTP/1.1\r\nx: y', 'G T', '', 'CONNECT'])
      assert.equal(await refused({ method }), 'the method is none that is sent')
  })

  it('if its URL is none that we call, or holds a password', async () => {
    for (const url of ['ftp://127.0.0.1/', 'file:///etc/passwd', 'x', ''])
      assert.equal(await refused({}, url), 'the target is no http or https URL')
    assert.match(await refused({}, 'http://user:secret@127.0.0.1/'), /^the target has a user or a password in its URL/)
  })
})

describe('whatever a task asks for', () => {
  it('reaches the server as it is, or does not reach it', async () => {
    const arrived: { headers: IncomingMessage['headers']; url: string | undefined; body: Buffer }[] = []
    const server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        arrived.push({ headers: request.headers, url: request.url, body: Buffer.concat(chunks) })
        response.end()
      })
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    onTestFinished(() => void server.close())
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const target = localTarget()
    const value = fc.oneof(fc.string(), fc.string({ unit: anyUnit }))
    await fc.assert(
      fc.asyncProperty(value, value, fc.uint8Array({ maxLength: 50 }), async (text, path, body) => {
        const url = new URL(`${origin}/`)
        url.pathname = path
        const got = await send(target, url.href, { headers: { 'x-text': text }, body })
        const request = arrived.pop()
        assert.equal(got.kind === 'answered', request !== undefined)
        if (request === undefined) return
        assert.equal(request.headers['x-text'], text.replace(/^[\t ]+|[\t ]+$/g, ''))
        assert.equal(request.url, url.pathname)
        assert.deepEqual(new Uint8Array(request.body), body)
        assert.deepEqual(Object.keys(request.headers).toSorted(), [
          'connection',
          'content-length',
          'host',
          'user-agent',
          'x-text',
        ])
      }),
      { numRuns: 60 },
    )
  })
})
