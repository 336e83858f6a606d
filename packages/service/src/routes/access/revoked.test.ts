import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it, onTestFinished } from 'vitest'
import { openMemoryStore } from '../../stores/sqlite/sqlite-store.ts'
import { openTemporarySqliteStore } from '../../stores/sqlite/sqlite.test-kit.ts'
import { StoreUnavailableError, type Store } from '../../stores/store.ts'
import { serve, type Answered } from '../api.test-kit.ts'
import { guarded } from './guarded.test-kit.ts'

const BUSY = 16
/** So many answers that every commit has some of the key's. */
const WARM = 4 * BUSY

/** A service on a real file, with a tenant. */
async function onFile(change: (store: Store) => Partial<Store> = () => ({})) {
  const clock = virtualClock()
  const { store } = await openTemporarySqliteStore({ clock })
  onTestFinished(() => store.close())
  const served = await guarded({ clock, store: { ...store, ...change(store) } })
  await served.addTenant('acme')
  return served
}

type Served = Awaited<ReturnType<typeof onFile>>

const idOf = (key: string): string => key.split('_')[1]!

/** Makes keys and writes policies without a pause until it is refused; counts the requests begun after `end()` that were let in. */
function busyWith({ as }: Served, key: string) {
  let [answers, letInAfter, isOver] = [0, 0, false]
  let begun = (): void => {}
  const warm = new Promise<void>(resolve => (begun = resolve))
  const work = async (line: number): Promise<void> => {
    const [path, body] =
      line % 2 === 0
        ? (['/keys', { scopes: ['read'] }] as const)
        : (['/retry-policies', { policyId: `p-${idOf(key)}-${line}` }] as const)
    for (let maxAttempts = 1; ; maxAttempts = (maxAttempts % 9) + 1) {
      const isLate = isOver
      const { status } = await as('POST', path, { key, body: 'policyId' in body ? { ...body, maxAttempts } : body })
      if (status === 401) return
      assert.equal(status, 201)
      if (isLate) letInAfter++
      if (++answers === WARM) begun()
    }
  }
  const lines = Promise.all(Array.from({ length: BUSY }, (_, line) => work(line)))
  return { warm, end: () => void (isOver = true), letInAfter: lines.then(() => letInAfter) }
}

describe('a key that writes without a pause', () => {
  it('is let in no more once its end is answered, whether it was revoked, was rotated or revoked itself', async () => {
    const served = await onFile()
    const { as, operator } = served
    const ends = [
      (key: string) => as('DELETE', `/keys/${idOf(key)}`, { key: operator }),
      (key: string) => as('POST', `/keys/${idOf(key)}/rotate`, { key: operator, body: { overlapMs: 0 } }),
      (key: string) => as('DELETE', `/keys/${idOf(key)}`, { key }),
    ]
    for (const end of ends) {
      const key = await served.keyFor('acme', 'admin')
      const busy = busyWith(served, key)
      await busy.warm
      assert.equal((await end(key)).status, 200)
      busy.end()
      assert.equal(await busy.letInAfter, 0)
    }
  }, 30_000)
})

describe('a key that is revoked while its request arrives', () => {
  it('is served this request and no other, and the audit shows both', async () => {
    const served = await guarded()
    const { as, operator, port } = served
    await served.addTenant('acme')
    const key = await served.keyFor('acme', 'admin')
    const body = '{"policyId":"late"}'
    const socket = connect(port, '127.0.0.1')
    socket.write(
      `POST /retry-policies HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`,
    )
    // The key has been looked at as soon as the body is asked for.
    assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 100/)
    assert.equal((await as('DELETE', `/keys/${idOf(key)}`, { key: operator })).status, 200)
    socket.write(body)
    assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 201/)
    assert.equal((await as('GET', '/retry-policies', { key })).status, 401)
    const { items } = (await as('GET', '/audit?limit=2', { key: operator, tenant: 'acme' })).json
    assert.deepEqual(
      items.map(({ action, actor, subject }: Record<string, string>) => [action, actor, subject]),
      [
        ['policy.put', idOf(key), 'late'],
        ['key.revoke', idOf(operator), idOf(key)],
      ],
    )
  })
})

describe('a revocation that cannot be written', () => {
  it('leaves the key good, and can be asked for again', async () => {
    let isFull = false
    const served = await onFile(store => ({
      async write(writes, audit) {
        if (!isFull || writes.every(({ document }) => document !== null)) return store.write(writes, audit)
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

function revoke({ ask }: Pick<Served, 'ask'>, key: string, gone: string): Promise<Answered> {
  return ask('DELETE', `/keys/${idOf(gone)}`, { headers: { authorization: `Bearer ${key}` } })
}

async function operatorsOf(store: Pick<Store, 'records'>): Promise<number> {
  return (await store.records({ kind: 'key', tenant: '*', limit: 20 })).items.length
}

/** The codes of the revocations that were refused. */
function refusalsOf(ends: readonly Answered[]): string[] {
  return ends.filter(({ status }) => status !== 200).map(({ json }) => json.code)
}

describe('operators that revoke each other at the same moment', () => {
  it('leave one key that can make others: the second revocation is refused', async () => {
    const served = await guarded()
    const { operator, as, store } = served
    const made = await as('POST', '/keys', { key: operator, body: { scopes: ['admin'], isOperator: true } })
    const other = made.json.key as string
    const ends = await Promise.all([revoke(served, operator, other), revoke(served, other, operator)])
    const refused = refusalsOf(ends)
    assert.ok(refused.length === 1 && ['key-unknown', 'last-admin'].includes(refused[0]!), refused.join())
    assert.equal(await operatorsOf(store), 1)
    const left = ends[0].status === 200 ? operator : other
    assert.equal((await as('POST', '/keys', { key: left, body: { scopes: ['read'] } })).status, 201)
  })

  it('leave one also when each asks another instance, and both have looked at the keys before either writes', async () => {
    const clock = virtualClock()
    const store = openMemoryStore({ clock })
    const { operator, as } = await guarded({ clock, store })
    const made = await as('POST', '/keys', { key: operator, body: { scopes: ['admin'], isOperator: true } })
    const other = made.json.key as string
    let writes = 0
    let bothCome = (): void => {}
    const both = new Promise<void>(resolve => (bothCome = resolve))
    const write: typeof store.write = async (records, audit) => {
      if (++writes === 2) bothCome()
      await both
      return store.write(records, audit)
    }
    const instances = await Promise.all([1, 2].map(() => serve({ clock, store: { ...store, write } })))
    const ends = await Promise.all([revoke(instances[0]!, operator, other), revoke(instances[1]!, other, operator)])
    assert.deepEqual([refusalsOf(ends), await operatorsOf(store)], [['last-admin'], 1])
  })

  it('may be many: each revocation of another key is made', async () => {
    const served = await guarded()
    const { operator, as, store } = served
    const others: string[] = []
    for (let n = 0; n < 10; n++) {
      const made = await as('POST', '/keys', { key: operator, body: { scopes: ['admin'], isOperator: true } })
      others.push(made.json.key as string)
    }
    const ends = await Promise.all(others.map(other => revoke(served, operator, other)))
    assert.deepEqual([refusalsOf(ends), await operatorsOf(store)], [[], 1])
  })
})
