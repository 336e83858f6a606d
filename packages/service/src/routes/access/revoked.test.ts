import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it, onTestFinished } from 'vitest'
import { openTemporarySqliteStore } from '../../stores/sqlite/sqlite.test-kit.ts'
import { StoreUnavailableError, type TaskStore } from '../../stores/task-store.ts'
import { guarded } from './guarded.test-kit.ts'

const BUSY = 16
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
      async writeRecord(ask) {
        if (!isFull || ask.document !== null) return store.writeRecord(ask)
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

describe('operators that revoke each other at the same moment', () => {
  it('leave one key that can make others: the second revocation is refused', async () => {
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
