import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { LARGE_FROM, only, sit, type OpenStore } from './exam.test-kit.ts'
import { underWay } from './tasks.test-kit.ts'

const DAY_MS = 86_400_000

export function examineLifetime(open: OpenStore): void {
  describe('time', () => {
    it('is the store’s own: a step of the wall clock makes nothing due and ends no lease', async () => {
      const { store, add, claim, claimOne, leased, clock, get } = await sit(open)
      await add()
      const claimed = await claimOne()
      const later = await add({ dueAt: clock.now() + 1_000 })
      const before = (await store.health()).now
      clock.jumpWall(DAY_MS)
      assert.deepEqual(await claim(), [])
      assert.deepEqual(await leased({ haveEnded: true }), [])
      assert.deepEqual((await get(claimed)).state, underWay(claimed))
      assert.deepEqual(await store.health(), { now: before, clockSkewMs: DAY_MS })
      clock.jumpWall(-3 * DAY_MS)
      assert.deepEqual(await store.health(), { now: before, clockSkewMs: -2 * DAY_MS })
      await clock.advance(1_998)
      assert.deepEqual(await claim(), [], 'ahead of the wall clock it goes at half speed')
      await clock.advance(2)
      assert.equal(only(await claim()).taskId, later.taskId)
    })

    it('that passes is in every answer', async () => {
      const { store, clock } = await sit(open)
      const before = clock.now()
      await clock.advance(12_345)
      const answers = [
        await store.enqueue([]),
        await store.settle([]),
        await store.claim([]),
        await store.queues({ partitions: [], limit: 1 }),
        await store.beat({ instance: 'one', largeFrom: LARGE_FROM }),
        await store.write([]),
      ]
      for (const { now } of answers) assert.equal(now, before + 12_345)
    })
  })

  describe('a store that was closed', () => {
    it('refuses every call, with a code, and may be closed again', async () => {
      const { store, build } = await sit(open)
      await store.close()
      await store.close()
      const closed = { name: 'StoreUnavailableError', code: 'store-closed' }
      await assert.rejects(store.enqueue([build()]), closed)
      await assert.rejects(store.get(['any']), closed)
      await assert.rejects(store.settle([]), closed)
      await assert.rejects(store.beat({ instance: 'one', largeFrom: LARGE_FROM }), closed)
      await assert.rejects(store.list({ filter: {}, order: 'newest-first', limit: 1 }), closed)
      await assert.rejects(store.record({ kind: 'control', id: 'any' }), closed)
      await assert.rejects(store.bodies([]), closed)
    })

    it('has finished every call that came before', async () => {
      const { store, build } = await sit(open)
      const [answer] = await Promise.all([store.enqueue([build()]), store.close()])
      assert.deepEqual(answer.results, [{ kind: 'created' }])
    })
  })
}
