import { virtualClock } from '@secondwind/resilience/testing'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { openMemoryStore } from './memory/memory-store.ts'
import { shareReading } from './read-turns.ts'
import type { Page, TasksPage, TaskStore } from './task-store.ts'
import type { Task } from '../task/task.ts'

/** A store that answers a list when it is told to, in the order in which it was asked. */
function slowStore() {
  const begun: string[] = []
  const ends: ((error?: Error) => void)[] = []
  const store = openMemoryStore({ clock: virtualClock() })
  const list = ({ filter }: TasksPage): Promise<Page<Task>> => {
    begun.push(filter.tenant!)
    return new Promise((resolve, reject) => ends.push(error => (error ? reject(error) : resolve({ items: [] }))))
  }
  const records: TaskStore['records'] = async () => {
    begun.push('orders')
    return { items: [] }
  }
  const slow = { ...store, list, records }
  const { asTenant, asOperator } = shareReading(slow)
  const listOf = (tenant: string, as = asTenant): Promise<unknown> => as.list({ filter: { tenant }, limit: 1 })
  /** The one that was asked first ends; whoever is next begins. */
  const endOne = async (error?: Error): Promise<void> => {
    ends.shift()!(error)
    await settled()
  }
  return { store: slow, begun, listOf, endOne, asOperator }
}

async function settled(): Promise<void> {
  for (let turns = 0; turns < 10; turns++) await Promise.resolve()
}

describe('reading in turns', () => {
  it('has two under way, however many are asked for, and answers them all', async () => {
    const { begun, listOf, endOne } = slowStore()
    const lists = Promise.all(Array.from({ length: 50 }, () => listOf('many')))
    await settled()
    assert.equal(begun.length, 2)
    for (let ended = 1; ended <= 50; ended++) {
      await endOne()
      assert.equal(begun.length, Math.min(50, ended + 2))
    }
    await lists
  })

  it('gives the next turn to the tenant that has the fewest, not to the one that asked most', async () => {
    const { begun, listOf, endOne } = slowStore()
    for (let asked = 0; asked < 50; asked++) void listOf('many')
    void listOf('few')
    void listOf('others')
    await settled()
    for (let ended = 0; ended < 4; ended++) await endOne()
    assert.deepEqual(begun, ['many', 'many', 'few', 'many', 'others', 'many'])
  })

  it('lets operators look into what a tenant has without waiting for what that tenant asked', async () => {
    const { begun, listOf, endOne, asOperator } = slowStore()
    for (let asked = 0; asked < 50; asked++) void listOf('many')
    let isAnswered = false
    void listOf('many', asOperator).then(() => (isAnswered = true))
    await settled()
    for (let ended = 0; ended < 3; ended++) await endOne()
    assert.deepEqual([begun.length, isAnswered], [5, true])
  })

  it('goes on after one that failed, and tells whoever asked for it', async () => {
    const { begun, listOf, endOne } = slowStore()
    const failing = assert.rejects(listOf('a'), /the disk is away/)
    for (let asked = 0; asked < 3; asked++) void listOf('a')
    await settled()
    await endOne(new Error('the disk is away'))
    await failing
    assert.equal(begun.length, 3)
  })

  it('leaves two before what the service reads for itself, however many wait', async () => {
    const { store, begun, listOf } = slowStore()
    for (let asked = 0; asked < 50; asked++) void listOf('many')
    await settled()
    await store.records({ kind: 'control', limit: 10 })
    assert.deepEqual(begun, ['many', 'many', 'orders'])
  })
})
