import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { queueKey } from '../../task/lane.ts'
import { idsOf, sit, type OpenStore } from './exam.test-kit.ts'
import { asTaken, FIRSTS, LANE, putBack, QUEUE, RETRIES, retryAt, succeed, underWay } from './tasks.test-kit.ts'

const LOST = { kind: 'lost' }
const PENDING = { kind: 'settled', status: 'PENDING' }

export function examinePutBacks(open: OpenStore): void {
  describe('a put-back', () => {
    it('leaves the task as it was and where it was, and counts nothing', async () => {
      const { store, add, claim, claimOne, settle, get, all, clock } = await sit(open)
      const dueAt = clock.now()
      const first = await add({ dueAt, progress: { attemptNumber: 3 } })
      const second = await add({ dueAt })
      const claimed = await claimOne()
      await clock.advance(500)
      assert.deepEqual(await settle(putBack(claimed)), PENDING)
      assert.deepEqual(await get(first), { ...asTaken(first), version: 3 })
      assert.deepEqual(idsOf(await claim()), idsOf([first, second]))
      assert.deepEqual(await all(page => store.attempts({ ...page, taskId: first.taskId })), [])
      const [lane] = await all(page => store.lanes(page))
      assert.equal(lane?.attempts, 0)
    })

    it('keeps the end of the newest attempt', async () => {
      const { ended, claimOne, settle, get, clock } = await sit(open)
      const before = await ended(task => retryAt(task, clock.now()))
      await settle(putBack(await claimOne({ queue: RETRIES })))
      assert.deepEqual(await get(before), { ...before, version: before.version + 2 })
    })

    it('leaves an urgent task urgent', async () => {
      const { store, add, claimOne, settle, get, clock } = await sit(open)
      const { taskId } = await add({ dueAt: clock.now() + 60_000 })
      await store.attemptNow(taskId)
      const queue = { ...QUEUE, rank: 'urgent' } as const
      const dueAt = clock.now()
      const claimed = await claimOne({ queue: queueKey(queue) })
      await clock.advance(100)
      await settle(putBack(claimed))
      assert.deepEqual((await get({ taskId })).state, { status: 'PENDING', nextAttemptAt: dueAt, queue })
    })

    it('ends a task that an operator cancelled: nothing was sent, and nothing will be', async () => {
      const { store, add, claim, claimOne, settle, get, clock } = await sit(open)
      const task = await add()
      const claimed = await claimOne()
      await store.cancel(task.taskId)
      assert.deepEqual(await settle(putBack(claimed)), { kind: 'settled', status: 'CANCELLED' })
      const { state, progress } = await get(task)
      assert.deepEqual([state, progress], [{ status: 'CANCELLED', endedAt: clock.now() }, task.progress])
      assert.deepEqual(await claim(), [])
    })

    it('is allowed after the steward has changed', async () => {
      const { add, claimOne, take, settle, heads } = await sit(open)
      await add()
      const claimed = await claimOne()
      await take()
      assert.deepEqual(await settle(putBack(claimed)), PENDING)
      assert.deepEqual(await heads(), [{ lane: LANE, queue: FIRSTS, dueAt: claimed.dueAt }])
    })

    it('answers as before when it comes again, and so does a settle with its token, which changes nothing', async () => {
      const { add, claimOne, settle, get } = await sit(open)
      const task = await add()
      const claimed = await claimOne()
      await settle(putBack(claimed))
      for (const end of [putBack(claimed), succeed(claimed)]) assert.deepEqual(await settle(end), PENDING)
      assert.deepEqual(await get(task), { ...asTaken(task), version: 3 })
    })

    it('is lost once a newer claim has the task, and does not touch it', async () => {
      const { add, claimOne, settle, get } = await sit(open)
      const task = await add()
      const claimed = await claimOne()
      await settle(putBack(claimed))
      const newer = await claimOne()
      for (const end of [putBack(claimed), succeed(claimed)]) assert.deepEqual(await settle(end), LOST)
      assert.deepEqual((await get(task)).state, underWay(newer))
    })

    it('is the newest end of a task: those before it are lost', async () => {
      const { add, claimOne, settle } = await sit(open)
      const task = await add()
      const settlement = retryAt(await claimOne(), task.dueAt)
      await settle(settlement)
      await settle(putBack(await claimOne({ queue: RETRIES })))
      assert.deepEqual(await settle(settlement), LOST)
    })
  })
}
