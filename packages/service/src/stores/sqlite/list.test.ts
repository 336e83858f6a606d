import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { virtualClock } from '@secondwind/resilience/testing'
import { newTask } from '../exam/tasks.test-kit.ts'
import type { TaskFilter } from '../store.ts'
import { openMemoryStore } from './sqlite-store.ts'

/** A store with so many tasks of one millisecond; every thousandth is of the policy `payments`. */
async function crowd(count: number) {
  const clock = virtualClock()
  const store = openMemoryStore({ clock })
  const tasks = Array.from({ length: count }, (_, number) =>
    newTask(number + 1, clock.now(), number % 1_000 === 0 ? { policyId: 'payments' } : {}),
  )
  for (let at = 0; at < count; at += 500) await store.enqueue(tasks.slice(at, at + 500))
  const listed = async (filter: TaskFilter): Promise<{ pages: number; taskIds: string[] }> => {
    const taskIds: string[] = []
    let cursor: string | undefined
    for (let pages = 1; pages < 50; pages++) {
      const page = await store.list({
        filter,
        order: 'newest-first',
        limit: 10,
        ...(cursor !== undefined && { cursor }),
      })
      taskIds.push(...page.items.map(({ taskId }) => taskId))
      cursor = page.nextCursor
      if (cursor === undefined) return { pages, taskIds }
    }
    throw new Error('the list does not end')
  }
  return { listed, tasks }
}

describe('a list among thousands of tasks of one millisecond', () => {
  it('comes to an end when its filter fits none of them', async () => {
    const { listed } = await crowd(6_000)
    const { pages, taskIds } = await listed({ tenant: 'acme', policyId: 'nothing' })
    assert.deepEqual(taskIds, [])
    assert.ok(pages <= 6, `${pages} pages`)
  })

  it('shows each task that its filter fits, and none twice', async () => {
    const { listed, tasks } = await crowd(6_000)
    const wanted = tasks.filter(({ policyId }) => policyId === 'payments').map(({ taskId }) => taskId)
    assert.equal(wanted.length, 6)
    assert.deepEqual((await listed({ tenant: 'acme', policyId: 'payments' })).taskIds, wanted.toReversed())
  })
})
