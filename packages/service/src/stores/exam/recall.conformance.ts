import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey, partitionOf } from '../../task/lane.ts'
import { MOST_RECALLED } from '../store.ts'
import { idsOf, sit, type OpenStore } from './exam.test-kit.ts'
import { giveUp, LANE, PARTITION, putBack, QUEUE, RETRIES, retryAt, TENANT } from './tasks.test-kit.ts'

const HOUR_MS = 3_600_000

export function examineRecalls(open: OpenStore): void {
  describe('a recall', () => {
    it('makes a waiting task due earlier, in its queue, and every way to read it shows that', async () => {
      const { store, ended, take, claim, get, heads, all, clock } = await sit(open)
      const before = await ended(task => retryAt(task, clock.now() + HOUR_MS))
      await ended(task => retryAt(task, clock.now() + HOUR_MS))
      await clock.advance(1_000)
      const dueAt = clock.now() + 500
      const ask = { partition: PARTITION, steward: await take(), tasks: [{ taskId: before.taskId, dueAt }] }
      assert.deepEqual(await store.recall(ask), { now: clock.now(), recalled: [before.taskId] })
      const state = { status: 'PENDING', nextAttemptAt: dueAt, queue: { ...QUEUE, kind: 'retry' } } as const
      const version = before.version + 1
      assert.deepEqual(await get(before), { ...before, state, version })
      const filter = { tenant: TENANT, status: 'PENDING' } as const
      const [first] = await all(page => store.list({ ...page, filter, order: 'due-first' }))
      assert.deepEqual([first?.taskId, first?.state, first?.version], [before.taskId, state, version])
      assert.deepEqual(await heads(), [{ lane: LANE, queue: RETRIES, dueAt }])
      await clock.advance(499)
      assert.deepEqual(await claim({ queue: RETRIES }), [])
      await clock.advance(1)
      const claimed = await claim({ queue: RETRIES })
      assert.deepEqual(
        claimed.map(task => [task.taskId, task.dueAt, task.progress]),
        [[before.taskId, dueAt, before.progress]],
      )
    })

    it('answers with the tasks that it changed, in the order asked, and changes nothing when it comes again', async () => {
      const { store, addMany, take, get, clock } = await sit(open)
      const tasks = await addMany(3, { dueAt: clock.now() + HOUR_MS })
      const reversed = tasks.toReversed().map(({ taskId }) => ({ taskId, dueAt: clock.now() }))
      const ask = { partition: PARTITION, steward: await take(), tasks: reversed }
      assert.deepEqual((await store.recall(ask)).recalled, idsOf(reversed))
      assert.deepEqual((await store.recall(ask)).recalled, [])
      for (const task of tasks) assert.equal((await get(task)).version, 2)
    })

    it('leaves every other task alone: due by then, under way, ended, unknown, or of another partition', async () => {
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

    it('is refused as a whole to an instance that is not the steward, or no longer', async () => {
      const { store, add, take, get, clock } = await sit(open)
      const task = await add({ dueAt: clock.now() + HOUR_MS })
      const former = await take()
      await take()
      const tasks = [{ taskId: task.taskId, dueAt: clock.now() }]
      for (const steward of [former, 'made up']) {
        const answer = await store.recall({ partition: PARTITION, steward, tasks })
        assert.deepEqual(answer, { now: clock.now(), recalled: [] })
      }
      assert.equal((await get(task)).version, 1)
    })

    it('of more tasks than one call may name throws, and changes none', async () => {
      const { store, addMany, take, get, clock } = await sit(open)
      const tasks = await addMany(MOST_RECALLED + 1, { dueAt: clock.now() + HOUR_MS })
      const steward = await take()
      const asked = tasks.map(({ taskId }) => ({ taskId, dueAt: clock.now() }))
      await assert.rejects(store.recall({ partition: PARTITION, steward, tasks: asked }), /201 tasks/)
      const [first, ...others] = tasks
      assert.ok(first !== undefined)
      assert.equal((await get(first)).version, 1)
      const { recalled } = await store.recall({ partition: PARTITION, steward, tasks: asked.slice(1) })
      assert.deepEqual(recalled, idsOf(others))
    })

    it('may follow another, is where a put-back leaves the task, and does not hinder its end', async () => {
      const { store, add, take, claimOne, settle, get, clock } = await sit(open)
      const { taskId } = await add({ dueAt: clock.now() + HOUR_MS })
      const dueAt = clock.now() - 10
      const steward = await take()
      for (const at of [dueAt + 500, dueAt])
        await store.recall({ partition: PARTITION, steward, tasks: [{ taskId, dueAt: at }] })
      await settle(putBack(await claimOne()))
      const { state, version } = await get({ taskId })
      assert.deepEqual([state, version], [{ status: 'PENDING', nextAttemptAt: dueAt, queue: QUEUE }, 5])
      assert.deepEqual(await settle(giveUp(await claimOne())), { kind: 'settled', status: 'EXHAUSTED' })
    })
  })
}
