import fc from 'fast-check'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Read } from './read.ts'
import { knowingTargetUrls, readBody, readHeaders, readTargetUrl } from './target.ts'

const sayOf = (read: Read<unknown>): string[] =>
  'value' in read ? [] : read.problems.map(({ at, say }) => `${at} ${say}`)
const valueOf = <T>(read: Read<T>): T => {
  assert.ok('value' in read, JSON.stringify(read))
  return read.value
}

describe('the address of a target', () => {
  const read = (text: string) => readTargetUrl(text, {})

  it('is taken as the URL standard writes it', () => {
    assert.equal(valueOf(read('HTTPS://Api.Example:443/a b'.replace(' ', '%20'))).href, 'https://api.example/a%20b')
    assert.equal(valueOf(read('http://münchen.example/ä')).href, 'http://xn--mnchen-3ya.example/%C3%A4')
  })

  it('is refused when it is none, or none for HTTP', () => {
    for (const text of ['', '/charge', 'api.example/charge', 'https://', 'http://[::1'])
      assert.match(sayOf(read(text))[0]!, /must be an absolute address/, text)
    for (const text of ['ftp://a.example/', 'file:///etc/passwd', 'javascript:alert(1)', 'ws://a.example/'])
      assert.match(sayOf(read(text))[0]!, /must begin with http:\/\/ or https:\/\//, text)
  })

  it('is refused with credentials, and the answer does not repeat them', () => {
    const refused = read('https://user:hunter2@api.example/')
    assert.match(sayOf(refused)[0]!, /credentials/)
    assert.ok(!JSON.stringify(refused).includes('hunter2'))
  })

  it('is refused with what would be taken out, replaced or never sent', () => {
    for (const text of [
      'https://api.example/a b',
      'https://api.example/\n',
      'https://api\t.example/',
      ' https://a.example',
    ])
      assert.match(sayOf(read(text))[0]!, /spaces or control characters/, text)
    assert.match(sayOf(read('https://a.example/\ud800'))[0]!, /surrogate/)
    for (const text of ['https://a.example/#top', 'https://a.example/#'])
      assert.match(sayOf(read(text))[0]!, /fragment/, text)
    assert.match(sayOf(read(`https://a.example/${'ä'.repeat(2_000)}`))[0]!, /at most 8192 characters/)
  })

  it('is refused when no host can have such a name', () => {
    const label = 'a'.repeat(63)
    for (const host of [`${label}a.x`, `${`${label}.`.repeat(4)}x`, 'a..x', '.x', 'x..', '.'])
      assert.match(sayOf(read(`http://${host}/`))[0]!, /must name a host that can exist/, host)
    for (const host of [`${label}.x`, 'a.x.', '127.0.0.1', '[::1]', 'localhost']) valueOf(read(`http://${host}/`))
  })

  it('is refused where it must not be called, under a code of its own', () => {
    const refused = readTargetUrl('http://10.0.0.1/', { checkTarget: () => 'leads inside' })
    assert.deepEqual(refused, {
      problems: [{ at: 'targetUrl', is: 'http://10.0.0.1/', say: 'must not be called: leads inside' }],
      alone: { code: 'target-forbidden', detail: 'Leads inside.' },
    })
  })
})

describe('addresses that are known', () => {
  const counting = (verdict?: string) => {
    const looks: string[] = []
    const checkTarget = (href: string): string | undefined => (looks.push(href), verdict)
    return { looks, read: knowingTargetUrls({ checkTarget }) }
  }

  it('are looked at once, wherever they stand', () => {
    const { looks, read } = counting()
    for (let n = 0; n < 3; n++) {
      assert.deepEqual(valueOf(read('https://api.example./charge')), {
        href: 'https://api.example./charge',
        destination: 'https://api.example',
      })
      valueOf(read('https://api.example./charge', 'callbackUrl'))
    }
    assert.equal(looks.length, 1)
  })

  it('are none that were refused: each is told where it stands', () => {
    const { looks, read } = counting('leads inside')
    assert.match(sayOf(read('http://10.0.0.1/'))[0]!, /^targetUrl /)
    assert.match(sayOf(read('http://10.0.0.1/', 'callbackUrl'))[0]!, /^callbackUrl /)
    assert.equal(looks.length, 2)
  })

  it('are forgotten when there are a thousand, and none is long', () => {
    const { looks, read } = counting()
    for (let n = 0; n < 1_001; n++) read(`https://api.example/${n}`)
    read('https://api.example/1000')
    assert.equal(looks.length, 1_001)
    read('https://api.example/0')
    assert.equal(looks.length, 1_002)
    const long = `https://api.example/${'x'.repeat(512)}`
    read(long)
    read(long)
    assert.equal(looks.length, 1_004)
  })
})

describe('the headers of a task', () => {
  const problems = (headers: { [name: string]: string }, key?: string): string[] => sayOf(readHeaders(headers, key))

  it('are kept in small letters', () => {
    assert.deepEqual(valueOf(readHeaders({ 'Content-Type': 'text/plain', 'X-A': '1' }, undefined)), {
      'content-type': 'text/plain',
      'x-a': '1',
    })
  })

  it('keep names that objects have of their own', () => {
    const headers = valueOf(readHeaders(JSON.parse('{"__proto__":"1","constructor":"2"}'), undefined))
    assert.deepEqual(Object.entries(headers), [
      ['__proto__', '1'],
      ['constructor', '2'],
    ])
  })

  it('have no line breaks, in names or values, and nothing that a byte cannot hold', () => {
    for (const value of ['a\r\nx: 1', 'a\n', '\0', '\u007f', 'ä→'])
      assert.match(problems({ 'x-a': value })[0]!, /^headers\.x-a must hold no line breaks/, JSON.stringify(value))
    for (const name of ['', 'a b', 'a:b', 'a\n', 'ä', '(a)']) assert.match(problems({ [name]: '1' })[0]!, /is no name/)
    assert.deepEqual(problems({ 'x-a': 'Grüße, \t "1"' }), [])
  })

  it('are those of the request, not of the connection, and not those that every attempt writes anew', () => {
    const own = ['Host', 'Content-Length', 'Connection', 'Transfer-Encoding', 'TE', 'Upgrade', 'Keep-Alive', 'Trailer']
    const ours = ['Retry-Attempt', 'X-Timeout-Ms', 'Webhook-Id', 'webhook-signature', 'Expect', 'Proxy-Connection']
    for (const name of [...own, ...ours]) assert.equal(problems({ [name]: '1' }).length, 1, name)
  })

  it('repeat the key at most as it is, and it is not kept twice', () => {
    assert.match(problems({ 'Idempotency-Key': 'a' }, 'b')[0]!, /idempotencyKey/)
    assert.match(problems({ 'Idempotency-Key': 'a' })[0]!, /idempotencyKey/)
    assert.deepEqual(valueOf(readHeaders({ 'Idempotency-Key': 'a' }, 'a')), {})
  })

  it('are not given twice in two spellings', () => {
    assert.match(problems({ 'X-A': '1', 'x-a': '2' })[0]!, /is given twice/)
  })

  it('have 16 KiB together', () => {
    assert.match(
      problems({ a: 'x'.repeat(10_000), b: 'x'.repeat(10_000) })[0]!,
      /^headers must have at most 16384 bytes/,
    )
  })
})

describe('the body of a task', () => {
  it('is the bytes that were given, as text or in base64', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), bytes => {
        for (const spelling of ['base64', 'base64url'] as const) {
          const read = readBody({ bodyBase64: Buffer.from(bytes).toString(spelling) })
          assert.deepEqual([...valueOf(read)!], [...bytes])
        }
      }),
    )
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), text => {
        assert.equal(Buffer.from(valueOf(readBody({ body: text }))!).toString(), text)
      }),
    )
  })

  it('is refused when it is no base64, instead of being read as far as it goes', () => {
    for (const bodyBase64 of ['a', 'ab=', 'abc==', 'a b=', 'ab+_', 'ab\n', '=', '====', 'äbcd'])
      assert.deepEqual(sayOf(readBody({ bodyBase64 })), ['bodyBase64 must be base64'], bodyBase64)
  })

  it('is refused when it is half of a character, or given twice, or has no meaning', () => {
    assert.match(sayOf(readBody({ body: 'a\ud800' }))[0]!, /surrogate/)
    assert.match(sayOf(readBody({ body: '', bodyBase64: '' }))[0]!, /exclude each other/)
    for (const method of ['GET', 'HEAD'] as const)
      assert.match(sayOf(readBody({ body: '', method }))[0]!, /has no meaning/)
  })

  it('is none, which is another thing than an empty one, when it is left out', () => {
    assert.equal(valueOf(readBody({})), null)
    assert.equal(valueOf(readBody({ body: '' }))!.length, 0)
  })
})
