import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { destinationFrom, destinationOf } from './destination.ts'

describe('a destination', () => {
  it('has one name, however its host is spelled', () => {
    for (const [text, name] of [
      ['https://api.example/charge', 'https://api.example'],
      ['https://api.example./charge', 'https://api.example'],
      ['HTTPS://EXAMPLE.com.:443/', 'https://example.com'],
      ['http://EXAMPLE.com.:8080/', 'http://example.com:8080'],
      ['http://127.0.0.1./', 'http://127.0.0.1'],
      ['http://0x7f.1.:81/', 'http://127.0.0.1:81'],
      ['http://[::1]:80/', 'http://[::1]'],
      ['http://münchen.example./', 'http://xn--mnchen-3ya.example'],
    ] as const)
      assert.equal(destinationOf(new URL(text)), name, text)
  })

  it('is the origin of a target whose host has no dot at its end', () => {
    fc.assert(
      fc.property(fc.webUrl({ validSchemes: ['http', 'https'] }), text => {
        const url = new URL(text)
        assert.equal(destinationOf(url), url.origin)
        url.hostname = `${url.hostname}.`
        assert.equal(destinationOf(url), new URL(text).origin)
      }),
    )
  })

  it('is called by its origin alone', () => {
    assert.equal(destinationFrom('https://API.example.'), 'https://api.example')
    assert.equal(destinationFrom('http://10.0.0.1.:8080/'), 'http://10.0.0.1:8080')
    for (const text of [
      'api.example',
      'ftp://api.example',
      'https://api.example/path',
      'https://user@api.example',
      'http://example..',
      'http://./',
      'http://a..b',
      'http://[::1].',
      `http://${'a'.repeat(64)}.example`,
    ])
      assert.equal(destinationFrom(text), undefined, text)
  })
})
