import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { sayDetails } from './say-details.ts'

describe('what a line of the audit tells in short', () => {
  it('is each number that was set, each instant and each length of time in words', () => {
    const at = Date.UTC(2026, 10, 16, 2, 7, 58)
    const control = { level: 'retries-off', scope: { kind: 'all' }, expiresAt: at }
    assert.equal(sayDetails(control), 'level=retries-off scope=all expiresAt=2026-11-16T02:07:58Z')
    assert.equal(sayDetails({ until: at, rampMs: 300_000 }), 'until=2026-11-16T02:07:58Z rampMs=5min')
    const limits = { concurrency: 5, rateLimit: { perSecond: 20 } }
    assert.equal(sayDetails({ name: 'pay', limits }), 'name=pay limits.concurrency=5 limits.rateLimit.perSecond=20')
    const scope = { kind: 'destination', destination: 'https://api.example' }
    assert.equal(sayDetails({ scope }), 'scope=destination scope.destination=https://api.example')
  })

  it('is nothing where nothing was set', () => {
    assert.equal(sayDetails({ scopes: ['read', 'admin'], isOperator: false }), 'scopes=read,admin')
    assert.equal(sayDetails({}), '')
  })
})
