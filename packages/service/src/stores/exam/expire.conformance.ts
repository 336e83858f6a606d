import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { Expire, Store } from '../store.ts'
import { everything, idsOf, sit, type OpenStore } from './exam.test-kit.ts'
import { FIRSTS, LANE, PARTITION, QUEUE, underWay } from './tasks.test-kit.ts'

const ASK = { partition: PARTITION, lane: LANE, queue: FIRSTS, limit: 100 }

export function examineExpiring(open: OpenStore): void {
  describe('expiring a queue', () => {
    it('ends tasks that are past their deadline, and only those', async () => {
      const { store, add, take, get, clock } = await sit(open)
      const now = clock.now()
      const past = await add({ progress: { expiresAt: now + 1_000, attemptNumber: 4 } })
      const future = await add({ progress: { expiresAt: now + 1_001 } })
      const elsewhere = await add({ queue: { ...QUEUE, rank: 'low' }, progress: { expiresAt: now } })
      const steward = await take()
      await clock.advance(1_000)
      const { expired, ...answer } = await store.expire({ ...ASK, steward })
      assert.deepEqual([expired, answer.now], [[past.taskId], clock.now()])
      const { state, version, progress } = await get(past)
      assert.deepEqual(state, { status: 'EXHAUSTED', endedAt: clock.now(), reason: 'deadline' })
      assert.deepEqual([version, progress.attemptNumber], [2, 4])
      for (const task of [future, elsewhere]) assert.equal((await get(task)).state.status, 'PENDING')
    })

    it('ends tasks that are not due before their deadline', async () => {
      const { store, add, take, get, clock } = await sit(open)
      const task = await add({ dueAt: clock.now() + 60_000, progress: { expiresAt: clock.now() } })
      await store.expire({ ...ASK, steward: await take(), shut: [{ by: 'paused', since: 0, until: Infinity }] })
      assert.deepEqual((await get(task)).state, { status: 'EXHAUSTED', endedAt: clock.now(), reason: 'deadline' })
    })

    it('keeps with each task which gate held it when its deadline came, and since when', async () => {
      const { store, add, take, get, clock } = await sit(open)
      const now = clock.now()
      const [due, lately, later] = [now, now + 400, now + 5_000]
      const tasks = []
      for (const dueAt of [due, lately, later]) tasks.push(await add({ dueAt, progress: { expiresAt: now + 1_000 } }))
      const steward = await take()
      await clock.advance(1_000)
      const shut = [{ by: 'credit', since: now - 1, until: lately }] as const
      await expireAll(store, { ...ASK, steward, shut })
      const ended = { status: 'EXHAUSTED', endedAt: clock.now(), reason: 'deadline' }
      const states = await Promise.all(tasks.map(async task => (await get(task)).state))
      assert.deepEqual(states, [{ ...ended, held: { by: 'credit', since: due } }, ended, ended])
    })

    it('looks at no more than its limit, and goes on behind the last one', async () => {
      const { store, build, take, clock } = await sit(open)
      const [past, future] = [clock.now(), clock.now() + 60_000]
      const tasks = Array.from({ length: 7 }, (_, n) => build({ progress: { expiresAt: n % 2 === 0 ? past : future } }))
      await store.enqueue(tasks)
      const steward = await take()
      const { expired: first } = await store.expire({ ...ASK, steward, limit: 3 })
      assert.ok(first.length <= 2, 'of three tasks two are past their deadline')
      const others = await expireAll(store, { ...ASK, steward, limit: 3 })
      assert.deepEqual([...first, ...others], idsOf(tasks.filter((_, n) => n % 2 === 0)))
    })

    it('is refused to an instance that is not the steward, or no longer', async () => {
      const { store, add, take, get, clock } = await sit(open)
      const task = await add({ progress: { expiresAt: clock.now() } })
      const former = await take()
      await take()
      for (const steward of [former, 'made up'])
        assert.deepEqual(await store.expire({ ...ASK, steward }), { now: clock.now(), expired: [] })
      assert.equal((await get(task)).state.status, 'PENDING')
    })

    it('ends nothing in a lane of another partition', async () => {
      const { store, add, take, get, clock } = await sit(open)
      const task = await add({ progress: { expiresAt: clock.now() } })
      const partition = (PARTITION + 1) % 256
      const { expired } = await store.expire({ ...ASK, partition, steward: await take(partition) })
      assert.deepEqual([expired, (await get(task)).state.status], [[], 'PENDING'])
    })

    it('leaves a task under way to its attempt', async () => {
      const { store, add, take, claimOne, get, clock } = await sit(open)
      const task = await add({ progress: { expiresAt: clock.now() } })
      const steward = await take()
      const claimed = await claimOne()
      await store.expire({ ...ASK, steward })
      assert.deepEqual((await get(task)).state, underWay(claimed))
    })

    it('finds nothing in an unknown queue', async () => {
      const { store, take } = await sit(open)
      assert.deepEqual((await store.expire({ ...ASK, steward: await take(), queue: 'none' })).expired, [])
    })
  })
}

function expireAll(store: Store, ask: Expire): Promise<string[]> {
  return everything(async page => {
    const { expired: items, nextCursor } = await store.expire({ ...ask, ...page })
    return { items, ...(nextCursor !== undefined && { nextCursor }) }
  }, ask.limit)
}
