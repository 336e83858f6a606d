import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey, partitionOf, queueKey } from '../../task/lane.ts'
import type { NewTask } from '../../task/accept.ts'
import { everything, hintsOf, sit, type OpenStore } from './exam.test-kit.ts'
import { giveUp, LANE, PARTITION, QUEUE, retryAt, TENANT } from './tasks.test-kit.ts'

const RETRIES = queueKey({ ...QUEUE, kind: 'retry' })
const HOUR_MS = 3_600_000

export function examineRecalls(open: OpenStore): void {
  describe('a recall', () => {
    it('makes a waiting task due earlier, in its queue, and everything that is read shows it', async () => {
      const { store, ended, take, claim, get, all, clock } = await sit(open)
      const before = await ended(task => retryAt(task, clock.now() + HOUR_MS))
      await ended(task => retryAt(task, clock.now() + HOUR_MS))
      await clock.advance(1_000)
      const dueAt = clock.now() + 500
      const ask = { partition: PARTITION, steward: await take(), tasks: [{ taskId: before.taskId, dueAt }] }
      assert.deepEqual(await store.recall(ask), { now: clock.now(), recalled: [before.taskId] })
      const state = { status: 'PENDING', nextAttemptAt: dueAt, queue: { ...QUEUE, kind: 'retry' } }
      const after = { ...before, state, version: before.version + 1 }
      assert.deepEqual(await get(before), after)
      const listed = await all(page => store.list({ ...page, filter: { tenant: TENANT } }))
      assert.deepEqual(
        listed.find(({ taskId }) => taskId === before.taskId),
        after,
      )
      const heads = await everything(page => store.queues({ ...page, partition: PARTITION }))
      assert.deepEqual(heads, [{ lane: LANE, queue: RETRIES, dueAt }])
      await clock.advance(499)
      assert.deepEqual(await claim({ queue: RETRIES }), [])
      await clock.advance(1)
      const claimed = await claim({ queue: RETRIES })
      assert.deepEqual(
        claimed.map(task => [task.taskId, task.dueAt, task.progress]),
        [[before.taskId, dueAt, before.progress]],
      )
    })

    it('answers with what it has changed, in the order asked, and changes nothing when it comes again', async () => {
      const { store, addMany, take, get, clock } = await sit(open)
      const tasks = await addMany(3, { dueAt: clock.now() + HOUR_MS })
      const reversed = tasks.toReversed().map(({ taskId }) => ({ taskId, dueAt: clock.now() }))
      const ask = { partition: PARTITION, steward: await take(), tasks: reversed }
      const taskIds = reversed.map(({ taskId }) => taskId)
      assert.deepEqual((await store.recall(ask)).recalled, taskIds)
      assert.deepEqual((await store.recall(ask)).recalled, [])
      for (const task of tasks) assert.equal((await get(task)).version, 2)
    })

    it('leaves alone what is due then or before, under way, ended, unknown, or of another partition', async () => {
      const { store, add, take, claimOne, get, clock } = await sit(open)
      const underWay = await add({ leaseMs: 90_000 })
      await claimOne()
      const dueAt = clock.now() + 1_000
      const cancelled = await add({ dueAt: dueAt + 1 })
      await store.cancel(cancelled.taskId)
      const destination = 'https://other.example'
      assert.notEqual(partitionOf(laneKey({ tenant: TENANT, destination })), PARTITION)
      const others = [
        underWay,
        cancelled,
        await add({ dueAt }),
        await add({ dueAt: dueAt - 1 }),
        await add({ destination, dueAt: dueAt + 1 }),
      ]
      const later = await add({ dueAt: dueAt + 1 })
      const before = await Promise.all(others.map(get))
      const tasks = [...others, { taskId: 'unheard-of' }, later].map(({ taskId }) => ({ taskId, dueAt }))
      const { recalled } = await store.recall({ partition: PARTITION, steward: await take(), tasks })
      assert.deepEqual(recalled, [later.taskId])
      assert.deepEqual(await Promise.all(others.map(get)), before)
    })

    it('is refused as a whole by whoever is not the steward, or no longer', async () => {
      const { store, add, take, get, clock } = await sit(open)
      const task = await add({ dueAt: clock.now() + HOUR_MS })
      const former = await take()
      await take()
      const tasks = [{ taskId: task.taskId, dueAt: clock.now() }]
      for (const steward of [former, 'made up'])
        assert.deepEqual(await store.recall({ partition: PARTITION, steward, tasks }), {
          now: clock.now(),
          recalled: [],
        })
      assert.equal((await get(task)).version, 1)
    })

    it('names at most two hundred tasks: more are a fault of the steward, and none is changed', async () => {
      const { store, addMany, take, get, clock } = await sit(open)
      const tasks = (await addMany(201, { dueAt: clock.now() + HOUR_MS })).map(({ taskId }) => taskId)
      const ask = { partition: PARTITION, steward: await take() }
      const asked = tasks.map(taskId => ({ taskId, dueAt: clock.now() }))
      await assert.rejects(store.recall({ ...ask, tasks: asked }), /201 tasks/)
      assert.equal((await get({ taskId: tasks[0]! })).version, 1)
      assert.deepEqual((await store.recall({ ...ask, tasks: asked.slice(1) })).recalled, tasks.slice(1))
    })

    it('gives no hint: the steward has asked for it', async () => {
      const { store, add, take, clock } = await sit(open)
      const [recalled, hurried] = [await add({ dueAt: clock.now() + 50 }), await add({ dueAt: clock.now() + 50 })]
      const steward = await take()
      const hints = hintsOf(store)
      await store.recall({ partition: PARTITION, steward, tasks: [{ taskId: recalled.taskId, dueAt: clock.now() }] })
      await store.attemptNow(hurried.taskId)
      await hints.until(heard => heard.length > 0)
      const queue = queueKey({ ...QUEUE, rank: 'urgent' })
      assert.deepEqual(hints.heard, [{ partition: PARTITION, lane: LANE, queue, dueAt: clock.now() }])
    })

    it('may follow another, is where a release puts the task back, and is no hindrance to its end', async () => {
      const { store, add, take, claimOne, settle, get, clock } = await sit(open)
      const task = await add({ dueAt: clock.now() + HOUR_MS })
      const dueAt = clock.now() - 10
      const ask = { partition: PARTITION, steward: await take() }
      for (const at of [dueAt + 500, dueAt]) await store.recall({ ...ask, tasks: [{ taskId: task.taskId, dueAt: at }] })
      const { lease } = await claimOne()
      await store.release([{ taskId: task.taskId, token: lease.token }])
      const { state, version } = await get(task)
      assert.deepEqual([state, version], [{ status: 'PENDING', nextAttemptAt: dueAt, queue: QUEUE }, 5])
      assert.deepEqual(await settle(giveUp(await claimOne())), { kind: 'settled', status: 'EXHAUSTED' })
    })

    it('outlives the process', async context => {
      const setting = await sit(open)
      context.skip(!setting.isDurable, 'nothing outlives its process')
      const { store, ended, add, take, get, clock } = setting
      const tried = await ended(task => retryAt(task, clock.now() + HOUR_MS))
      const added: NewTask = await add({ dueAt: clock.now() + HOUR_MS })
      const tasks = [tried, added].map(({ taskId }) => ({ taskId, dueAt: clock.now() }))
      await store.recall({ partition: PARTITION, steward: await take(), tasks })
      const before = [await get(tried), await get(added)]
      const again = await setting.reopen()
      assert.deepEqual([await again.get(tried), await again.get(added)], before)
      assert.equal((await again.claimOne({ queue: RETRIES })).taskId, tried.taskId)
      assert.equal((await again.claimOne()).taskId, added.taskId)
    })
  })
}
