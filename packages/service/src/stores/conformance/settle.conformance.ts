import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { queueKey } from '../../task/lane.ts'
import type { ClaimedTask } from '../../task/task.ts'
import type { HeldLease } from '../task-store.ts'
import { everything, sit, type OpenStore } from './exam.test-kit.ts'
import {
  asTaken,
  expireHeld,
  giveUp,
  giveUpUnsent,
  LANE,
  LEASE_MS,
  nextGeneration,
  PARTITION,
  QUEUE,
  retryAt,
  succeed,
} from './tasks.test-kit.ts'

const LOST = { kind: 'lost' }
const RETRIES = { queue: queueKey({ ...QUEUE, kind: 'retry' }) }

export function examineSettles(open: OpenStore): void {
  describe('a settle', () => {
    it('of a success ends the task, keeps the attempt and grows the version', async () => {
      const { add, claimOne, settle, get, store, clock } = await sit(open)
      const task = await add()
      const claimed = await claimOne()
      await clock.advance(100)
      const settlement = succeed(claimed)
      assert.deepEqual(await settle(settlement), { kind: 'settled', status: 'SUCCEEDED' })
      assert.deepEqual(await get(task), {
        ...asTaken(task),
        progress: { ...task.progress, attemptNumber: 1 },
        state: { status: 'SUCCEEDED', endedAt: clock.now() },
        version: 3,
        lastAttempt: { outcome: 'success', responseStatus: 200 },
      })
      assert.deepEqual(await store.attempts({ taskId: task.taskId, limit: 10 }), { items: [settlement.attempt] })
    })

    it('of a failure puts the task into the queue that it names, due when it says', async () => {
      const { add, claim, claimOne, settle, get, clock } = await sit(open)
      const task = await add()
      const dueAt = clock.now() + 2_000
      const settlement = retryAt(await claimOne(), dueAt)
      assert.deepEqual(await settle(settlement), { kind: 'settled', status: 'PENDING' })
      const { state, progress, lastAttempt } = await get(task)
      assert.deepEqual(state, { status: 'PENDING', nextAttemptAt: dueAt, queue: { ...QUEUE, kind: 'retry' } })
      assert.deepEqual(progress, settlement.next.progress)
      assert.deepEqual(lastAttempt?.errorCode, 'http-503')
      assert.deepEqual(await claim(RETRIES), [])
      await clock.advance(2_000)
      const again = await claimOne(RETRIES)
      assert.deepEqual([again.taskId, again.progress, again.dueAt], [task.taskId, settlement.next.progress, dueAt])
    })

    it('of a task that a gate held until its deadline keeps which gate, and since when, until a replay', async () => {
      const { add, claimOne, settle, get, store, clock } = await sit(open)
      const { taskId, dueAt } = await add()
      await clock.advance(100)
      await settle(expireHeld(await claimOne(), { by: 'credit', since: dueAt }))
      const dead = await get({ taskId })
      const state = {
        status: 'EXHAUSTED',
        endedAt: clock.now(),
        reason: 'deadline',
        held: { by: 'credit', since: dueAt },
      }
      assert.deepEqual(dead.state, state)
      await store.replay({ taskId, generation: 1, progress: nextGeneration(dead, clock.now()) })
      await settle(giveUpUnsent(await claimOne({ queue: queueKey({ ...QUEUE, rank: 'low' }) })))
      assert.deepEqual((await get({ taskId })).state, { status: 'EXHAUSTED', endedAt: clock.now(), reason: 'deadline' })
    })

    it('of a cancelled task keeps no gate', async () => {
      const { add, claimOne, settle, get, store, clock } = await sit(open)
      const { taskId, dueAt } = await add()
      const claimed = await claimOne()
      await store.cancel(taskId)
      await settle(expireHeld(claimed, { by: 'credit', since: dueAt }))
      assert.deepEqual((await get({ taskId })).state, { status: 'CANCELLED', endedAt: clock.now() })
    })

    it('of the last failure ends the task with its reason', async () => {
      const { add, claimOne, settle, get, clock } = await sit(open)
      const task = await add()
      await settle(giveUp(await claimOne(), 'permanent'))
      assert.deepEqual((await get(task)).state, { status: 'EXHAUSTED', endedAt: clock.now(), reason: 'permanent' })
    })

    it('without an attempt counts none', async () => {
      const { add, claimOne, settle, get, store } = await sit(open)
      const task = await add()
      await settle(giveUpUnsent(await claimOne()))
      const { state, progress, lastAttempt } = await get(task)
      assert.deepEqual([state.status, progress, lastAttempt], ['EXHAUSTED', task.progress, undefined])
      assert.deepEqual(await store.attempts({ taskId: task.taskId, limit: 10 }), { items: [] })
    })

    it('keeps the whole attempt, the captured answer too', async () => {
      const { add, claimOne, settle, store } = await sit(open)
      const { taskId } = await add()
      const settlement = succeed(await claimOne())
      const response = { headers: { a: 'ü' }, body: 'AP8=', bodyEncoding: 'base64', truncated: true } as const
      const attempt = { ...settlement.attempt!, durationMs: 12.75, response }
      await settle({ ...settlement, attempt })
      assert.deepEqual((await store.attempts({ taskId, limit: 10 })).items, [attempt])
    })

    it('is kept although the partition has another steward by now', async () => {
      const { add, claimOne, take, settle, get } = await sit(open)
      const task = await add()
      const claimed = await claimOne()
      await take()
      assert.equal((await settle(succeed(claimed))).kind, 'settled')
      assert.equal((await get(task)).state.status, 'SUCCEEDED')
    })

    it('is kept although the lease has ended, as long as nobody else settled', async () => {
      const { add, claimOne, settle, clock } = await sit(open)
      await add()
      const claimed = await claimOne()
      await clock.advance(LEASE_MS + 1)
      assert.deepEqual(await settle(succeed(claimed)), { kind: 'settled', status: 'SUCCEEDED' })
    })

    it('in a batch is answered item by item, and a lost one does not harm the others', async () => {
      const { addMany, claim, store } = await sit(open)
      await addMany(3)
      const [one, two, three] = (await claim()) as [ClaimedTask, ClaimedTask, ClaimedTask]
      const { results } = await store.settle([
        succeed(one),
        { ...succeed(two), token: 'stale' },
        giveUp(three),
        { ...succeed(one), taskId: 'unheard-of' },
      ])
      assert.deepEqual(results, [
        { kind: 'settled', status: 'SUCCEEDED' },
        LOST,
        { kind: 'settled', status: 'EXHAUSTED' },
        LOST,
      ])
    })
  })

  describe('the same settle again', () => {
    it('answers as before and changes nothing', async () => {
      const { add, claimOne, settle, get, store } = await sit(open)
      const task = await add()
      const settlement = retryAt(await claimOne(), task.dueAt + 1_000)
      const answer = await settle(settlement)
      const before = await get(task)
      assert.deepEqual(await settle(settlement), answer)
      assert.deepEqual(await get(task), before)
      assert.equal((await store.attempts({ taskId: task.taskId, limit: 10 })).items.length, 1)
      const [lane] = (await store.laneCounters({ limit: 1 })).items
      assert.deepEqual([lane?.attempts, lane?.pending], [1, 1])
    })

    it('has one effect also within a batch, and when both come at once', async () => {
      const { addMany, claim, store, get } = await sit(open)
      await addMany(2)
      const [one, other] = (await claim()) as [ClaimedTask, ClaimedTask]
      const { results } = await store.settle([succeed(one), succeed(one)])
      const answers = await Promise.all([store.settle([giveUp(other)]), store.settle([giveUp(other)])])
      assert.deepEqual(results[1], results[0])
      assert.deepEqual(answers[1].results, answers[0].results)
      for (const { taskId } of [one, other]) {
        assert.equal((await get({ taskId })).version, 3)
        assert.equal((await store.attempts({ taskId, limit: 10 })).items.length, 1)
      }
    })

    it('says what the task became by the first, whatever the second asks', async () => {
      const { add, claimOne, settle, get } = await sit(open)
      const task = await add()
      const claimed = await claimOne()
      await settle(retryAt(claimed, task.dueAt))
      assert.deepEqual(await settle(succeed(claimed)), { kind: 'settled', status: 'PENDING' })
      assert.equal((await get(task)).state.status, 'PENDING')
    })

    it('is lost once a newer claim has the task, and does not touch it', async () => {
      const { add, claimOne, settle, get } = await sit(open)
      const task = await add()
      const settlement = retryAt(await claimOne(), task.dueAt)
      await settle(settlement)
      const newer = await claimOne(RETRIES)
      const before = await get(task)
      assert.deepEqual(await settle(settlement), LOST)
      assert.deepEqual(await get(task), before)
      await settle(succeed(newer))
      assert.deepEqual(await settle(settlement), LOST)
    })

    it('answers as before when the newer claim was released, for then nothing is newer', async () => {
      const { add, claimOne, settle, store } = await sit(open)
      const task = await add()
      const settlement = retryAt(await claimOne(), task.dueAt)
      await settle(settlement)
      await store.release([heldBy(await claimOne(RETRIES))])
      assert.deepEqual(await settle(settlement), { kind: 'settled', status: 'PENDING' })
    })

    it('answers as before after a cancel, an attempt-now and a replay, and undoes none of them', async () => {
      const { addMany, claim, settle, store, get, clock } = await sit(open)
      await addMany(3)
      const [one, two, three] = (await claim()) as [ClaimedTask, ClaimedTask, ClaimedTask]
      const settlements = [retryAt(one, clock.now() + 9_000), retryAt(two, clock.now() + 9_000), giveUp(three)]
      const { results } = await store.settle(settlements)
      await store.cancel(one.taskId)
      await store.attemptNow(two.taskId)
      await store.replay({ taskId: three.taskId, generation: 1, progress: nextGeneration(three, clock.now()) })
      const before = await Promise.all([one, two, three].map(get))
      assert.deepEqual((await store.settle(settlements)).results, results)
      assert.deepEqual(await Promise.all([one, two, three].map(get)), before)
      assert.deepEqual(
        before.map(({ state }) => state.status),
        ['CANCELLED', 'PENDING', 'PENDING'],
      )
      await claim({ queue: queueKey({ ...QUEUE, rank: 'low' }) })
      assert.deepEqual(await settle(settlements[2]!), LOST)
    })
  })

  describe('a stale token', () => {
    it('settles nothing that was never claimed, or is not known', async () => {
      const { add, settle, get } = await sit(open)
      const task = await add()
      const made = { ...task, lease: { token: 'made up', endsAt: 0, cancelRequested: false }, claimedAt: 0 }
      assert.deepEqual(await settle(succeed(made)), LOST)
      assert.deepEqual(await settle(succeed({ ...made, taskId: made.taskId.replace(/^./, 'f') })), LOST)
      assert.deepEqual(await get(task), asTaken(task))
    })

    it('settles nothing after a release, claimed anew or not', async () => {
      const { add, claimOne, settle, store, get } = await sit(open)
      const task = await add()
      const released = await claimOne()
      await store.release([heldBy(released)])
      assert.deepEqual(await settle(succeed(released)), LOST)
      const newer = await claimOne()
      assert.deepEqual(await settle(succeed(released)), LOST)
      assert.deepEqual((await get(task)).state, { status: 'IN_FLIGHT', lease: newer.lease })
    })

    it('releases nothing: not after a settle, not after a release, not what a newer claim has', async () => {
      const { addMany, claim, settle, store, get, clock } = await sit(open)
      const release = async (lease: HeldLease) => (await store.release([lease])).results
      await addMany(2)
      const [settled, released] = (await claim()) as [ClaimedTask, ClaimedTask]
      await settle(retryAt(settled, clock.now()))
      await release(heldBy(released))
      assert.deepEqual(await release(heldBy(settled)), ['lost'])
      assert.deepEqual(await release(heldBy(released)), ['lost'])
      await claim()
      const before = await get(released)
      assert.deepEqual(await release(heldBy(released)), ['lost'])
      assert.deepEqual(await get(released), before)
      assert.deepEqual(await release({ taskId: 'unheard-of', token: 'a' }), ['lost'])
    })

    it('of a lease that ended and was settled by the steward changes nothing', async () => {
      const { add, claimOne, settle, store, get, clock } = await sit(open)
      const task = await add()
      const slow = await claimOne()
      await clock.advance(LEASE_MS)
      const { tasks } = await store.endedLeases({ partition: PARTITION, limit: 10 })
      const lost = { outcome: 'ambiguous', errorCode: 'lost' } as const
      await settle(retryAt(tasks[0]!, clock.now(), lost))
      const { progress } = await get(task)
      assert.equal(progress.attemptNumber, 1)
      await claimOne(RETRIES)
      assert.deepEqual(await settle(succeed(slow)), LOST)
      assert.deepEqual((await store.release([heldBy(slow)])).results, ['lost'])
      assert.equal((await store.attempts({ taskId: task.taskId, limit: 10 })).items.length, 1)
    })
  })

  describe('a release', () => {
    it('puts a task back as it was and where it stood, and counts nothing', async () => {
      const { add, claim, claimOne, store, get, clock } = await sit(open)
      const dueAt = clock.now()
      const first = await add({ dueAt, progress: { attemptNumber: 3 } })
      const second = await add({ dueAt })
      const claimed = await claimOne()
      await clock.advance(500)
      assert.deepEqual((await store.release([heldBy(claimed)])).results, ['released'])
      assert.deepEqual(await get(first), { ...asTaken(first), version: 3 })
      assert.deepEqual(
        (await claim()).map(({ taskId }) => taskId),
        [first.taskId, second.taskId],
      )
      assert.deepEqual(await everything(page => store.attempts({ ...page, taskId: first.taskId })), [])
    })

    it('is allowed after the steward has changed', async () => {
      const { add, claimOne, take, store } = await sit(open)
      await add()
      const claimed = await claimOne()
      await take()
      assert.deepEqual((await store.release([heldBy(claimed)])).results, ['released'])
      const heads = await everything(page => store.queues({ ...page, partition: PARTITION }))
      assert.deepEqual(heads, [{ lane: LANE, queue: queueKey(QUEUE), dueAt: claimed.dueAt }])
    })

    it('of one batch is answered item by item', async () => {
      const { addMany, claim, store } = await sit(open)
      await addMany(2)
      const [one, other] = (await claim()) as [ClaimedTask, ClaimedTask]
      const { results } = await store.release([heldBy(one), { ...heldBy(other), token: 'stale' }, heldBy(one)])
      assert.deepEqual(results, ['released', 'lost', 'lost'])
    })
  })
}

function heldBy({ taskId, lease }: ClaimedTask): HeldLease {
  return { taskId, token: lease.token }
}
