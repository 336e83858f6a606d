import { presets, type RetryPolicy } from '@secondwind/resilience'
import { virtualClock } from '@secondwind/resilience/testing'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { openMemoryStore } from '../stores/sqlite/sqlite-store.ts'
import type { RecordName } from '../stores/store.ts'
import { MOST_POLICIES, MOST_VERSIONS, PolicyBook, policyRecord, putPolicy } from './policy-book.ts'

const DOCUMENT: RetryPolicy = { ...presets.service.retry, policyId: 'payments' }
const PAYMENTS = { tenant: 'default', policyId: 'payments' }
const withAttempts = (maxAttempts: number): RetryPolicy => ({ ...DOCUMENT, maxAttempts })

function setting() {
  const clock = virtualClock()
  const store = openMemoryStore({ clock })
  const reads: string[] = []
  const counted = {
    ...store,
    record: (name: RecordName) => {
      reads.push(`${name.kind} ${name.id.split('\n').slice(1).join(' ')}`)
      return store.record(name)
    },
    records: (page: Parameters<typeof store.records>[0]) => {
      reads.push(`names of ${page.tenant}`)
      return store.records(page)
    },
  }
  const book = new PolicyBook(counted, clock)
  const putElsewhere = (document: RetryPolicy, policyId = 'payments') =>
    putPolicy(store, { tenant: 'default', policyId, document })
  return { clock, store, reads, book, putElsewhere }
}

describe('the policies at hand', () => {
  it('are read once a second, however many tasks ask', async () => {
    const { putElsewhere, book, reads, clock } = setting()
    await putElsewhere(DOCUMENT)
    for (let n = 0; n < 5; n++) assert.equal((await book.inForce(PAYMENTS))?.version, 1)
    assert.deepEqual(reads, ['policy payments'])
    await putElsewhere(withAttempts(3))
    assert.equal((await book.inForce(PAYMENTS))?.version, 1)
    await clock.advance(1_000)
    assert.equal((await book.inForce(PAYMENTS))?.version, 2)
  })

  it('have what was written here at once', async () => {
    const { book } = setting()
    await book.put({ ...PAYMENTS, document: DOCUMENT })
    await book.put({ ...PAYMENTS, document: withAttempts(3) })
    assert.deepEqual((await book.inForce(PAYMENTS))?.document.maxAttempts, 3)
  })

  it('do not remember that there was none', async () => {
    const { book, putElsewhere } = setting()
    assert.equal(await book.inForce(PAYMENTS), undefined)
    await putElsewhere(DOCUMENT)
    assert.equal((await book.inForce(PAYMENTS))?.version, 1)
  })

  it('have their names read once a second for each tenant, however many tasks ask for one that is none', async () => {
    const { book, putElsewhere, reads, clock } = setting()
    await putElsewhere(DOCUMENT)
    for (let n = 0; n < 5; n++) assert.deepEqual(await book.names('default'), ['payments'])
    assert.deepEqual(await book.names('other'), [])
    assert.deepEqual(reads, ['names of default', 'names of other'])
    await book.put({ tenant: 'default', policyId: 'refunds', document: DOCUMENT })
    assert.deepEqual(await book.names('default'), ['payments', 'refunds'], 'what was written here at once')
    await putElsewhere(DOCUMENT, 'shipping')
    await clock.advance(1_000)
    assert.deepEqual(await book.names('default'), ['payments', 'refunds', 'shipping'])
  })

  it('do not go back to an older version that was being read while a newer one was written', async () => {
    const { clock, store, putElsewhere } = setting()
    await putElsewhere(DOCUMENT)
    const old = await store.record(policyRecord(PAYMENTS))
    let answer = (): void => undefined
    let isSlow = true
    const record: typeof store.record = name =>
      isSlow ? new Promise(resolve => void (answer = () => resolve(old))) : store.record(name)
    const book = new PolicyBook({ ...store, record }, clock)
    const reading = book.inForce(PAYMENTS)
    isSlow = false
    await book.put({ ...PAYMENTS, document: withAttempts(3) })
    answer()
    assert.equal((await reading)?.version, 2)
    assert.equal((await book.inForce(PAYMENTS))?.version, 2)
  })

  it('are no more than a thousand', async () => {
    const { book, reads } = setting()
    const ofTenant = (n: number) => ({ tenant: n < 500 ? 'acme' : 'beta', policyId: `p${n}` })
    for (let n = 0; n <= 1_000; n++) await book.put({ ...ofTenant(n), document: DOCUMENT })
    reads.length = 0
    await book.inForce(ofTenant(1_000))
    assert.deepEqual(reads, [])
    await book.inForce(ofTenant(0))
    assert.deepEqual(reads, ['policy p0'])
  })
})

