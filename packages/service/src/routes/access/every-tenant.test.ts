import type { AuditEntry, Destination, Page, RetryTask } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { guarded } from './guarded.test-kit.ts'

const SHARED = 'https://api.example'
const OWN = 'https://beta.example'

/** Two tenants and the default one, with a task each for one destination, and beta with two more for another. */
async function threeTenants() {
  const served = await guarded()
  const { as, operator, addTenant, keyFor } = served
  for (const tenant of ['acme', 'beta']) await addTenant(tenant)
  const tenants = ['default', 'acme', 'beta', 'beta', 'beta']
  const tasks: RetryTask[] = []
  for (const [n, tenant] of tenants.entries()) {
    const body = { targetUrl: `${n < 3 ? SHARED : OWN}/charge`, idempotencyKey: `k${n}` }
    const made = await as('POST', '/retry-tasks', { key: await keyFor(tenant, 'enqueue'), body })
    assert.equal(made.status, 201)
    tasks.push(made.json as RetryTask)
  }
  const read = async <Answer>(path: string, tenant?: string): Promise<Answer> => {
    const { status, json } = await as('GET', path, { key: operator, ...(tenant !== undefined && { tenant }) })
    assert.equal(status, 200, path)
    return json as Answer
  }
  return { ...served, tasks, read }
}

const place = (name: string): string => `/destinations/${encodeURIComponent(name)}`

describe('an operator who names no tenant', () => {
  it('sees the tasks of every tenant, and whose each is; one that names a tenant sees those alone', async () => {
    const { read, tasks } = await threeTenants()
    const ids = async (query: string, tenant?: string): Promise<string[]> =>
      (await read<Page<RetryTask>>(`/retry-tasks${query}`, tenant)).items.map(({ taskId }) => taskId)
    const newestFirst = tasks.map(({ taskId }) => taskId).toReversed()
    assert.deepEqual(await ids(''), newestFirst)
    assert.deepEqual(await ids(`?destination=${SHARED}`), newestFirst.slice(2))
    assert.deepEqual(await ids('?idempotencyKey=k4'), newestFirst.slice(0, 1))
    assert.deepEqual(await ids('', 'acme'), newestFirst.slice(3, 4))
    const { tenant } = await read<RetryTask>(`/retry-tasks/${newestFirst[0]}`)
    assert.equal(tenant, 'beta')
  })

  it('goes on with a cursor under the same tenants only', async () => {
    const { read, as, operator: key, keyFor } = await threeTenants()
    const theirs = await keyFor('acme', 'read')
    for (const list of ['/retry-tasks', '/destinations']) {
      const { nextCursor } = await read<Page<unknown>>(`${list}?limit=1`)
      const path = `${list}?limit=1&cursor=${nextCursor}`
      assert.equal((await as('GET', path, { key })).status, 200)
      assert.equal((await as('GET', path, { key, tenant: 'default' })).status, 400, 'another filter')
      assert.equal((await as('GET', path, { key: theirs })).status, 400, 'another tenant')
    }
  })

  it('sees every tenant’s destinations, and of a shared one all together and each by itself', async () => {
    const { read } = await threeTenants()
    const { items } = await read<Page<Destination>>('/destinations')
    assert.deepEqual(
      items.map(({ tenant, destination, backlog }) => [tenant, destination, backlog]),
      [
        ['acme', SHARED, 1],
        ['beta', SHARED, 1],
        ['beta', OWN, 2],
        ['default', SHARED, 1],
      ],
    )
    const own = await read<Destination>(place(OWN))
    assert.deepEqual([own.tenant, own.backlog, own.tenants], ['beta', 2, undefined])
    const shared = await read<Destination>(place(SHARED))
    assert.deepEqual([shared.tenant, shared.backlog, shared.breaker], [undefined, 3, undefined])
    assert.deepEqual(
      shared.tenants!.map(({ tenant, backlog }) => [tenant, backlog]),
      [
        ['acme', 1],
        ['beta', 1],
        ['default', 1],
      ],
    )
    const narrowed = await read<Destination>(place(SHARED), 'beta')
    assert.deepEqual([narrowed.tenant, narrowed.backlog, narrowed.tenants], ['beta', 1, undefined])
  })

  it('hears how many tasks its own pause holds, and sees what a tenant has paused for itself', async () => {
    const { as, operator: key, keyFor, read } = await threeTenants()
    const paused = await as('POST', `${place(OWN)}/pause`, { key, body: {} })
    assert.deepEqual([paused.json.backlog, paused.json.settings.version], [2, 1])
    const acme = await keyFor('acme', 'operate')
    await as('POST', `${place(SHARED)}/pause`, { key: acme, body: { reason: 'our own' } })
    const { tenants, settings } = await read<Destination>(place(SHARED))
    assert.equal(settings, undefined)
    assert.deepEqual(
      tenants!.map(({ tenant, tenantSettings }) => [tenant, tenantSettings?.paused?.reason]),
      [
        ['acme', 'our own'],
        ['beta', undefined],
        ['default', undefined],
      ],
    )
    const { items } = await read<Page<Destination>>('/destinations?hasSettings=true')
    assert.deepEqual(
      items.map(({ destination, backlog }) => [destination, backlog]),
      [[OWN, 2]],
    )
  })

  it('acts on any tenant’s task, and that tenant can read in its audit who did', async () => {
    const { as, operator: key, keyFor, tasks } = await threeTenants()
    const { taskId } = tasks[4]!
    assert.equal((await as('DELETE', `/retry-tasks/${taskId}?reason=INC-1`, { key })).status, 200)
    const audit = await as('GET', '/audit', { key: await keyFor('beta', 'operate') })
    const line = (audit.json as Page<AuditEntry>).items.find(({ action }) => action === 'task.cancel')
    assert.deepEqual([line?.subject, line?.actor, line?.reason], [taskId, key.split('_')[1], 'INC-1'])
  })
})

describe('a key of one tenant', () => {
  it('sees what is its own and nothing else, of the default tenant too, whatever it asks for', async () => {
    const { as, keyFor, tasks } = await threeTenants()
    for (const tenant of ['default', 'acme']) {
      const key = await keyFor(tenant, 'admin')
      const foreign = tasks.filter(task => task.tenant !== tenant)
      for (const path of ['/retry-tasks', `/retry-tasks?destination=${SHARED}`, '/destinations', place(SHARED)]) {
        const text = JSON.stringify((await as('GET', path, { key })).json)
        for (const word of ['beta', OWN, ...foreign.map(({ taskId }) => taskId)])
          assert.ok(!text.includes(word), `${path} tells ${tenant} ${word}`)
      }
      const shared = (await as('GET', place(SHARED), { key })).json as Destination
      assert.deepEqual([shared.tenant, shared.backlog, shared.tenants], [tenant, 1, undefined])
      for (const { taskId } of foreign)
        for (const [method, path] of [
          ['GET', ''],
          ['GET', '/attempts'],
          ['DELETE', ''],
        ] as const)
          assert.equal((await as(method, `/retry-tasks/${taskId}${path}`, { key })).status, 404)
      assert.deepEqual((await as('GET', `/retry-tasks?idempotencyKey=k4`, { key })).json.items, [])
    }
  })
})
