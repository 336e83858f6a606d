import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { LARGE_FROM, sit, type OpenStore } from './exam.test-kit.ts'
import { FIRSTS, LANE, PARTITION, TENANT } from './tasks.test-kit.ts'
import type { PageAsk, Store } from '../store.ts'

/** Every verb that answers in pages. */
const PAGED: { readonly [verb: string]: (store: Store, page: PageAsk) => Promise<unknown> } = {
  list: (store, page) => store.list({ ...page, filter: { tenant: TENANT }, order: 'newest-first' }),
  attempts: (store, page) => store.attempts({ ...page, taskId: 'unheard-of' }),
  causes: (store, page) => store.causes({ ...page, tenant: TENANT }),
  lanes: (store, page) => store.lanes(page),
  queues: (store, page) => store.queues({ ...page, partitions: [PARTITION] }),
  leases: (store, page) => store.leases({ ...page, partitions: [PARTITION] }),
  endsToTell: (store, page) => store.endsToTell({ ...page, partitions: [PARTITION], perLane: 1 }),
  memories: (store, page) => store.memories({ ...page, partitions: [PARTITION] }),
  records: (store, page) => store.records({ ...page, kind: 'control' }),
  audit: (store, page) => store.audit(page),
  expire: async (store, page) => {
    const { stewards } = await store.beat({ instance: 'one', largeFrom: LARGE_FROM })
    const steward = stewards.find(({ partition }) => partition === PARTITION)?.token ?? ''
    return store.expire({ ...page, partition: PARTITION, steward, lane: LANE, queue: FIRSTS })
  },
}

export function examinePages(open: OpenStore): void {
  describe('a cursor', () => {
    for (const [name, read] of Object.entries(PAGED))
      it(`of ${name} that was cut, made up or belongs to another list is refused`, async () => {
        const { store, take } = await sit(open)
        await take()
        const foreign = Buffer.from(JSON.stringify(['another list', 1])).toString('base64url')
        for (const cursor of ['', 'x', '!!!', 'bnVsbA', '0', foreign, 'e30', 'W10', 'x'.repeat(100_000)])
          await assert.rejects(read(store, { limit: 2, cursor }), { code: 'invalid-cursor' }, cursor.slice(0, 20))
      })

    it('of one list is refused by the others', async () => {
      const { store, addMany, take, firstPage } = await sit(open)
      await addMany(3)
      await take()
      const ask = { filter: { tenant: TENANT }, order: 'newest-first' } as const
      const { nextCursor } = await firstPage(page => store.list({ ...ask, ...page }))
      const { list: _, ...others } = PAGED
      for (const [name, read] of Object.entries(others))
        await assert.rejects(read(store, { limit: 2, cursor: nextCursor }), { code: 'invalid-cursor' }, name)
    })
  })
}
