import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { only, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import {
  asTaken,
  expireHeld,
  giveUp,
  giveUpUnsent,
  LEASE_MS,
  putBack,
  QUEUE,
  REPLAYED,
  replayOf,
  RETRIES,
  retryAt,
  succeed,
} from './tasks.test-kit.ts'
import type { AttemptRow } from '../../task/task.ts'

const LOST = { kind: 'lost' }

function attemptsOf({ store, all }: Setting, { taskId }: { readonly taskId: string }): Promise<AttemptRow[]> {
  return all(page => store.attempts({ ...page, taskId }))
}

export function examineSettles(open: OpenStore): void {
  describe('a settle', () => {
    it('of a success ends the task, keeps the attempt and grows the version', async () => {
      const setting = await sit(open)
      const { add, claimOne, settle, get, clock } = setting
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
      assert.deepEqual(await attemptsOf(setting, task), [settlement.attempt])
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
      assert.deepEqual(await claim({ queue: RETRIES }), [])
      await clock.advance(2_000)
      const again = await claimOne({ queue: RETRIES })
      assert.deepEqual([again.taskId, again.progress, again.dueAt], [task.taskId, progress, dueAt])
    })

    it('of a task that a gate held until its deadline keeps which gate, and since when, until a replay', async () => {
      const { add, claimOne, settle, get, replay, clock } = await sit(open)
      const { taskId, dueAt } = await add()
      await clock.advance(100)
      await settle(expireHeld(await claimOne(), { by: 'credit', since: dueAt }))
      const dead = await get({ taskId })
      const died = { status: 'EXHAUSTED', endedAt: clock.now(), reason: 'deadline' }
      assert.deepEqual(dead.state, { ...died, held: { by: 'credit', since: dueAt } })
      await replay(replayOf(dead, clock.now()))
      await settle(giveUpUnsent(await claimOne({ queue: REPLAYED })))
      assert.deepEqual((await get({ taskId })).state, died)
    })

    it('of the last failure ends the task with its reason', async () => {
      const { add, claimOne, settle, get, clock } = await sit(open)
      const task = await add()
      await settle(giveUp(await claimOne(), 'permanent'))
      assert.deepEqual((await get(task)).state, { status: 'EXHAUSTED', endedAt: clock.now(), reason: 'permanent' })
    })

    it('without an attempt counts none', async () => {
      const setting = await sit(open)
      const { add, claimOne, settle, get } = setting
      const task = await add()
      await settle(giveUpUnsent(await claimOne()))
      const { state, progress, lastAttempt } = await get(task)
      assert.deepEqual([state.status, progress, lastAttempt], ['EXHAUSTED', task.progress, undefined])
      assert.deepEqual(await attemptsOf(setting, task), [])
    })

    it('keeps the whole attempt, the captured answer too', async () => {
      const setting = await sit(open)
      const { add, claimOne, settle } = setting
      const task = await add()
      const { attempt, ...settlement } = succeed(await claimOne())
      assert.ok(attempt !== undefined)
      const response = { headers: { a: 'ü' }, body: 'AP8=', bodyEncoding: 'base64', truncated: true } as const
      const whole = { ...attempt, durationMs: 12.75, response }
      await settle({ ...settlement, attempt: whole })
      assert.deepEqual(await attemptsOf(setting, task), [whole])
    })

    it('is kept although the partition has another steward by now', async () => {
      const { add, claimOne, take, settle, get } = await sit(open)
      const task = await add()
      const claimed = await claimOne()
      await take()
      assert.equal((await settle(succeed(claimed))).kind, 'settled')
      assert.equal((await get(task)).state.status, 'SUCCEEDED')
    })

    it('is kept although the lease has ended, as long as it is the first', async () => {
      const { add, claimOne, settle, clock } = await sit(open)
      await add()
      const claimed = await claimOne()
      await clock.advance(LEASE_MS + 1)
      assert.deepEqual(await settle(succeed(claimed)), { kind: 'settled', status: 'SUCCEEDED' })
    })

    it('in a batch is answered item by item, and a lost one does not harm the others', async () => {
      const { store, addMany, claimOne } = await sit(open)
      await addMany(4)
      const [one, two, three, four] = [await claimOne(), await claimOne(), await claimOne(), await claimOne()]
      const { results } = await store.settle([
        succeed(one),
        { ...succeed(two), token: 'stale' },
        putBack(four),
        giveUp(three),
        { ...succeed(one), taskId: 'unheard-of' },
      ])
      assert.deepEqual(results, [
        { kind: 'settled', status: 'SUCCEEDED' },
        LOST,
        { kind: 'settled', status: 'PENDING' },
        { kind: 'settled', status: 'EXHAUSTED' },
        LOST,
      ])
    })

    it('may be of no task at all', async () => {
      const { store, clock } = await sit(open)
      assert.deepEqual(await store.settle([]), { now: clock.now(), results: [] })
    })
  })

  describe('the same settle again', () => {
    it('answers as before and changes nothing', async () => {
      const setting = await sit(open)
      const { store, add, claimOne, settle, get, all } = setting
      const task = await add()
      const settlement = retryAt(await claimOne(), task.dueAt + 1_000)
      const answer = await settle(settlement)
      const before = await get(task)
      assert.deepEqual(await settle(settlement), answer)
      assert.deepEqual(await get(task), before)
      assert.equal((await attemptsOf(setting, task)).length, 1)
      const lane = only(await all(page => store.lanes(page)))
      assert.deepEqual([lane.attempts, lane.pending], [1, 1])
    })

    it('has one effect also within a batch, and when both come at once', async () => {
      const setting = await sit(open)
      const { store, addMany, claimOne, get } = setting
      await addMany(2)
      const [one, other] = [await claimOne(), await claimOne()]
      const { results } = await store.settle([succeed(one), succeed(one)])
      const answers = await Promise.all([store.settle([giveUp(other)]), store.settle([giveUp(other)])])
      assert.deepEqual(results[1], results[0])
      assert.deepEqual(answers[1].results, answers[0].results)
      for (const task of [one, other]) {
        assert.equal((await get(task)).version, 3)
        assert.equal((await attemptsOf(setting, task)).length, 1)
      }
    })

    it('says what the task became by the first, whatever the second asks', async () => {
      const { add, claimOne, settle, get } = await sit(open)
      const task = await add()
      const claimed = await claimOne()
      await settle(retryAt(claimed, task.dueAt))
      for (const again of [succeed(claimed), putBack(claimed)])
        assert.deepEqual(await settle(again), { kind: 'settled', status: 'PENDING' })
      assert.equal((await get(task)).state.status, 'PENDING')
    })

    it('is lost once a newer claim has the task, and does not touch it', async () => {
      const { add, claimOne, settle, get } = await sit(open)
      const task = await add()
      const settlement = retryAt(await claimOne(), task.dueAt)
      await settle(settlement)
      const newer = await claimOne({ queue: RETRIES })
      const before = await get(task)
      assert.deepEqual(await settle(settlement), LOST)
      assert.deepEqual(await get(task), before)
      await settle(succeed(newer))
      assert.deepEqual(await settle(settlement), LOST)
    })

    it('answers as before after a cancel, an attempt-now and a replay, and undoes none of them', async () => {
      const { store, addMany, claim, claimOne, settle, replay, get, clock } = await sit(open)
      await addMany(3)
      const [one, two, three] = [await claimOne(), await claimOne(), await claimOne()]
      const dead = giveUp(three)
      const settlements = [retryAt(one, clock.now() + 9_000), retryAt(two, clock.now() + 9_000), dead]
      const { results } = await store.settle(settlements)
      await store.cancel(one.taskId)
      await store.attemptNow(two.taskId)
      await replay(replayOf(three, clock.now()))
      const before = await Promise.all([one, two, three].map(get))
      assert.deepEqual((await store.settle(settlements)).results, results)
      assert.deepEqual(await Promise.all([one, two, three].map(get)), before)
      assert.deepEqual(
        before.map(({ state }) => state.status),
        ['CANCELLED', 'PENDING', 'PENDING'],
      )
      await claim({ queue: REPLAYED })
      assert.deepEqual(await settle(dead), LOST)
    })
  })

  describe('a stale token', () => {
    it('settles nothing that was never claimed, or is not known', async () => {
      const { add, settle, get } = await sit(open)
      const task = await add()
      const made = { ...task, lease: LEASE, claimedAt: 0 }
      for (const end of [succeed(made), putBack(made)]) {
        assert.deepEqual(await settle(end), LOST)
        assert.deepEqual(await settle({ ...end, taskId: made.taskId.replace(/^./, 'f') }), LOST)
      }
      assert.deepEqual(await get(task), asTaken(task))
    })

    it('of a lease that ended and was settled by the steward changes nothing', async () => {
      const setting = await sit(open)
      const { add, claimOne, leased, settle, get, clock } = setting
      const task = await add()
      const slow = await claimOne()
      await clock.advance(LEASE_MS)
      const lost = { outcome: 'ambiguous', errorCode: 'lost' } as const
      await settle(retryAt(only(await leased({ haveEnded: true })), clock.now(), lost))
      assert.equal((await get(task)).progress.attemptNumber, 1)
      await claimOne({ queue: RETRIES })
      for (const end of [succeed(slow), putBack(slow)]) assert.deepEqual(await settle(end), LOST)
      assert.equal((await attemptsOf(setting, task)).length, 1)
    })
  })
}

const LEASE = { token: 'made up', endsAt: 0, cancelRequested: false }
