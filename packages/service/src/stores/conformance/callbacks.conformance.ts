import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Callback } from '../../task/callback.ts'
import { sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { giveUp, nextGeneration, PARTITION, QUEUE, LANE, retryAt, succeed, TENANT } from './tasks.test-kit.ts'

const callbackUrl = 'https://told.example/ends'

async function due({ store }: Setting): Promise<readonly Callback[]> {
  return (await store.callbacks({ limit: 100 })).callbacks
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
      assert.equal((await store.callbacks({ limit: 2 })).callbacks.length, 2)
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
