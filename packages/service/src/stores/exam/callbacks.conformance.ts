import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Callback } from '../../task/callback.ts'
import { laneKey, partitionOf } from '../../task/lane.ts'
import { idsOf, only, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import {
  FIRSTS,
  giveUp,
  LANE,
  PARTITION,
  putBack,
  REPLAYED,
  replayOf,
  retryAt,
  succeed,
  TENANT,
} from './tasks.test-kit.ts'

const callbackUrl = 'https://told.example/ends'
const EACH = { partitions: [PARTITION], perLane: 100, limit: 100 }

async function endsIn({ store }: Setting, ask: Partial<typeof EACH> = {}): Promise<readonly Callback[]> {
  return (await store.endsToTell({ ...EACH, ...ask })).items
}

export function examineCallbacks(open: OpenStore): void {
  describe('an end that a callback must tell', () => {
    it('is there when its task ends, whatever the end, and not before', async () => {
      const setting = await sit(open)
      const { ended, add, store, clock } = setting
      const about = { tenant: TENANT, callbackUrl, generation: 1 }
      const retried = await ended(task => retryAt(task, clock.now() + 60_000), { callbackUrl })
      assert.deepEqual([retried.callbackUrl, await endsIn(setting)], [callbackUrl, []])
      await ended(succeed)
      assert.deepEqual(await endsIn(setting), [], 'that task has no callback')
      const { taskId: won } = await ended(succeed, { callbackUrl })
      const { taskId: lost } = await ended(task => giveUp(task, 'permanent'), { callbackUrl })
      const { taskId: dropped } = await add({ callbackUrl })
      await store.cancel(dropped)
      await store.cancel(dropped)
      assert.deepEqual(await endsIn(setting), [
        { ...about, taskId: won, status: 'SUCCEEDED', attemptNumber: 1 },
        { ...about, taskId: lost, status: 'EXHAUSTED', reason: 'permanent', attemptNumber: 1 },
        { ...about, taskId: dropped, status: 'CANCELLED', attemptNumber: 0 },
      ])
    })

    it('is there for a deadline that passed, and for a task that was cancelled under way', async () => {
      const setting = await sit(open)
      const { addMany, add, claimOne, store, clock, take } = setting
      await addMany(2, { callbackUrl })
      const [sent, unsent] = [await claimOne(), await claimOne()]
      for (const { taskId } of [sent, unsent]) await store.cancel(taskId)
      assert.deepEqual(await endsIn(setting), [])
      await store.settle([retryAt(sent, clock.now() + 1_000), putBack(unsent)])
      const late = await add({ callbackUrl, progress: { expiresAt: clock.now() + 1 } })
      await clock.advance(10)
      await store.expire({ partition: PARTITION, steward: await take(), lane: LANE, queue: FIRSTS, limit: 10 })
      assert.deepEqual(
        (await endsIn(setting)).map(({ taskId, status, reason }) => [taskId, status, reason]),
        [
          [sent.taskId, 'CANCELLED', undefined],
          [unsent.taskId, 'CANCELLED', undefined],
          [late.taskId, 'EXHAUSTED', 'deadline'],
        ],
      )
    })

    it('is there once for each generation, until it was told', async () => {
      const setting = await sit(open)
      const { ended, store, claimOne, settle, replay, clock } = setting
      const dead = await ended(giveUp, { callbackUrl })
      const end = only(await endsIn(setting))
      for (let times = 0; times < 2; times++) assert.deepEqual(await store.endsTold([end]), { now: clock.now() })
      assert.deepEqual(await endsIn(setting), [])
      await replay(replayOf(dead, clock.now()))
      const again = await claimOne({ queue: REPLAYED })
      await settle(succeed(again))
      await settle(succeed(again))
      assert.deepEqual(
        (await endsIn(setting)).map(({ generation, status }) => [generation, status]),
        [[2, 'SUCCEEDED']],
      )
    })

    it('survives a replay of its task', async () => {
      const setting = await sit(open)
      const { ended, claimOne, settle, store, replay, clock } = setting
      const dead = await ended(giveUp, { callbackUrl })
      await replay(replayOf(dead, clock.now()))
      await settle(succeed(await claimOne({ queue: REPLAYED })))
      const generations = async () => (await endsIn(setting)).map(({ generation }) => generation)
      assert.deepEqual(await generations(), [1, 2])
      await store.endsTold([{ taskId: dead.taskId, generation: 2 }])
      assert.deepEqual(await generations(), [1])
    })

    it('is found however many wait elsewhere: each lane of callbacks has its share, the oldest first', async () => {
      const setting = await sit(open)
      const { ended, store } = setting
      const tellTo = async (at: string) => (await ended(succeed, { callbackUrl: `https://${at}` })).taskId
      const ofC = await tellTo('c.example/')
      const [first, second, third] = [
        await tellTo('a.example/1'),
        await tellTo('a.example/2'),
        await tellTo('a.example/1'),
      ]
      const ofB = await tellTo('b.example/')
      const [all, some] = [await endsIn(setting, { perLane: 2 }), await endsIn(setting, { perLane: 2, limit: 3 })]
      assert.deepEqual(idsOf(all), [first, second, ofB, ofC])
      assert.deepEqual(idsOf(some), [first, second, ofB])
      await store.endsTold(some)
      assert.deepEqual(idsOf(await endsIn(setting, { perLane: 2 })), [third, ofC])
    })

    it('is found behind any number of lanes, page by page; what a lane has beyond its share comes anew', async () => {
      const setting = await sit(open)
      const { ended, store, all } = setting
      const tellTo = async (at: string) => (await ended(succeed, { callbackUrl: `https://${at}.example/` })).taskId
      const [first, , third, fourth] = [await tellTo('a'), await tellTo('a'), await tellTo('b'), await tellTo('c')]
      const ends = () => all(page => store.endsToTell({ ...EACH, perLane: 1, ...page }), 1)
      assert.deepEqual(idsOf(await ends()), [first, third, fourth])
      await store.endsTold([{ taskId: first, generation: 1 }])
      assert.equal((await ends()).length, 3)
    })

    it('is found in the partition of its task, and in no other', async () => {
      const setting = await sit(open)
      const { ended } = setting
      const destination = 'https://other.example'
      const partition = partitionOf(laneKey({ tenant: TENANT, destination }))
      assert.notEqual(partition, PARTITION)
      const here = await ended(succeed, { callbackUrl })
      const there = await ended(succeed, { callbackUrl, destination })
      assert.deepEqual(idsOf(await endsIn(setting)), [here.taskId])
      assert.deepEqual(idsOf(await endsIn(setting, { partitions: [partition] })), [there.taskId])
      const both = await endsIn(setting, { partitions: [partition, PARTITION] })
      assert.deepEqual(idsOf(both).toSorted(), idsOf([here, there]).toSorted())
      assert.deepEqual(await endsIn(setting, { partitions: [] }), [])
    })

    it('survives its task', async () => {
      const setting = await sit(open)
      const { ended, find, sweep, clock } = setting
      const { taskId } = await ended(succeed, { callbackUrl })
      const before = await endsIn(setting)
      await clock.advance(1)
      await sweep({ finishedBefore: clock.now() })
      assert.equal(await find(taskId), undefined)
      assert.deepEqual(await endsIn(setting), before)
    })
  })
}
