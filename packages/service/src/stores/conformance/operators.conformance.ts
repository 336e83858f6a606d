import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { queueKey } from '../../task/lane.ts'
import type { Task } from '../../task/task.ts'
import { hintsOf, sit, type OpenStore } from './exam.test-kit.ts'
import {
  asTaken,
  giveUp,
  giveUpUnsent,
  LANE,
  nextGeneration,
  PARTITION,
  QUEUE,
  retryAt,
  succeed,
} from './tasks.test-kit.ts'

export function examineOperators(open: OpenStore): void {
  describe('a cancel', () => {
    it('of a waiting task ends it', async () => {
      const { store, add, claim, get, clock } = await sit(open)
      const task = await add()
      const answer = await store.cancel(task.taskId)
      const cancelled = { ...asTaken(task), state: { status: 'CANCELLED', endedAt: clock.now() }, version: 2 }
      assert.deepEqual(answer, { now: clock.now(), kind: 'changed', task: cancelled })
      assert.deepEqual(await get(task), cancelled)
      assert.deepEqual(await claim(), [])
    })

    it('of a cancelled task answers the same again, and changes nothing', async () => {
      const { store, add, clock } = await sit(open)
      const { taskId } = await add()
      const first = await store.cancel(taskId)
      await clock.advance(10)
      assert.deepEqual(await store.cancel(taskId), { ...first, now: clock.now() })
    })

    it('of a task under way marks it, once', async () => {
      const { store, add, claimOne, get, clock } = await sit(open)
      const { taskId } = await add()
      const { lease } = await claimOne()
      const first = await store.cancel(taskId)
      const task = await get({ taskId })
      assert.deepEqual(task.state, { status: 'IN_FLIGHT', lease: { ...lease, cancelRequested: true } })
      assert.equal(task.version, 3)
      assert.deepEqual(first, { now: clock.now(), kind: 'changed', task })
      assert.deepEqual(await store.cancel(taskId), first)
    })

    it('is heeded by the settle: what failed is CANCELLED, its attempt counted', async () => {
      const { store, addMany, claim, get, clock } = await sit(open)
      await addMany(3)
      const claimed = await claim()
      for (const { taskId } of claimed) await store.cancel(taskId)
      const [one, two, three] = claimed
      const { results } = await store.settle([retryAt(one!, clock.now()), giveUp(two!), giveUpUnsent(three!)])
      assert.deepEqual(
        results,
        claimed.map(() => ({ kind: 'settled', status: 'CANCELLED' })),
      )
      const tasks = await Promise.all(claimed.map(get))
      for (const { state } of tasks) assert.deepEqual(state, { status: 'CANCELLED', endedAt: clock.now() })
      assert.deepEqual(
        tasks.map(({ progress }) => progress.attemptNumber),
        [1, 1, 0],
      )
      assert.deepEqual((await store.settle([retryAt(one!, clock.now())])).results, results.slice(0, 1))
      assert.deepEqual(await claim(), [])
    })

    it('comes too late for what succeeded', async () => {
      const { store, add, claimOne, settle } = await sit(open)
      const { taskId } = await add()
      const claimed = await claimOne()
      await store.cancel(taskId)
      assert.deepEqual(await settle(succeed(claimed)), { kind: 'settled', status: 'SUCCEEDED' })
    })

    it('is heeded by a release too: nothing was sent, and nothing will be', async () => {
      const { store, add, claim, claimOne, get } = await sit(open)
      const task = await add()
      const { taskId, lease } = await claimOne()
      await store.cancel(taskId)
      assert.deepEqual((await store.release([{ taskId, token: lease.token }])).results, ['released'])
      const { state, progress } = await get(task)
      assert.deepEqual([state.status, progress], ['CANCELLED', task.progress])
      assert.deepEqual(await claim(), [])
    })

    it('does not change what has ended, and says what it is', async () => {
      const { store, ended, clock } = await sit(open)
      for (const task of [await ended(succeed), await ended(giveUp)])
        assert.deepEqual(await store.cancel(task.taskId), { now: clock.now(), kind: 'unchanged', task })
    })

    it('of a task that nobody knows says so', async () => {
      const { store, build, clock } = await sit(open)
      const unknown = { now: clock.now(), kind: 'unknown' }
      for (const taskId of [build().taskId, 'no id at all', ''])
        assert.deepEqual(await store.cancel(taskId), unknown, taskId)
    })
  })

  describe('attempt-now', () => {
    it('makes a waiting task due at once, in the urgent queue of its kind', async () => {
      const { store, add, claimOne, clock } = await sit(open)
      const task = await add({ dueAt: clock.now() + 60_000 })
      await clock.advance(500)
      const queue = { ...QUEUE, rank: 'urgent' } as const
      const state = { status: 'PENDING', nextAttemptAt: clock.now(), queue } as const
      const expected: Task = { ...asTaken(task), state, version: 2 }
      const answer = await store.attemptNow(task.taskId)
      assert.deepEqual(answer, { now: clock.now(), kind: 'changed', task: expected })
      assert.equal((await claimOne({ queue: queueKey(queue) })).taskId, task.taskId)
    })

    it('is told to the steward', async () => {
      const { store, add, clock } = await sit(open)
      const { taskId } = await add({ dueAt: clock.now() + 60_000, queue: { ...QUEUE, kind: 'retry' } })
      const hints = hintsOf(store)
      await store.attemptNow(taskId)
      await hints.until(heard => heard.some(({ dueAt }) => dueAt === clock.now()))
      const queue = queueKey({ ...QUEUE, kind: 'retry', rank: 'urgent' })
      assert.deepEqual(hints.heard.at(-1), { partition: PARTITION, lane: LANE, queue, dueAt: clock.now() })
    })

    it('changes nothing that does not wait, and says what it is', async () => {
      const { store, add, claim, ended, get, clock } = await sit(open)
      const underWay = await add()
      await claim()
      const { taskId } = await add()
      await store.cancel(taskId)
      const others = [await get(underWay), await get({ taskId }), await ended(succeed), await ended(giveUp)]
      for (const task of others)
        assert.deepEqual(await store.attemptNow(task.taskId), { now: clock.now(), kind: 'unchanged', task })
      assert.equal((await store.attemptNow('unheard-of')).kind, 'unknown')
    })
  })

  describe('a replay', () => {
    it('begins the next generation of a dead letter: due now, behind live traffic', async () => {
      const { store, ended, claimOne, clock } = await sit(open)
      const dead = await ended(giveUp)
      await clock.advance(1_000)
      const progress = nextGeneration(dead, clock.now())
      const queue = { policyId: dead.policyId, kind: 'first', rank: 'low' } as const
      const state = { status: 'PENDING', nextAttemptAt: clock.now(), queue } as const
      const answer = await store.replay({ taskId: dead.taskId, generation: 1, progress })
      assert.deepEqual(answer, { now: clock.now(), kind: 'changed', task: { ...dead, progress, state, version: 4 } })
      const claimed = await claimOne({ queue: queueKey(queue) })
      assert.deepEqual([claimed.taskId, claimed.progress], [dead.taskId, progress])
    })

    it('stands in the queue of the policy that the task was accepted with', async () => {
      const { store, ended, get, clock } = await sit(open)
      const dead = await ended(giveUp, { policyId: 'payments', queue: { ...QUEUE, policyId: 'elsewhere' } })
      await store.replay({ taskId: dead.taskId, generation: 1, progress: nextGeneration(dead, clock.now()) })
      const { state } = await get(dead)
      assert.ok(state.status === 'PENDING')
      assert.equal(state.queue.policyId, 'payments')
    })

    it('is told to the steward', async () => {
      const { store, ended, clock } = await sit(open)
      const dead = await ended(giveUp)
      await clock.advance(1_000)
      const hints = hintsOf(store)
      await store.replay({ taskId: dead.taskId, generation: 1, progress: nextGeneration(dead, clock.now()) })
      await hints.until(heard => heard.some(({ dueAt }) => dueAt === clock.now()))
      const queue = queueKey({ ...QUEUE, rank: 'low' })
      assert.deepEqual(hints.heard.at(-1), { partition: PARTITION, lane: LANE, queue, dueAt: clock.now() })
    })

    it('keeps the attempts of every generation, each counted from 1', async () => {
      const { store, ended, claimOne, settle, all, clock } = await sit(open)
      const dead = await ended(giveUp)
      await store.replay({ taskId: dead.taskId, generation: 1, progress: nextGeneration(dead, clock.now()) })
      await settle(succeed(await claimOne({ queue: queueKey({ ...QUEUE, rank: 'low' }) })))
      const rows = await all(page => store.attempts({ ...page, taskId: dead.taskId }))
      assert.deepEqual(
        rows.map(({ generation, attemptNumber, outcome }) => [generation, attemptNumber, outcome]),
        [
          [1, 1, 'transient'],
          [2, 1, 'success'],
        ],
      )
    })

    it('happens once per generation, however often and at once it is asked for', async () => {
      const { store, ended, get, clock } = await sit(open)
      const dead = await ended(giveUp)
      const ask = { taskId: dead.taskId, generation: 1, progress: nextGeneration(dead, clock.now()) }
      const answers = await Promise.all([store.replay(ask), store.replay(ask), store.replay(ask)])
      assert.deepEqual(answers.map(({ kind }) => kind).toSorted(), ['changed', 'unchanged', 'unchanged'])
      const { progress, version } = await get(dead)
      assert.deepEqual([progress.generation, version], [2, 4])
    })

    it('of an earlier generation than the present one changes nothing', async () => {
      const { store, ended, claimOne, settle, get, clock } = await sit(open)
      const dead = await ended(giveUp)
      const ask = { taskId: dead.taskId, generation: 1, progress: nextGeneration(dead, clock.now()) }
      await store.replay(ask)
      await settle(giveUp(await claimOne({ queue: queueKey({ ...QUEUE, rank: 'low' }) })))
      const task = await get(dead)
      assert.deepEqual(await store.replay(ask), { now: clock.now(), kind: 'unchanged', task })
    })

    it('changes nothing but dead letters, and says what it is', async () => {
      const { store, add, claim, ended, get, clock } = await sit(open)
      const underWay = await add()
      await claim()
      const waiting = await add({ dueAt: clock.now() + 1 })
      for (const task of [await get(underWay), await get(waiting), await ended(succeed)]) {
        const ask = { taskId: task.taskId, generation: 1, progress: nextGeneration(task, clock.now()) }
        assert.deepEqual(await store.replay(ask), { now: clock.now(), kind: 'unchanged', task })
      }
      const ask = { taskId: 'unheard-of', generation: 1, progress: nextGeneration(underWay, clock.now()) }
      assert.equal((await store.replay(ask)).kind, 'unknown')
    })
  })
}
