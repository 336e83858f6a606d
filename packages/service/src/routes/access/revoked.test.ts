import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it, onTestFinished } from 'vitest'
import { openTemporarySqliteStore } from '../../stores/sqlite/sqlite.test-kit.ts'
import { StoreUnavailableError, type AuditEntry, type TaskStore } from '../../stores/task-store.ts'
import { guarded } from './guarded.test-kit.ts'

const BUSY = 16
const ROUNDS = 3
/** So many answers that every commit has some of the key's. */
const WARM = 4 * BUSY

/** A service on a real file, with a tenant. */
async function onFile(change: (store: TaskStore) => Partial<TaskStore> = () => ({})) {
  const clock = virtualClock()
  const { store } = await openTemporarySqliteStore({ clock })
  onTestFinished(() => store.close())
  const served = await guarded({ clock, store: { ...store, ...change(store) } })
  await served.addTenant('acme')
  return served
}

type Served = Awaited<ReturnType<typeof onFile>>

const idOf = (key: string): string => key.split('_')[1]!

/** Writes policies and makes successors without a pause until it is refused; resolves `warm` when it has begun. */
function busyWith({ as }: Served, key: string) {
  let answers = 0
  let begun = (): void => {}
  const warm = new Promise<void>(resolve => (begun = resolve))
  const work = async (line: number): Promise<void> => {
    const [path, body] =
      line % 2 === 0
        ? (['/keys', { scopes: ['read'] }] as const)
        : (['/retry-policies', { policyId: `p-${idOf(key)}-${line}` }] as const)
    for (let maxAttempts = 1; ; maxAttempts = (maxAttempts % 9) + 1) {
      const { status } = await as('POST', path, { key, body: 'policyId' in body ? { ...body, maxAttempts } : body })
      if (status === 401) return
      assert.equal(status, 201)
      if (++answers === WARM) begun()
    }
  }
  return { warm, over: Promise.all(Array.from({ length: BUSY }, (_, line) => work(line))) }
}

/** What stands in the audit after the line with which it ended, the newest first. */
async function linesAfter({ store }: Served, action: string, keyId: string): Promise<AuditEntry[]> {
  const { items } = await store.auditTrail({ tenant: 'acme', limit: 1_000 })
  const at = items.findIndex(line => line.action === action && line.subject === keyId)
  assert.notEqual(at, -1)
  return items.slice(0, at).filter(({ actor }) => actor === keyId)
}

describe('a key that writes without a pause', () => {
  it('does nothing, and makes no successor, after the line with which it was revoked', async () => {
    const served = await onFile()
    for (let round = 0; round < ROUNDS; round++) {
      const key = await served.keyFor('acme', 'admin')
      const { warm, over } = busyWith(served, key)
      await warm
      assert.equal((await served.as('DELETE', `/keys/${idOf(key)}`, { key: served.operator })).status, 200)
      await over
      assert.deepEqual(await linesAfter(served, 'key.revoke', idOf(key)), [])
    }
  }, 30_000)

  it('nor after the line with which it was rotated without an overlap, by the text of before', async () => {
    const served = await onFile()
    for (let round = 0; round < ROUNDS; round++) {
      const key = await served.keyFor('acme', 'admin')
      const { warm, over } = busyWith(served, key)
      await warm
      const asked = { key: served.operator, body: { overlapMs: 0 } }
      assert.equal((await served.as('POST', `/keys/${idOf(key)}/rotate`, asked)).status, 200)
      await over
      assert.deepEqual(await linesAfter(served, 'key.rotate', idOf(key)), [])
    }
  }, 30_000)

  it('nor after the line with which it revoked itself', async () => {
    const served = await onFile()
    const key = await served.keyFor('acme', 'admin')
    const { warm, over } = busyWith(served, key)
    await warm
    assert.equal((await served.as('DELETE', `/keys/${idOf(key)}`, { key })).status, 200)
    await over
    assert.deepEqual(await linesAfter(served, 'key.revoke', idOf(key)), [])
  }, 30_000)
})

describe('a revocation that cannot be written', () => {
  it('leaves the key good, and can be asked for again', async () => {
    let isFull = false
    const served = await onFile(store => ({
      async writeRecord(ask, leave) {
        if (!isFull || ask.document !== null) return store.writeRecord(ask, leave)
        leave?.()
        throw new StoreUnavailableError('store-full', 'no room')
      },
    }))
    const key = await served.keyFor('acme', 'admin')
    const revoke = async (): Promise<number> =>
      (await served.as('DELETE', `/keys/${idOf(key)}`, { key: served.operator })).status
    isFull = true
    assert.equal(await revoke(), 503)
    assert.equal((await served.as('POST', '/keys', { key, body: { scopes: ['read'] } })).status, 201)
    isFull = false
    assert.equal(await revoke(), 200)
    assert.equal((await served.as('GET', '/keys', { key })).status, 401)
  }, 20_000)
})

describe('operators that revoke each other by one instance at the same moment', () => {
  it('leave one with which keys can be made: the other is shut out, or has to look again', async () => {
    const served = await onFile()
    const { operator, as } = served
    const made = await as('POST', '/keys', { key: operator, body: { scopes: ['admin'], isOperator: true } })
    const other = made.json.key as string
    const revoke = (key: string, gone: string) => as('DELETE', `/keys/${idOf(gone)}`, { key })
    const ends = await Promise.all([revoke(operator, other), revoke(other, operator)])
    assert.equal(ends.filter(({ status }) => status === 200).length, 1)
    const refused = ends.find(({ status }) => status !== 200)!
    assert.ok(['key-unknown', 'last-admin'].includes(refused.json.code), refused.text)
    const left = ends[0].status === 200 ? operator : other
    assert.equal((await as('POST', '/keys', { key: left, body: { scopes: ['read'] } })).status, 201)
  }, 20_000)
})
