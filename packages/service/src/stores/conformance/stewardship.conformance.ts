import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey, partitionOf, queueKey } from '../../task/lane.ts'
import type { ClaimedTask } from '../../task/task.ts'
import type { QueueHead } from '../task-store.ts'
import { askOf, everything, hintsOf, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { giveUp, LANE, LEASE_MS, nextGeneration, PARTITION, QUEUE, retryAt, succeed, TENANT } from './tasks.test-kit.ts'

const FIRSTS = queueKey(QUEUE)

export function examineStewardship(open: OpenStore): void {
  describe('listing a partition', () => {
    const headsOf = async ({ store }: Setting): Promise<QueueHead[]> =>
      (await everything(page => store.queues({ ...page, partition: PARTITION }))).toSorted(byQueue)

    it('finds every queue that has a waiting task, with the instant of its first', async () => {
      const setting = await sit(open)
      const { add, clock } = setting
      const now = clock.now()
      await add({ dueAt: now + 500 })
      await add({ dueAt: now + 300 })
      for (const rank of ['urgent', 'low'] as const) await add({ queue: { ...QUEUE, rank }, dueAt: now - 7 })
      const expected = [
        { lane: LANE, queue: FIRSTS, dueAt: now + 300 },
        ...(['urgent', 'low'] as const).map(rank => ({
          lane: LANE,
          queue: queueKey({ ...QUEUE, rank }),
          dueAt: now - 7,
        })),
      ]
      assert.deepEqual(await headsOf(setting), expected.toSorted(byQueue))
    })

    it('finds none of another partition', async () => {
      const setting = await sit(open)
      const { add, store } = setting
      const other = { tenant: TENANT, destination: 'https://other.example' }
      await add(other)
      assert.notEqual(partitionOf(laneKey(other)), PARTITION)
      assert.deepEqual(await headsOf(setting), [])
      const heads = await everything(page => store.queues({ ...page, partition: partitionOf(laneKey(other)) }))
      assert.deepEqual(
        heads.map(({ lane }) => lane),
        [laneKey(other)],
      )
    })

    it('finds a queue no more when its last task was claimed or cancelled', async () => {
      const setting = await sit(open)
      const { add, claim, store } = setting
      await add()
      const { taskId } = await add({ queue: { ...QUEUE, kind: 'retry' } })
      await claim()
      await store.cancel(taskId)
      assert.deepEqual(await headsOf(setting), [])
    })

    it('finds whatever came back: by settle, release, attempt-now, replay', async () => {
      const setting = await sit(open)
      const { addMany, claim, store, clock } = setting
      const now = clock.now()
      await addMany(4)
      const [retried, released, hurried, dead] = (await claim()) as [ClaimedTask, ClaimedTask, ClaimedTask, ClaimedTask]
      await store.settle([retryAt(retried, now + 100), retryAt(hurried, now + 200), giveUp(dead)])
      await store.release([{ taskId: released.taskId, token: released.lease.token }])
      await clock.advance(10)
      await store.attemptNow(hurried.taskId)
      await store.replay({ taskId: dead.taskId, generation: 1, progress: nextGeneration(dead, now) })
      assert.deepEqual(
        await headsOf(setting),
        [
          { lane: LANE, queue: queueKey({ ...QUEUE, kind: 'retry' }), dueAt: now + 100 },
          { lane: LANE, queue: FIRSTS, dueAt: now },
          { lane: LANE, queue: queueKey({ ...QUEUE, kind: 'retry', rank: 'urgent' }), dueAt: now + 10 },
          { lane: LANE, queue: queueKey({ ...QUEUE, rank: 'low' }), dueAt: now + 10 },
        ].toSorted(byQueue),
      )
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
      const leases = await everything(page => store.leases({ ...page, partition: PARTITION }))
      assert.equal(leases.length, 5)
      const head = { lane: LANE, token: 'first call' }
      assert.deepEqual(leases[0], { ...head, taskId: short.taskId, endsAt: clock.now() + 9_000 })
      assert.deepEqual(leases[4], { ...head, taskId: long.taskId, endsAt: clock.now() + 89_000 })
      assert.deepEqual(await everything(page => store.leases({ ...page, partition: (PARTITION + 1) % 256 })), [])
    })

    it('are found by the call that made them and by no other', async () => {
      const { store, addMany, claim, settle } = await sit(open)
      const tasks = await addMany(5)
      const [settled] = await claim({ count: 3 }, 'unanswered')
      await claim({ count: 2 }, 'another')
      await settle(succeed(settled!))
      const { taskIds } = await store.leasesOf({ partition: PARTITION, token: 'unanswered' })
      assert.deepEqual([...taskIds].toSorted(), [tasks[1]!.taskId, tasks[2]!.taskId])
      assert.deepEqual((await store.leasesOf({ partition: PARTITION, token: 'never made' })).taskIds, [])
    })

    it('of a claim without an answer are released once the partition’s token has changed, and no newer ones', async () => {
      const { store, addMany, claim, take, get } = await sit(open)
      const [doubtful, other] = await addMany(2)
      const former = await take()
      await claim({ count: 1 }, 'unanswered')
      await take()
      const late = { partition: PARTITION, steward: former, token: 'unanswered', asks: [askOf()] }
      assert.equal((await store.claim(late)).kind, 'refused')
      const newer = await claim({}, 'newer')
      const { taskIds } = await store.leasesOf({ partition: PARTITION, token: 'unanswered' })
      assert.deepEqual(taskIds, [doubtful!.taskId])
      await store.release([doubtful!, other!].map(({ taskId }) => ({ taskId, token: 'unanswered' })))
      assert.deepEqual((await get(doubtful!)).progress, doubtful!.progress)
      assert.equal((await get(doubtful!)).state.status, 'PENDING')
      assert.deepEqual((await get(other!)).state, { status: 'IN_FLIGHT', lease: newer[0]!.lease })
    })

    it('have ended when their instant has come, the earliest first, as they were claimed', async () => {
      const { store, add, claim, clock } = await sit(open)
      await add({ leaseMs: LEASE_MS + 500 })
      await add({ leaseMs: LEASE_MS })
      const [late, early] = await claim()
      const ended = async (limit = 10) => (await store.endedLeases({ partition: PARTITION, limit })).tasks
      await clock.advance(LEASE_MS - 1)
      assert.deepEqual(await ended(), [])
      await clock.advance(1)
      assert.deepEqual(await ended(), [early])
      await clock.advance(500)
      assert.deepEqual(await ended(), [early, late])
      assert.deepEqual(await ended(1), [early])
      assert.deepEqual((await store.endedLeases({ partition: (PARTITION + 1) % 256, limit: 10 })).tasks, [])
    })

    it('that have ended say whether a cancel was asked for', async () => {
      const { store, add, claim, clock } = await sit(open)
      const { taskId } = await add()
      await claim()
      await store.cancel(taskId)
      await clock.advance(LEASE_MS)
      const { tasks } = await store.endedLeases({ partition: PARTITION, limit: 10 })
      assert.equal(tasks[0]?.lease.cancelRequested, true)
    })
  })

  describe('expiring a queue', () => {
    it('ends what is past its deadline, and only that', async () => {
      const { store, add, take, get, clock } = await sit(open)
      const now = clock.now()
      const past = await add({ progress: { expiresAt: now + 1_000, attemptNumber: 4 } })
      const future = await add({ progress: { expiresAt: now + 1_001 } })
      const elsewhere = await add({ queue: { ...QUEUE, rank: 'low' }, progress: { expiresAt: now } })
      const ask = { partition: PARTITION, steward: await take(), lane: LANE, queue: FIRSTS, limit: 100 }
      await clock.advance(1_000)
      assert.deepEqual(await store.expire(ask), { now: clock.now(), expired: [past.taskId] })
      const { state, version, progress } = await get(past)
      assert.deepEqual(state, { status: 'EXHAUSTED', endedAt: clock.now(), reason: 'deadline' })
      assert.deepEqual([version, progress.attemptNumber], [2, 4])
      for (const task of [future, elsewhere]) assert.equal((await get(task)).state.status, 'PENDING')
    })

    it('says of what was due which gate held it when its deadline came, and since when; nothing of what was due no earlier than it opened', async () => {
      const { store, add, take, get, clock } = await sit(open)
      const now = clock.now()
      const [due, lately, later] = [now, now + 400, now + 5_000]
      const tasks = []
      for (const dueAt of [due, lately, later]) tasks.push(await add({ dueAt, progress: { expiresAt: now + 1_000 } }))
      const ask = { partition: PARTITION, steward: await take(), lane: LANE, queue: FIRSTS, limit: 100 }
      await clock.advance(1_000)
      await store.expire({ ...ask, shut: [{ by: 'breaker-open', since: now - 1, until: lately }] })
      const ended = { status: 'EXHAUSTED', endedAt: clock.now(), reason: 'deadline' }
      const states = await Promise.all(tasks.map(async task => (await get(task)).state))
      assert.deepEqual(states, [{ ...ended, held: { by: 'breaker-open', since: due } }, ended, ended])
    })

    it('looks at no more than it is told, and goes on behind the last one', async () => {
      const { store, build, take, clock } = await sit(open)
      const tasks = Array.from({ length: 7 }, (_, n) =>
        build({ progress: { expiresAt: clock.now() + (n % 2 === 0 ? 0 : 60_000) } }),
      )
      await store.enqueue(tasks, { perLane: 100, total: 100 })
      const ask = { partition: PARTITION, steward: await take(), lane: LANE, queue: FIRSTS, limit: 3 }
      const expired: string[][] = []
      let cursor: string | undefined
      do {
        const answer = await store.expire({ ...ask, ...(cursor !== undefined && { cursor }) })
        expired.push([...answer.expired])
        cursor = answer.nextCursor
      } while (cursor !== undefined && expired.length < 10)
      assert.deepEqual(
        expired.filter(page => page.length > 0),
        [[tasks[0]!.taskId, tasks[2]!.taskId], [tasks[4]!.taskId], [tasks[6]!.taskId]],
      )
    })

    it('is refused by whoever is not the steward, or no longer', async () => {
      const { store, add, take, get, clock } = await sit(open)
      const task = await add({ progress: { expiresAt: clock.now() } })
      const former = await take()
      await take()
      const ask = { partition: PARTITION, steward: former, lane: LANE, queue: FIRSTS, limit: 100 }
      assert.deepEqual(await store.expire(ask), { now: clock.now(), expired: [] })
      assert.equal((await get(task)).state.status, 'PENDING')
    })

    it('leaves a task under way to its attempt', async () => {
      const { store, add, take, claim, get, clock } = await sit(open)
      const task = await add({ progress: { expiresAt: clock.now() } })
      const steward = await take()
      await claim()
      await store.expire({ partition: PARTITION, steward, lane: LANE, queue: FIRSTS, limit: 100 })
      assert.equal((await get(task)).state.status, 'IN_FLIGHT')
    })

    it('finds nothing in a queue that nobody knows', async () => {
      const { store, take } = await sit(open)
      const ask = { partition: PARTITION, steward: await take(), lane: LANE, queue: 'none', limit: 100 }
      assert.deepEqual((await store.expire(ask)).expired, [])
    })
  })

  describe('a due instant that was not written by the steward', () => {
    it('is told to it: when a former steward settles or releases', async context => {
      const { store, addMany, claim, take, clock, isShared } = await sit(open)
      context.skip(!isShared, 'it has one instance only, which knows of its own writes')
      await addMany(2)
      const [settled, released] = (await claim()) as [ClaimedTask, ClaimedTask]
      await take()
      const hints = hintsOf(store)
      await store.settle([retryAt(settled, clock.now() + 50)])
      await store.release([{ taskId: released.taskId, token: released.lease.token }])
      await hints.until(heard => heard.length >= 2)
      const where = { partition: PARTITION, lane: LANE }
      assert.deepEqual(hints.heard, [
        { ...where, queue: queueKey({ ...QUEUE, kind: 'retry' }), dueAt: clock.now() + 50 },
        { ...where, queue: FIRSTS, dueAt: released.dueAt },
      ])
    })
  })
}

function byQueue(one: QueueHead, other: QueueHead): number {
  return one.queue < other.queue ? -1 : 1
}
