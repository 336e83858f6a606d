import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { DiskSpace } from '../../space/disk-space.ts'
import { guarded } from '../access/guarded.test-kit.ts'

const PAUSE = '/destinations/https%3A%2F%2Fapi.example/pause'
const POLICY = { policyId: 'mine' }
const CONTROL = { level: 'dispatch-off', scope: { kind: 'tenant', tenant: 'acme' }, reason: 'it fills the disk' }

/** A service with a tenant, on a disk of a gigabyte that is full but for so many bytes. */
async function onDisk(freeBytes: number) {
  const disk = { allBytes: 1_000_000_000, freeBytes: 500_000_000 }
  const clock = virtualClock()
  const space = new DiskSpace({ clock, look: async () => ({ ...disk }) })
  const served = await guarded({ space })
  await served.addTenant('acme')
  const key = await served.keyFor('acme', 'admin')
  const other = (await served.as('POST', '/keys', { key, body: { scopes: ['read'] } })).json as { keyId: string }
  disk.freeBytes = freeBytes
  await clock.advance(1_000)
  return { ...served, key, other }
}

describe('a disk that is nearly full', () => {
  it('has no room for what tenants order, and says when to come back', async () => {
    const { as, key } = await onDisk(18_000_000)
    for (const [method, path, body] of [
      ['POST', PAUSE, { reason: 'x'.repeat(500) }],
      ['POST', '/retry-policies', POLICY],
      ['POST', '/keys', { scopes: ['read'] }],
      ['POST', '/replays', { filter: { errorCode: 'http-503' }, ratePerSecond: 10 }],
    ] as const) {
      const { status, json, headers } = await as(method, path, { key, body })
      assert.deepEqual([path, status, json.code], [path, 503, 'store-full'])
      assert.match(headers['retry-after']!, /^\d+$/)
    }
  })

  it('has room for what operators order, and for whoever shuts a door', async () => {
    const { as, key, other, operator } = await onDisk(0)
    assert.equal((await as('DELETE', `/keys/${other.keyId}`, { key })).status, 200)
    assert.equal((await as('GET', '/retry-policies', { key })).status, 200)
    assert.equal((await as('POST', '/controls', { key: operator, body: CONTROL })).status, 201)
    assert.equal((await as('POST', PAUSE, { key: operator, tenant: 'acme', body: {} })).status, 200)
  })

  it('counts the orders that are under way: those that come at once do not fill it together', async () => {
    const { as, key } = await onDisk(18_750_000 + 5 * 2 * 9_000)
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => as('POST', PAUSE, { key, body: { reason: 'x'.repeat(500) } })),
    )
    const taken = answers.filter(({ status }) => status !== 503)
    assert.equal(taken.length, 5)
  })
})
