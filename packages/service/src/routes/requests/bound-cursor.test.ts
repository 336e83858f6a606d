import type { Page } from '@secondwind/client'
import { virtualClock, type VirtualClock } from '@secondwind/resilience/testing'
import assert from 'node:assert/strict'
import { describe, it, onTestFinished } from 'vitest'
import { openMemoryStore } from '../../stores/sqlite/sqlite-store.ts'
import { openTemporarySqliteStore } from '../../stores/sqlite/sqlite.test-kit.ts'
import type { Store } from '../../stores/store.ts'
import { guarded } from '../access/guarded.test-kit.ts'
import { attempt } from '../api.test-kit.ts'
import { bindCursor, openCursor } from './bound-cursor.ts'

describe('a cursor that is bound to its question', () => {
  it('leads on under the same question, in whatever order it is asked', () => {
    const { nextCursor } = bindCursor({ items: [], nextCursor: 'place' }, { status: 'PENDING', policyId: 'a' })
    const again = { policyId: 'a', status: 'PENDING', destination: undefined }
    assert.deepEqual(openCursor(nextCursor, again), { cursor: 'place' })
    assert.deepEqual(openCursor(undefined, again), {})
  })

  it('is refused under any other', () => {
    const { nextCursor } = bindCursor({ items: [], nextCursor: 'place' }, { status: 'PENDING' })
    for (const other of [{}, { status: 'EXHAUSTED' }, { status: 'PENDING', policyId: 'a' }])
      assert.throws(() => openCursor(nextCursor, other), { code: 'invalid-cursor' })
    assert.throws(() => openCursor('place', { status: 'PENDING' }), { code: 'invalid-cursor' })
  })

  it('is none where the list has ended', () => {
    assert.deepEqual(bindCursor({ items: [] }, { status: 'PENDING' }), { items: [] })
  })
})

/** Every list of a tenant. */
const LISTS = [
  '/retry-tasks',
  '/dead-letters',
  '/dead-letters?group=none',
  '/destinations',
  '/destinations?hasSettings=true',
  '/audit',
  '/retry-policies',
  '/retry-policies/p1/versions',
  '/secrets',
  '/keys',
  '/controls',
  '/replays',
]

/** Two tenants with two of everything that is listed, made in turns. */
async function twoTenants(openStore: (clock: VirtualClock) => Promise<Store>) {
  const clock = virtualClock()
  const store = await openStore(clock)
  onTestFinished(() => store.close())
  const served = await guarded({ clock, store })
  const { as, addTenant, keyFor } = served
  for (const tenant of ['acme', 'beta']) await addTenant(tenant)
  const keys = [await keyFor('acme', 'admin'), await keyFor('beta', 'admin')] as const
  for (const n of [1, 2])
    for (const [t, key] of keys.entries()) {
      const origin = `https://${n}.${t}.example`
      const post = (path: string, body: object) => as('POST', path, { key, body })
      const { taskId } = (await post('/retry-tasks', { targetUrl: `${origin}/charge` })).json as { taskId: string }
      await attempt(served, taskId, { outcome: { kind: 'failure', fault: 'permanent' } })
      await post(`/destinations/${encodeURIComponent(origin)}/pause`, {})
      await post('/retry-policies', { policyId: `p${n}`, maxAttempts: 2 + t })
      await post('/retry-policies', { policyId: 'p1', maxAttempts: 6 + 2 * n + t })
      await post('/secrets', { destination: origin })
      await post('/keys', { scopes: ['read'] })
      await post('/controls', { level: 'retries-off', scope: { kind: 'tenant' }, reason: 'x' })
      await post('/replays', { filter: { destination: origin }, ratePerSecond: 1 })
    }
  const page = async (key: string, list: string, ask: string) =>
    as('GET', `${list}${list.includes('?') ? '&' : '?'}${ask}`, { key })
  return { keys, page }
}

describe('the lists of this test', () => {
  it('are all that take a cursor, but for the attempts of one task and for the tenants, which only operators list', async () => {
    const { json } = await (await guarded()).ask('GET', '/openapi.json')
    const operations = Object.entries(json.paths as { [path: string]: { get?: { parameters?: { name: string }[] } } })
    const paths = operations.flatMap(([path, { get }]) =>
      get?.parameters?.some(({ name }) => name === 'cursor') ? path.replace('{policyId}', 'p1') : [],
    )
    const tried = LISTS.map(list => list.replace(/\?.*/, ''))
    assert.deepEqual(new Set(paths), new Set([...tried, '/retry-tasks/{taskId}/attempts', '/tenants']))
  })
})

describe.each([
  ['memory', async (clock: VirtualClock) => openMemoryStore({ clock })],
  ['sqlite', async (clock: VirtualClock) => (await openTemporarySqliteStore({ clock })).store],
] as const)('a cursor of a tenant’s list, %s', (_, openStore) => {
  it('leads on in its own list, and is refused in every other list and by every other tenant', async () => {
    const { keys, page } = await twoTenants(openStore)
    const [own, others] = keys
    const codeOf = async (key: string, list: string, cursor: string): Promise<string> => {
      const { status, json } = await page(key, list, `limit=1&cursor=${cursor}`)
      return status === 200 ? '200' : json.code
    }
    for (const list of LISTS) {
      const { items, nextCursor } = (await page(own, list, 'limit=1')).json as Page<unknown>
      assert.ok(nextCursor !== undefined, list)
      const second = (await page(own, list, `limit=1&cursor=${nextCursor}`)).json as Page<unknown>
      assert.equal(second.items.length, 1, list)
      assert.notDeepEqual(second.items, items, list)
      assert.equal(await codeOf(others, list, nextCursor), 'invalid-cursor', list)
      for (const other of LISTS)
        if (other !== list) assert.equal(await codeOf(own, other, nextCursor), 'invalid-cursor', `${list} in ${other}`)
    }
  }, 20_000)

  it('shows nothing of another tenant, also with the place of that tenant in it', async () => {
    const { keys, page } = await twoTenants(openStore)
    for (const list of LISTS) {
      const [ofAcme, ofBeta] = await Promise.all(
        keys.map(async key => (await page(key, list, 'limit=1')).json.nextCursor),
      )
      // Eight characters are the mark of the question, and the rest is the place.
      const forged = ofBeta.slice(0, 8) + ofAcme.slice(8)
      const { status, json } = await page(keys[1], list, `limit=200&cursor=${forged}`)
      assert.equal(status, 200, list)
      const own = (await page(keys[1], list, 'limit=200')).json as Page<unknown>
      const texts = new Set(own.items.map(item => JSON.stringify(item)))
      for (const item of json.items) assert.ok(texts.has(JSON.stringify(item)), list)
    }
  }, 20_000)
})
