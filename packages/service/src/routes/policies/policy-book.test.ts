import { presets, type RetryPolicy } from '@secondwind/resilience'
import { virtualClock } from '@secondwind/resilience/testing'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
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
    policy: (policyId: string, version?: number) => {
      reads.push(policyId)
      return store.policy(policyId, version)
    },
  }
  return { clock, store, reads, book: new PolicyBook(counted, clock) }
}

describe('the policies at hand', () => {
  it('are read once a second, however many tasks ask', async () => {
    const { store, book, reads, clock } = setting()
    await store.putPolicy('payments', DOCUMENT)
    for (let n = 0; n < 5; n++) assert.equal((await book.inForce('payments'))?.version, 1)
    assert.deepEqual(reads, ['payments'])
    await store.putPolicy('payments', withAttempts(3))
    assert.equal((await book.inForce('payments'))?.version, 1)
    await clock.advance(1_000)
    assert.equal((await book.inForce('payments'))?.version, 2)
  })

  it('have what was written here at once', async () => {
    const { book } = setting()
    await book.put('payments', DOCUMENT)
    await book.put('payments', withAttempts(3))
    assert.deepEqual((await book.inForce('payments'))?.document.maxAttempts, 3)
  })

  it('do not remember that there was none', async () => {
    const { book, store } = setting()
    assert.equal(await book.inForce('payments'), undefined)
    await store.putPolicy('payments', DOCUMENT)
    assert.equal((await book.inForce('payments'))?.version, 1)
  })

  it('do not go back to an older version that was being read while a newer one was written', async () => {
    const { clock, store } = setting()
    await store.putPolicy('payments', DOCUMENT)
    const old = await store.policy('payments')
    let answer = (): void => undefined
    const slow = { ...store, policy: () => new Promise<typeof old>(resolve => void (answer = () => resolve(old))) }
    const book = new PolicyBook(slow, clock)
    const reading = book.inForce('payments')
    await book.put('payments', withAttempts(3))
    answer()
    assert.equal((await reading)?.version, 2)
    assert.equal((await book.inForce('payments'))?.version, 2)
  })

  it('are no more than a thousand', async () => {
    const { book, reads } = setting()
    for (let n = 0; n <= 1_000; n++) await book.put(`p${n}`, { ...DOCUMENT, policyId: `p${n}` })
    await book.inForce('p1000')
    assert.deepEqual(reads, [])
    await book.inForce('p0')
    assert.deepEqual(reads, ['p0'])
  })
})
