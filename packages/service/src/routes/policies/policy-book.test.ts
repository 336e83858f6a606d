import { presets, type RetryPolicy } from '@secondwind/resilience'
import { virtualClock } from '@secondwind/resilience/testing'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { PolicyName } from '../../stores/task-store.ts'
import { openMemoryStore } from '../../stores/memory/memory-store.ts'
import { PolicyBook } from './policy-book.ts'

const DOCUMENT: RetryPolicy = { ...presets.service.retry, policyId: 'payments' }
const withAttempts = (maxAttempts: number): RetryPolicy => ({ ...DOCUMENT, maxAttempts })

function setting() {
  const clock = virtualClock()
  const store = openMemoryStore({ clock })
  const reads: string[] = []
  const counted = {
    ...store,
    policy: (name: PolicyName, version?: number) => {
      reads.push(name.policyId)
      return store.policy(name, version)
    },
    policies: (page: Parameters<typeof store.policies>[0]) => {
      reads.push(`names of ${page.tenant}`)
      return store.policies(page)
    },
  }
  return { clock, store, reads, book: new PolicyBook(counted, clock) }
}

describe('the policies at hand', () => {
  it('are read once a second, however many tasks ask', async () => {
    const { store, book, reads, clock } = setting()
    await store.putPolicy({ tenant: 'default', policyId: 'payments', document: DOCUMENT })
    for (let n = 0; n < 5; n++)
      assert.equal((await book.inForce({ tenant: 'default', policyId: 'payments' }))?.version, 1)
    assert.deepEqual(reads, ['payments'])
    await store.putPolicy({ tenant: 'default', policyId: 'payments', document: withAttempts(3) })
    assert.equal((await book.inForce({ tenant: 'default', policyId: 'payments' }))?.version, 1)
    await clock.advance(1_000)
    assert.equal((await book.inForce({ tenant: 'default', policyId: 'payments' }))?.version, 2)
  })

  it('have what was written here at once', async () => {
    const { book } = setting()
    await book.put({ tenant: 'default', policyId: 'payments', document: DOCUMENT })
    await book.put({ tenant: 'default', policyId: 'payments', document: withAttempts(3) })
    assert.deepEqual((await book.inForce({ tenant: 'default', policyId: 'payments' }))?.document.maxAttempts, 3)
  })

  it('do not remember that there was none', async () => {
    const { book, store } = setting()
    assert.equal(await book.inForce({ tenant: 'default', policyId: 'payments' }), undefined)
    await store.putPolicy({ tenant: 'default', policyId: 'payments', document: DOCUMENT })
    assert.equal((await book.inForce({ tenant: 'default', policyId: 'payments' }))?.version, 1)
  })

  it('have their names read once a second for each tenant, however many tasks ask for one that is none', async () => {
    const { book, store, reads, clock } = setting()
    const put = { tenant: 'default', document: DOCUMENT }
    await store.putPolicy({ ...put, policyId: 'payments' })
    for (let n = 0; n < 5; n++) assert.deepEqual(await book.names('default'), ['payments'])
    assert.deepEqual(await book.names('other'), [])
    assert.deepEqual(reads, ['names of default', 'names of other'])
    await book.put({ ...put, policyId: 'refunds' })
    assert.deepEqual(await book.names('default'), ['payments', 'refunds'], 'what was written here at once')
    await store.putPolicy({ ...put, policyId: 'shipping' })
    await clock.advance(1_000)
    assert.deepEqual(await book.names('default'), ['payments', 'refunds', 'shipping'])
  })

  it('do not go back to an older version that was being read while a newer one was written', async () => {
    const { clock, store } = setting()
    await store.putPolicy({ tenant: 'default', policyId: 'payments', document: DOCUMENT })
    const old = await store.policy({ tenant: 'default', policyId: 'payments' })
    let answer = (): void => undefined
    const slow = { ...store, policy: () => new Promise<typeof old>(resolve => void (answer = () => resolve(old))) }
    const book = new PolicyBook(slow, clock)
    const reading = book.inForce({ tenant: 'default', policyId: 'payments' })
    await book.put({ tenant: 'default', policyId: 'payments', document: withAttempts(3) })
    answer()
    assert.equal((await reading)?.version, 2)
    assert.equal((await book.inForce({ tenant: 'default', policyId: 'payments' }))?.version, 2)
  })

  it('are no more than a thousand', async () => {
    const { book, reads } = setting()
    for (let n = 0; n <= 1_000; n++) await book.put({ tenant: 'default', policyId: `p${n}`, document: DOCUMENT })
    await book.inForce({ tenant: 'default', policyId: 'p1000' })
    assert.deepEqual(reads, [])
    await book.inForce({ tenant: 'default', policyId: 'p0' })
    assert.deepEqual(reads, ['p0'])
  })
})
