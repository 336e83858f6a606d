import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { queueKey } from '../../task/lane.ts'
import { sit, type OpenStore } from './exam.test-kit.ts'
import {
  asTaken,
  expireHeld,
  giveUp,
  giveUpUnsent,
  QUEUE,
  REPLAYED,
  replayOf,
  retryAt,
  succeed,
  TENANT,
  underWay,
} from './tasks.test-kit.ts'

const LINE = { tenant: TENANT, actor: 'local', action: 'task.cancel', subject: 'a task' }

export function examineOperators(open: OpenStore): void {
  describe('a cancel', () => {
    it('of a waiting task ends it', async () => {
      const { store, add, claim, get, clock } = await sit(open)
      const task = await add()
      await clock.advance(10)
      const answer = await store.cancel(task.taskId)
      const cancelled = { ...asTaken(task), state: { status: 'CANCELLED', endedAt: clock.now() }, version: 2 }
      assert.deepEqual(answer, { now: clock.now(), kind: 'changed', task: cancelled })
      assert.deepEqual(await get(task), cancelled)
      assert.deepEqual(await claim(), [])
    })

    it('of a cancelled task answers the same again, and changes nothing', async () => {
      const { store, add, all, clock } = await sit(open)
      const { taskId } = await add()
      const first = await store.cancel(taskId, { audit: LINE })
      await clock.advance(10)
      assert.deepEqual(await store.cancel(taskId, { audit: LINE }), { ...first, now: clock.now() })
      assert.equal((await all(page => store.audit(page))).length, 1)
    })

    it('of a task under way marks it, once', async () => {
      const { store, add, claimOne, get, all, clock } = await sit(open)
      const { taskId } = await add()
      const claimed = await claimOne()
      const first = await store.cancel(taskId, { audit: LINE })
      const task = await get({ taskId })
      assert.deepEqual(task.state, underWay({ ...claimed, lease: { ...claimed.lease, cancelRequested: true } }))
      assert.equal(task.version, 3)
      assert.deepEqual(first, { now: clock.now(), kind: 'changed', task })
      assert.deepEqual(await store.cancel(taskId, { audit: LINE }), first)
      assert.equal((await all(page => store.audit(page))).length, 1)
    })

    it('is heeded by the settle: a task that failed is CANCELLED, its attempt counted', async () => {
      const { store, addMany, claimOne, get, clock } = await sit(open)
      await addMany(3)
      const [one, two, three] = [await claimOne(), await claimOne(), await claimOne()]
      const claimed = [one, two, three]
      for (const { taskId } of claimed) await store.cancel(taskId)
      const { results } = await store.settle([retryAt(one, clock.now()), giveUp(two), giveUpUnsent(three)])
      assert.deepEqual(
        results,
        claimed.map(() => ({ kind: 'settled', status: 'CANCELLED' })),
      )
      const tasks = await Promise.all(claimed.map(get))
      for (const { state } of tasks) assert.deepEqual(state, { status: 'CANCELLED', endedAt: clock.now() })
      assert.deepEqual(
        tasks.map(({ version, progress }) => [version, progress.attemptNumber]),
        [
          [4, 1],
          [4, 1],
          [4, 0],
        ],
      )
      assert.deepEqual((await store.settle([retryAt(one, clock.now())])).results, results.slice(0, 1))
    })

    it('is heeded by the settle of a task that a gate held: it keeps no gate', async () => {
      const { store, add, claimOne, settle, get, clock } = await sit(open)
      const { taskId, dueAt } = await add()
      const claimed = await claimOne()
      await store.cancel(taskId)
      await settle(expireHeld(claimed, { by: 'credit', since: dueAt }))
      assert.deepEqual((await get({ taskId })).state, { status: 'CANCELLED', endedAt: clock.now() })
    })

    it('comes too late for a task that succeeded', async () => {
      const { store, add, claimOne, settle } = await sit(open)
      const { taskId } = await add()
      const claimed = await claimOne()
      await store.cancel(taskId)
      assert.deepEqual(await settle(succeed(claimed)), { kind: 'settled', status: 'SUCCEEDED' })
    })

    it('does not change a task that has ended, and says what it is', async () => {
      const { store, ended, all, clock } = await sit(open)
      for (const task of [await ended(succeed), await ended(giveUp)]) {
        const answer = await store.cancel(task.taskId, { audit: LINE })
        assert.deepEqual(answer, { now: clock.now(), kind: 'unchanged', task })
      }
      assert.deepEqual(await all(page => store.audit(page)), [])
    })

    it('of an unknown task says so', async () => {
      const { store, build, clock } = await sit(open)
      const unknown = { now: clock.now(), kind: 'unknown' }
      for (const taskId of [build().taskId, 'no id at all', ''])
        assert.deepEqual(await store.cancel(taskId), unknown, taskId)
    })
  })

  describe('attempt-now', () => {
    it('makes a waiting task due at once, in the urgent queue of its kind', async () => {
      const { store, add, claimOne, clock } = await sit(open)
      const task = await add({ dueAt: clock.now() + 60_000, queue: { ...QUEUE, kind: 'retry' } })
      await clock.advance(500)
      const queue = { ...QUEUE, kind: 'retry', rank: 'urgent' } as const
      const state = { status: 'PENDING', nextAttemptAt: clock.now(), queue } as const
      const answer = await store.attemptNow(task.taskId)
      assert.deepEqual(answer, { now: clock.now(), kind: 'changed', task: { ...asTaken(task), state, version: 2 } })
      assert.equal((await claimOne({ queue: queueKey(queue) })).taskId, task.taskId)
    })

    it('changes nothing that does not wait, and says what it is', async () => {
      const { store, add, claim, ended, get, all, clock } = await sit(open)
      const underWay = await add()
      await claim()
      const { taskId } = await add()
      await store.cancel(taskId)
      const others = [await get(underWay), await get({ taskId }), await ended(succeed), await ended(giveUp)]
      for (const task of others) {
        const answer = await store.attemptNow(task.taskId, { audit: LINE })
        assert.deepEqual(answer, { now: clock.now(), kind: 'unchanged', task })
      }
      assert.equal((await store.attemptNow('unheard-of', { audit: LINE })).kind, 'unknown')
      assert.deepEqual(await all(page => store.audit(page)), [])
    })
  })

  describe('a replay', () => {
    it('begins the next generation of a dead letter: due now, behind live traffic', async () => {
      const { ended, claimOne, replay, get, clock } = await sit(open)
      const dead = await ended(giveUp)
      await clock.advance(1_000)
      const ask = replayOf(dead, clock.now())
      const queue = { policyId: dead.policyId, kind: 'first', rank: 'low' } as const
      const state = { status: 'PENDING', nextAttemptAt: clock.now(), queue } as const
      const task = { ...dead, progress: ask.progress, state, version: 4 }
      assert.deepEqual(await replay(ask), { kind: 'changed', task })
      assert.deepEqual(await get(dead), task)
      const claimed = await claimOne({ queue: REPLAYED })
      assert.deepEqual([claimed.taskId, claimed.progress], [dead.taskId, ask.progress])
    })

    it('waits in a queue of the policy that the task was accepted with', async () => {
      const { ended, replay, get, clock } = await sit(open)
      const dead = await ended(giveUp, { policyId: 'payments', queue: { ...QUEUE, policyId: 'elsewhere' } })
      await replay(replayOf(dead, clock.now()))
      const { state } = await get(dead)
      assert.ok(state.status === 'PENDING')
      assert.equal(state.queue.policyId, 'payments')
    })

    it('keeps the attempts of every generation, each counted from 1', async () => {
      const { store, ended, claimOne, settle, replay, all, clock } = await sit(open)
      const dead = await ended(giveUp)
      await replay(replayOf(dead, clock.now()))
      await settle(succeed(await claimOne({ queue: REPLAYED })))
      const rows = await all(page => store.attempts({ ...page, taskId: dead.taskId }))
      assert.deepEqual(
        rows.map(({ generation, attemptNumber, outcome }) => [generation, attemptNumber, outcome]),
        [
          [1, 1, 'transient'],
          [2, 1, 'success'],
        ],
      )
    })

    it('happens once per generation, however often it is asked for at once', async () => {
      const { ended, replay, get, clock } = await sit(open)
      const dead = await ended(giveUp)
      const ask = replayOf(dead, clock.now())
      const answers = await Promise.all([replay(ask), replay(ask), replay(ask)])
      assert.deepEqual(answers.map(({ kind }) => kind).toSorted(), ['changed', 'unchanged', 'unchanged'])
      const { progress, version } = await get(dead)
      assert.deepEqual([progress.generation, version], [2, 4])
    })

    it('of an earlier generation than the present one changes nothing', async () => {
      const { ended, claimOne, settle, replay, get, clock } = await sit(open)
      const dead = await ended(giveUp)
      const ask = replayOf(dead, clock.now())
      await replay(ask)
      await settle(giveUp(await claimOne({ queue: REPLAYED })))
      assert.deepEqual(await replay(ask), { kind: 'unchanged', task: await get(dead) })
    })

    it('changes nothing but dead letters, and says what it is', async () => {
      const { store, add, claim, ended, replay, get, all, clock } = await sit(open)
      const underWay = await add()
      await claim()
      const waiting = await add({ dueAt: clock.now() + 1 })
      for (const task of [await get(underWay), await get(waiting), await ended(succeed)])
        assert.deepEqual(await replay(replayOf(task, clock.now()), { audit: LINE }), { kind: 'unchanged', task })
      const unknown = { ...replayOf(underWay, clock.now()), taskId: 'unheard-of' }
      assert.deepEqual(await replay(unknown, { audit: LINE }), { kind: 'unknown' })
      assert.deepEqual(await all(page => store.audit(page)), [])
    })
  })
}
