import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey, partitionOf, queueKey } from '../../task/lane.ts'
import { askOf, byQueue, everything, idsOf, sit, type OpenStore } from './exam.test-kit.ts'
import { hintsOf } from './hints.test-kit.ts'
import {
  FIRSTS,
  giveUp,
  LANE,
  LEASE_MS,
  PARTITION,
  putBack,
  QUEUE,
  REPLAYED,
  replayOf,
  RETRIES,
  retryAt,
  succeed,
  TENANT,
  underWay,
} from './tasks.test-kit.ts'

const ELSEWHERE = { tenant: TENANT, destination: 'https://other.example' }
const OTHER_PARTITION = partitionOf(laneKey(ELSEWHERE))

export function examineListing(open: OpenStore): void {
  describe('listing queues', () => {
    it('finds every queue that has a waiting task, with the instant of its first', async () => {
      const { add, heads, clock } = await sit(open)
      const now = clock.now()
      await add({ dueAt: now + 500 })
      await add({ dueAt: now + 300 })
      for (const rank of ['urgent', 'low'] as const) await add({ queue: { ...QUEUE, rank }, dueAt: now - 7 })
      const expected = [
        { lane: LANE, queue: FIRSTS, dueAt: now + 300 },
        { lane: LANE, queue: queueKey({ ...QUEUE, rank: 'urgent' }), dueAt: now - 7 },
        { lane: LANE, queue: queueKey({ ...QUEUE, rank: 'low' }), dueAt: now - 7 },
      ]
      assert.deepEqual(await heads(), expected.toSorted(byQueue))
    })

    it('finds those of the asked partitions, in the order of partitions, in pages', async () => {
      const { store, add, heads } = await sit(open)
      assert.notEqual(OTHER_PARTITION, PARTITION)
      await add(ELSEWHERE)
      assert.deepEqual(await heads(), [])
      for (const kind of ['first', 'retry'] as const) await add({ queue: { ...QUEUE, kind } })
      const partitions = [PARTITION, OTHER_PARTITION]
      const found = await everything(page => store.queues({ ...page, partitions }), 1)
      const places = found.map(({ lane }) => partitionOf(lane))
      const expected = [PARTITION, PARTITION, OTHER_PARTITION].toSorted((one, other) => one - other)
      assert.deepEqual(places, expected)
      assert.deepEqual(await everything(page => store.queues({ ...page, partitions: [] })), [])
    })

    it('finds a queue no more when its last task was claimed or cancelled', async () => {
      const { store, add, claim, heads } = await sit(open)
      await add()
      const { taskId } = await add({ queue: { ...QUEUE, kind: 'retry' } })
      await claim()
      await store.cancel(taskId)
      assert.deepEqual(await heads(), [])
    })

    it('finds every task that waits again: after a settle, a put-back, an attempt-now and a replay', async () => {
      const { store, addMany, claimOne, replay, heads, clock } = await sit(open)
      const now = clock.now()
      await addMany(4)
      const [retried, unsent, hurried, dead] = [await claimOne(), await claimOne(), await claimOne(), await claimOne()]
      await store.settle([retryAt(retried, now + 100), retryAt(hurried, now + 200), giveUp(dead), putBack(unsent)])
      await clock.advance(10)
      await store.attemptNow(hurried.taskId)
      await replay(replayOf(dead, now))
      const expected = [
        { lane: LANE, queue: RETRIES, dueAt: now + 100 },
        { lane: LANE, queue: FIRSTS, dueAt: now },
        { lane: LANE, queue: queueKey({ ...QUEUE, kind: 'retry', rank: 'urgent' }), dueAt: now + 10 },
        { lane: LANE, queue: REPLAYED, dueAt: now + 10 },
      ]
      assert.deepEqual(await heads(), expected.toSorted(byQueue))
    })
  })

  describe('leases', () => {
    it('are listed in pages, the earliest end first', async () => {
      const { store, add, addMany, claim, clock } = await sit(open)
      const long = await add({ leaseMs: 90_000 })
      const short = await add({ leaseMs: 10_000 })
      await claim({}, 'first call')
      await clock.advance(1_000)
      await addMany(3, { leaseMs: 20_000 })
      await claim({}, 'second call')
      const leases = await everything(page => store.leases({ ...page, partitions: [PARTITION] }))
      assert.equal(leases.length, 5)
      const head = { lane: LANE, token: 'first call' }
      assert.deepEqual(leases[0], { ...head, taskId: short.taskId, endsAt: clock.now() + 9_000 })
      assert.deepEqual(leases[4], { ...head, taskId: long.taskId, endsAt: clock.now() + 89_000 })
    })

    it('are those of the asked partitions, the earliest end of all first', async () => {
      const { store, add, claim } = await sit(open)
      const last = await add({ leaseMs: 30_000 })
      const first = await add({ ...ELSEWHERE, leaseMs: 10_000 })
      const second = await add({ leaseMs: 20_000 })
      await claim()
      await claim({ lane: laneKey(ELSEWHERE) })
      const leasesOf = (...partitions: number[]) => everything(page => store.leases({ ...page, partitions }), 1)
      assert.deepEqual(idsOf(await leasesOf(PARTITION, OTHER_PARTITION)), idsOf([first, second, last]))
      assert.deepEqual(idsOf(await leasesOf(OTHER_PARTITION)), idsOf([first]))
      assert.deepEqual(await leasesOf((PARTITION + 1) % 256), [])
    })

    it('are found by the call that made them and by no other', async () => {
      const { addMany, claim, settle, leased } = await sit(open)
      await addMany(5)
      const [settled, ...others] = await claim({ count: 3 }, 'unanswered')
      await claim({ count: 2 }, 'another')
      assert.ok(settled !== undefined)
      await settle(succeed(settled))
      const found = await leased({ token: 'unanswered' })
      assert.deepEqual(idsOf(found).toSorted(), idsOf(others).toSorted())
      assert.deepEqual(await leased({ token: 'never made' }), [])
    })

    it('of a claim without an answer are put back once the steward has changed, and no newer ones', async () => {
      const { store, add, claim, claimOne, take, leased, get } = await sit(open)
      const [doubtful, other] = [await add(), await add()]
      const former = await take()
      await claim({ count: 1 }, 'unanswered')
      await take()
      const late = { partition: PARTITION, steward: former, token: 'unanswered', asks: [askOf()] }
      assert.deepEqual((await store.claim([late])).answers, [{ kind: 'refused' }])
      const newer = await claimOne()
      const found = await leased({ token: 'unanswered' })
      assert.deepEqual(idsOf(found), [doubtful.taskId])
      const { results } = await store.settle(
        [...found, { ...newer, lease: { ...newer.lease, token: 'unanswered' } }].map(putBack),
      )
      assert.deepEqual(results, [{ kind: 'settled', status: 'PENDING' }, { kind: 'lost' }])
      const { state, progress } = await get(doubtful)
      assert.deepEqual([state.status, progress], ['PENDING', doubtful.progress])
      assert.deepEqual((await get(other)).state, underWay(newer))
    })

    it('have ended when their instant has come, the earliest first, and are as they were claimed', async () => {
      const { add, claimOne, leased, clock } = await sit(open)
      await add({ leaseMs: LEASE_MS + 500 })
      await add({ leaseMs: LEASE_MS })
      const [late, early] = [await claimOne(), await claimOne()]
      await clock.advance(LEASE_MS - 1)
      assert.deepEqual(await leased({ haveEnded: true }), [])
      await clock.advance(1)
      assert.deepEqual(await leased({ haveEnded: true }), [early])
      await clock.advance(500)
      assert.deepEqual(await leased({ haveEnded: true }), [early, late])
      assert.deepEqual(await leased({ haveEnded: true, token: late.lease.token }), [late])
      assert.deepEqual(await leased({ haveEnded: true, partitions: [(PARTITION + 1) % 256] }), [])
    })

    it('say whether an operator cancelled the task', async () => {
      const { store, add, claimOne, leased } = await sit(open)
      const { taskId } = await add()
      const claimed = await claimOne()
      await store.cancel(taskId)
      assert.deepEqual(await leased(), [{ ...claimed, lease: { ...claimed.lease, cancelRequested: true } }])
    })
  })

  describe('a due instant that the steward did not write itself', () => {
    const where = { partition: PARTITION, lane: LANE }

    it('gives it a hint: a former steward settles, or puts back', async () => {
      const { store, addMany, claimOne, take, clock } = await sit(open)
      await addMany(2)
      const [settled, unsent] = [await claimOne(), await claimOne()]
      await take()
      const hints = hintsOf(store)
      await store.settle([retryAt(settled, clock.now() + 50), putBack(unsent)])
      const wanted = [
        { ...where, queue: RETRIES, dueAt: clock.now() + 50 },
        { ...where, queue: FIRSTS, dueAt: unsent.dueAt },
      ]
      for (const hint of wanted) assert.equal((await hints.until(hint)).queue, hint.queue)
    })

    it('gives it a hint: an operator asks for an attempt now', async () => {
      const { store, add, clock } = await sit(open)
      const { taskId } = await add({ dueAt: clock.now() + 60_000, queue: { ...QUEUE, kind: 'retry' } })
      const hints = hintsOf(store)
      await store.attemptNow(taskId)
      const queue = queueKey({ ...QUEUE, kind: 'retry', rank: 'urgent' })
      const hint = await hints.until({ ...where, queue, dueAt: clock.now() })
      assert.equal(hint.queue, queue)
    })

    it('gives it a hint: dead letters are replayed, with the first turn of several', async () => {
      const { store, ended, clock } = await sit(open)
      const dead = [await ended(giveUp), await ended(giveUp)]
      await clock.advance(1_000)
      const hints = hintsOf(store)
      const dueAt = clock.now() + 700
      await store.replay(dead.map((task, at) => ({ ...replayOf(task, clock.now()), dueAt: dueAt + 100 - 100 * at })))
      const hint = await hints.until({ ...where, queue: REPLAYED, dueAt })
      assert.ok(hint.dueAt <= dueAt)
    })
  })
}
