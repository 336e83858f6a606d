import type { AuditEntry, Page } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { guarded } from '../access/guarded.test-kit.ts'

/** Two tenants with two of everything that is listed, one after the other. */
async function twoTenants() {
  const served = await guarded()
  const { as, addTenant, keyFor } = served
  for (const tenant of ['acme', 'beta']) await addTenant(tenant)
  const keys = [await keyFor('acme', 'admin'), await keyFor('beta', 'admin')] as const
  for (const n of [1, 2])
    for (const key of keys) {
      const origin = `https://${n}.example`
      const { json } = await as('POST', '/retry-tasks', { key, body: { targetUrl: `${origin}/charge` } })
      await as('DELETE', `/retry-tasks/${(json as { taskId: string }).taskId}`, { key })
      await as('POST', '/retry-policies', { key, body: { policyId: `p${n}` } })
      await as('POST', '/secrets', { key, body: { destination: origin } })
      await as('POST', '/keys', { key, body: { scopes: ['read'] } })
      await as('POST', '/controls', { key, body: { level: 'retries-off', scope: { kind: 'tenant' }, reason: 'x' } })
      await as('POST', '/replays', { key, body: { filter: { destination: origin }, ratePerSecond: 1 } })
    }
  return { as, keys }
}

const LISTS = [
  '/retry-tasks',
  '/destinations',
  '/audit',
  '/retry-policies',
  '/secrets',
  '/keys',
  '/controls',
  '/replays',
]

describe('what a tenant is given to come back with', () => {
  it('leads on in its own list and in nobody else’s, and can be read by nobody', async () => {
    const { as, keys } = await twoTenants()
    const [own, others] = keys
    for (const list of LISTS) {
      const first = (await as('GET', `${list}?limit=1`, { key: own })).json as Page<unknown>
      const path = `${list}?limit=1&cursor=${first.nextCursor}`
      const second = await as('GET', path, { key: own })
      assert.equal(second.status, 200, list)
      assert.notDeepEqual((second.json as Page<unknown>).items, first.items, list)
      const { status, json } = await as('GET', path, { key: others })
      assert.deepEqual([status, (json as { code: string }).code], [400, 'invalid-cursor'], list)
      const places = [0, 8].map(at => Buffer.from(first.nextCursor!.slice(at), 'base64url').toString('latin1'))
      for (const place of places) assert.doesNotMatch(place, /^\[".*\]$/s, list)
    }
  })

  it('counts nothing: no line of the audit tells how many others have', async () => {
    const { as, keys } = await twoTenants()
    const ids: string[] = []
    for (const key of keys) {
      const { items } = (await as('GET', '/audit', { key })).json as Page<AuditEntry>
      ids.push(...items.map(({ auditId }) => auditId))
    }
    assert.equal(new Set(ids).size, ids.length)
    for (const id of ids) assert.match(id, /^[0-9a-f]{16}$/)
    assert.notDeepEqual(ids, ids.toSorted().toReversed(), 'nor do they grow')
  })
})
