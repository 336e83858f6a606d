import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Store } from '../store.ts'
import type { OpenStore } from './exam.test-kit.ts'
import { compareStores, describeHistories, openModelSide } from './histories.test-kit.ts'
import { openModel } from './model.test-kit.ts'

describeHistories('model', openModelSide, { runs: 100 })

/** A model with one fault. */
function faulty(change: (store: Store) => Partial<Store>): OpenStore {
  return async ({ clock }) => {
    const store = openModel({ clock })
    return { store: { ...store, ...change(store) } }
  }
}

const FAULTS: { readonly [fault: string]: OpenStore } = {
  'claims beyond a limit': faulty(store => ({
    claim: claims =>
      store.claim(claims.map(claim => ({ ...claim, asks: claim.asks.map(ask => ({ ...ask, limit: ask.limit + 1 })) }))),
  })),
  'takes from the front when asked for the back': faulty(store => ({
    claim: claims =>
      store.claim(
        claims.map(claim => ({
          ...claim,
          asks: claim.asks.map(({ lane, queue, count, limit }) => ({ lane, queue, count, limit })),
        })),
      ),
  })),
  'settles with a stale token': faulty(store => ({
    settle: async ends => {
      const present = await store.get(ends.map(({ taskId }) => taskId))
      const tokens = present.map(({ taskId, state }): [string, string | undefined] => [
        taskId,
        state.status === 'IN_FLIGHT' ? state.lease.token : undefined,
      ])
      const tokenOf = new Map(tokens)
      return store.settle(ends.map(end => ({ ...end, token: tokenOf.get(end.taskId) ?? end.token })))
    },
  })),
  'loses a put-back': faulty(store => ({
    settle: async ends => {
      const { now, results } = await store.settle(ends.filter(({ next }) => next !== 'put-back'))
      return { now, results: ends.map((_, at) => results[at] ?? { kind: 'lost' }) }
    },
  })),
  'forgets a deadline': faulty(store => ({ expire: ask => store.expire({ ...ask, limit: ask.limit - 1 }) })),
  'recalls one task of a call, and no other': faulty(store => ({
    recall: ask => store.recall({ ...ask, tasks: ask.tasks.slice(0, 1) }),
  })),
  'replays any generation': faulty(store => ({
    replay: async (asks, change) => {
      const generations = new Map(
        (await store.get(asks.map(({ taskId }) => taskId))).map(({ taskId, progress }) => [
          taskId,
          progress.generation,
        ]),
      )
      const present = asks.map(ask => ({ ...ask, generation: generations.get(ask.taskId) ?? ask.generation }))
      return change === undefined ? store.replay(present) : store.replay(present, change)
    },
  })),
  'heeds no version of a record': faulty(store => ({
    write: (writes, audit) => {
      const heedless = writes.map(({ kind, id, tenant, document }) => ({ kind, id, tenant, document }))
      return store.write(heedless, audit)
    },
  })),
  'writes no audit': faulty(store => ({
    cancel: (taskId, { ifVersion } = {}) => store.cancel(taskId, ifVersion === undefined ? {} : { ifVersion }),
  })),
  'gives no hints': faulty(() => ({ onHint: () => () => {} })),
  'ignores when tasks were created': faulty(store => ({
    list: ask => store.list({ ...ask, filter: { ...ask.filter, createdTo: Infinity } }),
  })),
}

describe('random histories', () => {
  for (const [fault, open] of Object.entries(FAULTS))
    it(`find a store that ${fault}, and name the seed`, async () => {
      await assert.rejects(compareStores(openModelSide, open, { seed: 1, isFirstFound: true }), /seed: 1/)
    })

  it('check promises too: two stores with the same fault are found', async () => {
    const miscounting = faulty(store => ({
      beat: async ask => {
        const answer = await store.beat(ask)
        const tasks = { ...answer.waiting.tasks, CANCELLED: 0 }
        return { ...answer, waiting: { ...answer.waiting, tasks } }
      },
    }))
    const found = compareStores(miscounting, miscounting, { seed: 1, isFirstFound: true })
    await assert.rejects(found, /counters are what a count gives/)
  })
})
