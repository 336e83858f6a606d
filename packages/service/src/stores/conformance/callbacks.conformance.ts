import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Callback } from '../../task/callback.ts'
import { sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { giveUp, nextGeneration, PARTITION, QUEUE, LANE, retryAt, succeed, TENANT } from './tasks.test-kit.ts'

const callbackUrl = 'https://told.example/ends'

async function due({ store }: Setting): Promise<readonly Callback[]> {
  return (await store.callbacks({ limit: 100, perLane: 100 })).items
}

export function examineCallbacks(open: OpenStore): void {
  describe('a callback', () => {
    it('is due with the end of its task, whatever the end, and not before', async () => {
      const setting = await sit(open)
      const { ended, add, store, clock } = setting
      const about = { tenant: TENANT, callbackUrl, generation: 1 }
      const retried = await ended(task => retryAt(task, clock.now() + 60_000), { callbackUrl })
      assert.deepEqual([retried.callbackUrl, await due(setting)], [callbackUrl, []])
      await ended(succeed)
      assert.deepEqual(await due(setting), [], 'nobody wants to hear of that one')
      const { taskId: won } = await ended(succeed, { callbackUrl })
      const { taskId: lost } = await ended(task => giveUp(task, 'permanent'), { callbackUrl })
      const { taskId: dropped } = await add({ callbackUrl })
      await store.cancel(dropped)
      await store.cancel(dropped)
      assert.deepEqual(await due(setting), [
        { ...about, taskId: won, status: 'SUCCEEDED', attemptNumber: 1 },
        { ...about, taskId: lost, status: 'EXHAUSTED', reason: 'permanent', attemptNumber: 1 },
        { ...about, taskId: dropped, status: 'CANCELLED', attemptNumber: 0 },
      ])
      assert.equal((await store.callbacks({ limit: 2, perLane: 100 })).items.length, 2)
    })

    it('is due for a deadline that passed, and for a task that was cancelled under way', async () => {
      const setting = await sit(open)
      const { add, claimOne, settle, store, clock, take } = setting
      await add({ callbackUrl })
      const claimed = await claimOne()
      await store.cancel(claimed.taskId)
      assert.deepEqual(await due(setting), [])
      await settle(retryAt(claimed, clock.now() + 1_000))
      const late = await add({ callbackUrl, progress: { expiresAt: clock.now() + 1 } })
      await clock.advance(10)
      const steward = await take()
      const queue = `${QUEUE.rank} ${QUEUE.kind} ${QUEUE.policyId}`
      await store.expire({ partition: PARTITION, steward, lane: LANE, queue, limit: 10 })
      assert.deepEqual(
        (await due(setting)).map(({ taskId, status, reason }) => [taskId, status, reason]),
        [
          [claimed.taskId, 'CANCELLED', undefined],
          [late.taskId, 'EXHAUSTED', 'deadline'],
        ],
      )
    })

    it('is due once for each generation, until it is struck out', async () => {
      const setting = await sit(open)
      const { ended, store, clock, claim, settle } = setting
      const dead = await ended(giveUp, { callbackUrl })
      const [first] = await due(setting)
      await store.strikeCallbacks([first!])
      await store.strikeCallbacks([first!])
      assert.deepEqual(await due(setting), [])
      await store.replay({ taskId: dead.taskId, generation: 1, progress: nextGeneration(dead, clock.now()) })
      const [again] = await claim({ queue: `low first ${QUEUE.policyId}` })
      await settle(succeed(again!))
      await settle(succeed(again!))
      assert.deepEqual(
        (await due(setting)).map(({ generation, status }) => [generation, status]),
        [[2, 'SUCCEEDED']],
      )
    })

    it('is found however many are due elsewhere: each lane has its share, and a page goes on with the next lane', async () => {
      const { ended, store } = await sit(open)
      const ids: string[] = []
      for (const at of ['c.example/', 'a.example/1', 'a.example/2', 'a.example/1', 'b.example/'])
        ids.push((await ended(succeed, { callbackUrl: `https://${at}` })).taskId)
      const [ofC, first, second, third, ofB] = ids
      const idsOf = (callbacks: readonly Callback[]): string[] => callbacks.map(({ taskId }) => taskId)
      const one = await store.callbacks({ limit: 3, perLane: 2 })
      const two = await store.callbacks({ limit: 3, perLane: 2, cursor: one.nextCursor! })
      assert.deepEqual([idsOf(one.items), idsOf(two.items)], [[first, second, ofB], [ofC]])
      assert.equal(two.nextCursor, undefined)
      await store.strikeCallbacks(one.items)
      const again = await store.callbacks({ limit: 3, perLane: 2 })
      assert.deepEqual(idsOf(again.items), [third, ofC])
    })

    it('outlives its task, and is told where that wanted it', async () => {
      const setting = await sit(open)
      const { ended, store, clock } = setting
      const { taskId } = await ended(succeed, { callbackUrl })
      const now = clock.now() + 1
      await store.sweep({ finishedBefore: now, deadBefore: now, keysBefore: now, limit: 10 })
      assert.equal(await store.get(taskId), undefined)
      assert.deepEqual(
        (await due(setting)).map(each => [each.taskId, each.callbackUrl]),
        [[taskId, callbackUrl]],
      )
    })

    it('outlives its process', async context => {
      const setting = await sit(open)
      context.skip(!setting.isDurable, 'nothing outlives its process')
      const { taskId } = await setting.ended(succeed, { callbackUrl })
      const waiting = await setting.add({ callbackUrl })
      const again = await setting.reopen()
      assert.deepEqual(
        (await due(again)).map(each => each.taskId),
        [taskId],
      )
      await again.store.cancel(waiting.taskId)
      assert.equal((await due(again)).length, 2)
    })
  })
}
