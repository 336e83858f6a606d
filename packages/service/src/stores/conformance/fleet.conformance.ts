import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { LANE, PARTITION } from './tasks.test-kit.ts'
import { everything, sit, type OpenStore } from './exam.test-kit.ts'

const FREE = { partition: PARTITION, instance: 'one', token: 'token of one', from: null }

export function examineFleet(open: OpenStore): void {
  describe('a beat', () => {
    it('counts, and shows the counts of all', async () => {
      const { store, clock } = await sit(open)
      await store.beat('one')
      await store.beat('other')
      const { now, beats } = await store.beat('one')
      assert.equal(now, clock.now())
      assert.deepEqual(
        [...beats].toSorted((a, b) => a.instance.localeCompare(b.instance)),
        [
          { instance: 'one', count: 2 },
          { instance: 'other', count: 1 },
        ],
      )
    })

    it('shows who serves what', async () => {
      const { store } = await sit(open)
      await store.take({ partition: 3, instance: 'one', token: 'a', from: null })
      await store.take({ partition: 255, instance: 'other', token: 'b', from: null })
      const { stewards } = await store.beat('one')
      assert.deepEqual(
        [...stewards].toSorted((a, b) => a.partition - b.partition),
        [
          { partition: 3, instance: 'one', token: 'a' },
          { partition: 255, instance: 'other', token: 'b' },
        ],
      )
    })
  })

  describe('a partition', () => {
    it('that is free can be taken, once', async () => {
      const { store } = await sit(open)
      assert.equal((await store.take(FREE)).taken, true)
      assert.equal((await store.take({ ...FREE, instance: 'other', token: 'of other' })).taken, false)
    })

    it('that is served can be taken by whoever names its token', async () => {
      const { store } = await sit(open)
      await store.take(FREE)
      const other = { ...FREE, instance: 'other', token: 'of other' }
      assert.equal((await store.take({ ...other, from: 'stale' })).taken, false)
      assert.equal((await store.take({ ...other, from: FREE.token })).taken, true)
      assert.equal((await store.take({ ...FREE, token: 'a third', from: FREE.token })).taken, false)
      const { stewards } = await store.beat('one')
      assert.deepEqual(stewards, [{ partition: PARTITION, instance: 'other', token: 'of other' }])
    })

    it('is taken by one of two who try at once', async () => {
      const { store } = await sit(open)
      const takes = ['a', 'b', 'c'].map(token => store.take({ ...FREE, instance: token, token }))
      const taken = (await Promise.all(takes)).filter(answer => answer.taken)
      assert.equal(taken.length, 1)
    })

    it('is taken already when the same take is asked again because its answer was lost', async () => {
      const { store } = await sit(open)
      await store.take(FREE)
      assert.equal((await store.take(FREE)).taken, true)
    })

    it('is given by its steward only, and free from then on', async () => {
      const { store } = await sit(open)
      await store.take(FREE)
      assert.equal((await store.give({ partition: PARTITION, steward: 'stale' })).given, false)
      assert.equal((await store.give({ partition: PARTITION, steward: FREE.token })).given, true)
      assert.equal((await store.give({ partition: PARTITION, steward: FREE.token })).given, false)
      assert.deepEqual((await store.beat('one')).stewards, [])
      assert.equal((await store.take({ ...FREE, token: 'anew' })).taken, true)
    })
  })

  describe("a lane's memory", () => {
    const memory = { phase: 'open', until: 12_345.5, openings: 3, learned: null, forced: false }

    it('is written by the steward, and found by the next', async () => {
      const { store, take } = await sit(open)
      const steward = await take()
      const ask = { partition: PARTITION, steward, lane: LANE, memory }
      assert.equal((await store.remember({ ...ask, memory: { phase: 'closed' } })).remembered, true)
      assert.equal((await store.remember(ask)).remembered, true)
      await take()
      const found = await everything(page => store.memories({ ...page, partition: PARTITION }))
      assert.deepEqual(found, [{ lane: LANE, memory }])
    })

    it('is refused from whoever is not, or no longer', async () => {
      const { store, take } = await sit(open)
      const former = await take()
      await take()
      const answer = await store.remember({ partition: PARTITION, steward: former, lane: LANE, memory })
      assert.equal(answer.remembered, false)
      assert.deepEqual(await everything(page => store.memories({ ...page, partition: PARTITION })), [])
    })

    it('is listed with its partition, in pages', async () => {
      const { store, take } = await sit(open)
      const steward = await take(PARTITION)
      const elsewhere = (PARTITION + 1) % 256
      const stewardElsewhere = await take(elsewhere)
      const lanes = ['a https://1', 'b https://2', 'c https://3', 'd https://4', 'e https://5']
      for (const lane of lanes) await store.remember({ partition: PARTITION, steward, lane, memory: { lane } })
      await store.remember({ partition: elsewhere, steward: stewardElsewhere, lane: 'f https://6', memory })
      const found = await everything(page => store.memories({ ...page, partition: PARTITION }))
      assert.deepEqual(found.map(({ lane }) => lane).toSorted(), lanes)
    })
  })
}
