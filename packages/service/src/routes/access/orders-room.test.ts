import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { DiskSpace } from '../../space/disk-space.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import type { TaskStore } from '../../stores/task-store.ts'
import { until } from '../../service.test-kit.ts'
import { guarded } from '../access/guarded.test-kit.ts'

const PAUSE = '/destinations/https%3A%2F%2Fapi.example/pause'
const POLICY = { policyId: 'mine' }
const CONTROL = { level: 'dispatch-off', scope: { kind: 'tenant', tenant: 'acme' }, reason: 'it fills the disk' }

const TASK = { targetUrl: 'https://api.example/charge', idempotencyKey: 'order-7' }

/** A service with a tenant, on a disk of a gigabyte that is full but for so many bytes. */
async function onDisk(freeBytes: number, store?: TaskStore) {
  const disk = { allBytes: 1_000_000_000, freeBytes: 500_000_000 }
  const clock = virtualClock()
  const space = new DiskSpace({ clock, look: async () => ({ ...disk }) })
  const served = await guarded({ space, ...(store && { store }) })
  await served.addTenant('acme')
  const key = await served.keyFor('acme', 'admin')
  const other = (await served.as('POST', '/keys', { key, body: { scopes: ['read'] } })).json as { keyId: string }
  disk.freeBytes = freeBytes
  await clock.advance(5_000)
  return { ...served, key, other }
}

/** One that writes no setting of a destination until it is told to. */
function slowStore() {
  const store = openMemoryStore({ clock: virtualClock() })
  const asked: (() => void)[] = []
  const writeRecord: TaskStore['writeRecord'] = async ask => {
    if (ask.kind === 'destination') await new Promise<void>(resolve => asked.push(resolve))
    return store.writeRecord(ask)
  }
  return { asked, store: { ...store, writeRecord } }
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
    const { as, key, other } = await onDisk(18_000_000)
    assert.equal((await as('DELETE', `/keys/${other.keyId}`, { key })).status, 200)
    assert.equal((await as('GET', '/retry-policies', { key })).status, 200)
    const full = await onDisk(0)
    const byOperator = { key: full.operator, tenant: 'acme' }
    assert.equal((await full.as('DELETE', `/keys/${full.other.keyId}`, byOperator)).status, 200)
    assert.equal((await full.as('POST', '/controls', { key: full.operator, body: CONTROL })).status, 201)
    assert.equal((await full.as('POST', PAUSE, { ...byOperator, body: {} })).status, 200)
  })

  it('counts the orders that are being written: those that come at once do not fill it together', async () => {
    const { store, asked } = slowStore()
    const { as, key } = await onDisk(18_750_000 + 5 * 2 * 3_500, store)
    const answers = Array.from({ length: 20 }, (_, n) =>
      as('POST', `/destinations/https%3A%2F%2Fapi-${n}.example/pause`, { key, body: { reason: 'x'.repeat(500) } }),
    )
    await until(
      async () => asked.length,
      length => length === 5,
    )
    asked.forEach(write => write())
    const statuses = (await Promise.all(answers)).map(({ status }) => status)
    assert.equal(statuses.filter(status => status === 200).length, 5)
    assert.equal(statuses.filter(status => status === 503).length, 15)
  })

  it('has nothing of it held by orders that wait for their turn', async () => {
    const { store, asked } = slowStore()
    const { as, key, addTenant, keyFor } = await onDisk(25_000_000 + 2 * 10_000, store)
    await addTenant('globex')
    const theirs = await keyFor('globex', 'enqueue')
    const pauses = Array.from({ length: 20 }, () => as('POST', PAUSE, { key, body: {} }))
    await until(
      async () => asked.length,
      length => length === 1,
    )
    assert.equal((await as('POST', '/retry-tasks', { key: theirs, body: TASK })).status, 201)
    for (let written = 0; written < pauses.length; written++) {
      await until(
        async () => asked.length,
        length => length > written,
      )
      asked[written]!()
    }
    for (const pause of pauses) assert.equal((await pause).status, 200)
  })
})
