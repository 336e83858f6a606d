import { virtualClock } from '@secondwind/resilience/testing'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { everyRecord, isRoomFor } from './record-pages.ts'
import { openMemoryStore } from './sqlite/sqlite-store.ts'

/** A store with so many secrets of acme, and one of another tenant. */
async function withSecrets(count: number) {
  const store = openMemoryStore({ clock: virtualClock() })
  const ids = Array.from({ length: count }, (_, n) => String(n).padStart(4, '0'))
  await store.write([
    ...ids.map(id => ({ kind: 'secret', id, tenant: 'acme', document: {} }) as const),
    { kind: 'secret', id: 'of beta', tenant: 'beta', document: {} },
  ])
  return { store, ids }
}

describe('records', () => {
  it('are read whole, however many pages they fill', async () => {
    const { store, ids } = await withSecrets(450)
    const all = await everyRecord(store, 'secret')
    assert.deepEqual(
      all.map(({ id }) => id),
      [...ids, 'of beta'],
    )
    assert.deepEqual(await everyRecord(store, 'key'), [])
  })

  it('leave room for one more until there are as many as there may be, of this tenant or of all', async () => {
    const { store } = await withSecrets(450)
    const isRoom = (most: number, tenant?: string) =>
      isRoomFor(store, { kind: 'secret', most, ...(tenant && { tenant }) })
    assert.deepEqual([await isRoom(450, 'acme'), await isRoom(451, 'acme')], [false, true])
    assert.deepEqual([await isRoom(451), await isRoom(452)], [false, true])
    assert.equal(await isRoom(2, 'beta'), true)
  })
})
