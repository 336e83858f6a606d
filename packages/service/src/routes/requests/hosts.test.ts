import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { isOwnHost, isOwnOrigin } from './hosts.ts'

describe('a host', () => {
  it('is our own when it is loopback, in whatever spelling and with any port', () => {
    for (const host of ['localhost', 'localhost:4747', 'LocalHost:1', 'a.localhost:80', '127.0.0.1:4747', '127.9.9.9'])
      assert.ok(isOwnHost(host, []), host)
    for (const host of ['[::1]', '[::1]:4747']) assert.ok(isOwnHost(host, []), host)
  })

  it('is not when it only looks so', () => {
    for (const host of [
      '',
      'localhost.evil.example',
      '127.0.0.1.evil.example',
      'evil.example',
      'evil@localhost',
      '::1',
    ])
      assert.ok(!isOwnHost(host, []), host)
    for (const host of ['localhost:x', 'localhost/', '[::1', '128.0.0.1', '0.0.0.0', '[::2]', 'local host'])
      assert.ok(!isOwnHost(host, []), host)
  })

  it('is our own when it is allowed, with its port or with any', () => {
    assert.ok(isOwnHost('retry.internal:8080', ['retry.internal']))
    assert.ok(isOwnHost('Retry.Internal:8080', ['retry.internal:8080']))
    assert.ok(!isOwnHost('retry.internal:8081', ['retry.internal:8080']))
  })
})

describe('an origin', () => {
  it('is our own when its host and port are those of the request', () => {
    assert.ok(isOwnOrigin('http://localhost:4747', 'localhost:4747'))
    assert.ok(isOwnOrigin('http://localhost', 'localhost:80'))
    assert.ok(isOwnOrigin('https://retry.internal', 'retry.internal'))
  })

  it('is foreign otherwise', () => {
    for (const origin of [
      'http://localhost:4748',
      'http://127.0.0.1:4747',
      'https://evil.example',
      'null',
      '',
      'file://',
    ])
      assert.ok(!isOwnOrigin(origin, 'localhost:4747'), origin)
  })
})
