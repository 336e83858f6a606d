import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { OpenStore } from './conformance/exam.test-kit.ts'
import { compareStores } from './histories.test-kit.ts'
import { openMemoryStore } from './memory/memory-store.ts'
import type { TaskStore } from './task-store.ts'

const openMemory: OpenStore = async ({ clock }) => ({ store: openMemoryStore({ clock }) })

/** A memory store with one fault. */
function faulty(change: (store: TaskStore) => Partial<TaskStore>): OpenStore {
  return async ({ clock }) => {
    const store = openMemoryStore({ clock })
    return { store: { ...store, ...change(store) } }
  }
}

describe('random histories', () => {
  it('keep every promise in memory, and make the same twice', { timeout: 60_000 }, async () => {
    await assert.doesNotReject(compareStores(openMemory, openMemory))
  })

  const faults: { readonly [fault: string]: OpenStore } = {
    'passes a limit': faulty(store => ({
      claim: ask => store.claim({ ...ask, asks: ask.asks.map(each => ({ ...each, limit: each.limit + 1 })) }),
    })),
    'takes from the front when asked for the back': faulty(store => ({
      claim: ask =>
        store.claim({ ...ask, asks: ask.asks.map(({ lane, queue, count, limit }) => ({ lane, queue, count, limit })) }),
    })),
    'settles with a stale token': faulty(store => ({
      settle: async settlements => {
        const present = await Promise.all(settlements.map(({ taskId }) => store.get(taskId)))
        return store.settle(
          settlements.map((each, index) => {
            const state = present[index]?.state
            return state?.status === 'IN_FLIGHT' ? { ...each, token: state.lease.token } : each
          }),
        )
      },
    })),
    'forgets a deadline': faulty(store => ({
      expire: ask => store.expire({ ...ask, limit: ask.limit - 1 }),
    })),
    'recalls one task of a call, and no other': faulty(store => ({
      recall: ask => store.recall({ ...ask, tasks: ask.tasks.slice(0, 1) }),
    })),
    'loses a release': faulty(store => ({ release: async () => store.release([]) })),
    'replays any generation': faulty(store => ({
      replay: async ask => {
        const task = await store.get(ask.taskId)
        return store.replay({ ...ask, generation: task?.progress.generation ?? ask.generation })
      },
    })),
  }

  for (const [fault, open] of Object.entries(faults))
    it(`find a store that ${fault}, and name the seed`, { timeout: 60_000 }, async () => {
      await assert.rejects(compareStores(openMemory, open, { seed: 1, isFirstFound: true }), /seed: 1/)
    })

  it('check promises too: two stores with the same fault are found', { timeout: 60_000 }, async () => {
    const miscounting = faulty(store => ({
      counters: async () => {
        const { tasks } = await store.counters()
        return { tasks: { ...tasks, CANCELLED: 0 } }
      },
    }))
    await assert.rejects(compareStores(miscounting, miscounting, { seed: 1, isFirstFound: true }), ({ cause }: Error) =>
      /counters are what a count gives/.test(String(cause)),
    )
  })
})