describe('the policy of a task', () => {
  it('is at hand once its version was read, put or in force, and is never read again', async () => {
    const { book, putElsewhere, reads } = setting()
    await putElsewhere(DOCUMENT)
    await putElsewhere(withAttempts(3))
    const [first, second] = [1, 2].map(policyVersion => ({ ...PAYMENTS, policyVersion }))
    assert.equal(book.atHand(first!), undefined)
    assert.deepEqual([await book.find(first!), book.atHand(first!)], [DOCUMENT, DOCUMENT])
    await book.inForce(PAYMENTS)
    assert.deepEqual(book.atHand(second!), withAttempts(3))
    await book.put({ ...PAYMENTS, document: withAttempts(4) })
    assert.deepEqual(book.atHand({ ...PAYMENTS, policyVersion: 3 }), withAttempts(4))
    assert.deepEqual(reads.slice(0, 2), ['policy-version payments 000001', 'policy payments'])
  })

  it('is its own document where it brought one, and missing where there is none', async () => {
    const { book, reads } = setting()
    const task = { ...PAYMENTS, policyVersion: 1, policy: withAttempts(9) }
    assert.deepEqual([book.atHand(task), await book.find(task)], [task.policy, task.policy])
    assert.deepEqual(reads, [])
    assert.equal(await book.find({ ...PAYMENTS, policyVersion: 7 }), 'missing')
  })

  it('is another one for each tenant', async () => {
    const { book } = setting()
    await book.put({ ...PAYMENTS, document: DOCUMENT })
    await book.put({ ...PAYMENTS, tenant: 'acme', document: withAttempts(3) })
    assert.deepEqual(await book.find({ ...PAYMENTS, tenant: 'acme', policyVersion: 1 }), withAttempts(3))
    assert.deepEqual(await book.find({ ...PAYMENTS, policyVersion: 1 }), DOCUMENT)
  })
})

describe('a policy that is put', () => {
  it('becomes the next version, and stays as it is under the same document', async () => {
    const { book, store } = setting()
    const put = async (maxAttempts: number) => {
      const { kind, record } = await book.put({ ...PAYMENTS, document: withAttempts(maxAttempts) })
      return [kind, record?.version]
    }
    assert.deepEqual(
      [await put(3), await put(3), await put(4), await put(3)],
      [
        ['created', 1],
        ['same', 1],
        ['new-version', 2],
        ['new-version', 3],
      ],
    )
    const { items } = await store.records({ kind: 'policy-version', limit: 10 })
    assert.equal(items.length, 3)
  })

  it('conflicts where another version is the newest, and says which', async () => {
    const { book } = setting()
    const put = (maxAttempts: number, ifVersion: number) =>
      book.put({ ...PAYMENTS, document: withAttempts(maxAttempts), ifVersion })
    assert.deepEqual(await put(3, 1), { kind: 'conflict' })
    assert.equal((await put(3, 0)).kind, 'created')
    const conflict = await put(3, 0)
    assert.deepEqual([conflict.kind, conflict.record?.version], ['conflict', 1])
  })

  it('is another version for each of many callers that put it at the same moment, without a gap', async () => {
    const { book, store } = setting()
    const puts = await Promise.all(
      Array.from({ length: 10 }, (_, n) => book.put({ ...PAYMENTS, document: withAttempts(n + 1) })),
    )
    const versions = puts.map(({ record }) => record?.version)
    assert.deepEqual(new Set(versions), new Set([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]))
    const { items } = await store.records({ kind: 'policy-version', limit: 20 })
    assert.equal(items.length, 10)
  })

  it('is one of a thousand of its tenant at most, with a thousand versions', async () => {
    const { book, putElsewhere } = setting()
    for (let n = 0; n < MOST_POLICIES; n++) await putElsewhere(DOCUMENT, `p${n}`)
    assert.deepEqual(await book.put({ ...PAYMENTS, document: DOCUMENT }), { kind: 'full' })
    assert.equal((await book.put({ ...PAYMENTS, tenant: 'other', document: DOCUMENT })).kind, 'created')
    for (let version = 2; version <= MOST_VERSIONS; version++) await putElsewhere(withAttempts(version), 'p0')
    const full = await book.put({ tenant: 'default', policyId: 'p0', document: withAttempts(5_000) })
    assert.deepEqual([full.kind, full.record?.version], ['full', MOST_VERSIONS])
  })
})
