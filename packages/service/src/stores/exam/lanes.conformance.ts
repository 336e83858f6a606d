import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey } from '../../task/lane.ts'
import type { LaneCounters, LanesPage } from '../store.ts'
import { only, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { DESTINATION, giveUp, LANE, RETRIES, retryAt, succeed, TENANT } from './tasks.test-kit.ts'

function lanesOf({ store, all }: Setting, ask: Partial<LanesPage> = {}, limit = 2): Promise<LaneCounters[]> {
  return all(page => store.lanes({ ...ask, ...page }), limit)
}

const namesOf = (lanes: readonly LaneCounters[]): string[] => lanes.map(({ lane }) => lane)

export function examineLanes(open: OpenStore): void {
  describe('the counters of a lane', () => {
    it('are what a count would give, in every status and lane', async () => {
      const setting = await sit(open)
      const { store, add, addMany, ended, claim, clock } = setting
      const destination = 'https://other.example'
      await ended(succeed)
      await ended(giveUp)
      await ended(giveUp)
      await ended(task => retryAt(task, clock.now() + 60_000))
      await store.cancel((await add({ destination })).taskId)
      await addMany(2, { destination })
      await claim({ lane: laneKey({ tenant: TENANT, destination }), count: 1 })
      const none = { pending: 0, inFlight: 0, succeeded: 0, exhausted: 0, cancelled: 0, attempts: 0, firstAttempts: 0 }
      const expected = [
        { ...none, lane: LANE, pending: 1, succeeded: 1, exhausted: 2, attempts: 4, firstAttempts: 4 },
        { ...none, lane: laneKey({ tenant: TENANT, destination }), pending: 1, inFlight: 1, cancelled: 1 },
      ]
      for (const limit of [1, 2, 3]) assert.deepEqual(await lanesOf(setting, {}, limit), expected)
    })

    it('are those of no lane in an empty store', async () => {
      assert.deepEqual(await lanesOf(await sit(open)), [])
    })

    it('count the attempts that were made, and those that were the first of a generation', async () => {
      const setting = await sit(open)
      const { add, claimOne, settle, ended, clock } = setting
      await add()
      await settle(retryAt(await claimOne(), clock.now()))
      await settle(succeed(await claimOne({ queue: RETRIES })))
      await ended(succeed, { progress: { attemptNumber: 2 } })
      const { attempts, firstAttempts } = only(await lanesOf(setting))
      assert.deepEqual([attempts, firstAttempts], [3, 1])
    })

    it('keep the attempts of swept tasks as long as the lane has a task', async () => {
      const setting = await sit(open)
      const { ended, add, sweep, clock } = setting
      await ended(succeed)
      await add({ dueAt: clock.now() + 60_000 })
      await clock.advance(1)
      await sweep({ finishedBefore: clock.now() })
      const { succeeded, pending, attempts, firstAttempts } = only(await lanesOf(setting))
      assert.deepEqual([succeeded, pending, attempts, firstAttempts], [0, 1, 1, 1])
    })
  })

  describe('a list of lanes', () => {
    it('has those of one destination if asked, however many there are else', async () => {
      const setting = await sit(open)
      for (const tenant of ['acme', 'acme-1', 'b', 'c'])
        for (const destination of ['https://a.example', 'https://b.example', 'https://c.example'])
          if (tenant !== 'b' || destination !== 'https://b.example') await setting.add({ tenant, destination })
      const destination = 'https://b.example'
      const lanes = await lanesOf(setting, { destination })
      assert.deepEqual(
        lanes.map(({ lane, pending }) => [lane, pending]),
        ['acme', 'acme-1', 'c'].map(tenant => [laneKey({ tenant, destination }), 1]),
      )
      assert.deepEqual(await lanesOf(setting, { destination: 'https://b.exampl' }), [])
    })

    it('has those of one tenant if asked', async () => {
      const setting = await sit(open)
      for (const tenant of ['b', 'a', 'bc']) await setting.add({ tenant })
      await setting.add({ tenant: 'b', destination: 'https://z.example' })
      const expected = [DESTINATION, 'https://z.example'].map(destination => laneKey({ tenant: 'b', destination }))
      assert.deepEqual(namesOf(await lanesOf(setting, { tenant: 'b' }, 1)), expected)
    })

    it("never has another tenant's, wherever its page begins", async () => {
      const { store, add, all, firstPage } = await sit(open)
      for (const tenant of ['a', 'b', 'c']) await add({ tenant })
      const { nextCursor } = await firstPage(page => store.lanes(page), 1)
      const lanes = await all(page => store.lanes({ tenant: 'c', cursor: nextCursor, ...page }))
      assert.deepEqual(namesOf(lanes), [laneKey({ tenant: 'c', destination: DESTINATION })])
    })

    it('has the named ones, in order, without those that are unknown or another tenant’s', async () => {
      const setting = await sit(open)
      for (const destination of [DESTINATION, 'https://y.example', 'https://z.example'])
        await setting.add({ tenant: 'b', destination })
      const [first, last, none] = [`b ${DESTINATION}`, 'b https://z.example', 'b https://none.example']
      const named = async (names: string[], tenant?: string) =>
        namesOf(await lanesOf(setting, { names, ...(tenant !== undefined && { tenant }) }, 1))
      assert.deepEqual(await named([first]), [first])
      for (const tenant of [undefined, 'b']) assert.deepEqual(await named([last, none, first], tenant), [first, last])
      assert.deepEqual(await named([first, last], 'a'), [])
      assert.deepEqual(await named([none]), [])
      assert.deepEqual(await named([]), [])
    })
  })
}
