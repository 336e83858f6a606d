import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { createRequestIds, isOwnHost, isOwnOrigin } from './door.ts'

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

const MANY = 1_000

describe('ids of requests', () => {
  it('neither come twice nor grow: nobody counts by them what others ask', () => {
    const requestIds = createRequestIds()
    const ids = Array.from({ length: MANY }, () => requestIds.next())
    assert.equal(new Set(ids).size, MANY)
    for (const id of ids) assert.match(id, /^[\da-f]{16}$/)
    const rises = ids.filter((id, index) => index > 0 && id > ids[index - 1]!)
    assert.ok(rises.length > MANY / 4 && rises.length < (3 * MANY) / 4, `${rises.length} are above the one before`)
    const prefixes = new Set(ids.map(id => id.slice(0, 8)))
    assert.ok(prefixes.size > MANY / 2, 'nor has a process one of its own')
  })
})
