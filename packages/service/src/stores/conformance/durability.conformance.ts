import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'vitest'
import { DEFAULT_POLICY } from '@secondwind/resilience'
import { virtualClock } from '@secondwind/resilience/testing'
import { NO_LIMITS, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { expireHeld, giveUp, LANE, PARTITION, retryAt, succeed, TENANT } from './tasks.test-kit.ts'

export function examineDurability(open: OpenStore): void {
  const sitDurably = async (context: TestContext): Promise<Setting> => {
    const setting = await sit(open)
    context.skip(!setting.isDurable, 'nothing outlives its process')
    return setting
  }

  describe('a store that was opened anew', () => {
    it('has everything that was acknowledged', async context => {
      const setting = await sitDurably(context)
      const { store, add, ended, clock, listed } = setting
      const request = { ...REQUEST, body: Uint8Array.of(1, 0, 255) }
      await add({ idempotencyKey: 'a', request, metadata: { a: 'b' }, dueAt: clock.now() + 1 })
      for (const settlement of [succeed, giveUp]) await ended(settlement, { destination: 'https://other.example' })
      await ended(task => expireHeld(task, { by: 'credit', since: task.dueAt }))
      const retried = await ended(task => retryAt(task, clock.now() + 60_000))
      await store.putPolicy({ tenant: TENANT, policyId: 'payments', document: DEFAULT_POLICY })
      const before = await everythingIn(setting, await listed())
      const again = await setting.reopen()
      assert.deepEqual(await everythingIn(again, await again.listed()), before)
      assert.equal((await again.store.attempts({ taskId: retried.taskId, limit: 9 })).items.length, 1)
    })

    it('still knows every key', async context => {
      const setting = await sitDurably(context)
      const task = await setting.add({ idempotencyKey: 'a' })
      const { store, get } = await setting.reopen()
      const { results } = await store.enqueue([task, { ...task, requestHash: 'another' }], NO_LIMITS)
      assert.deepEqual(results, [
        { kind: 'existing', task: await get(task) },
        { kind: 'conflict', taskId: task.taskId },
      ])
    })

    it('still knows how much of the backlog is whose', async context => {
      const setting = await sitDurably(context)
      await setting.addMany(9)
      await setting.addMany(9, { destination: 'https://other.example' })
      const { store, build } = await setting.reopen()
      const tasks = [build(), build({ tenant: 'other' })]
      const { results } = await store.enqueue(tasks, { perLane: 100, total: 20 })
      assert.deepEqual(results, [{ kind: 'full', scope: 'share' }, { kind: 'created' }])
    })

    it('still knows how many lanes are open, takes no more than may be, and goes on with all that it has', async context => {
      const setting = await sitDurably(context)
      for (const n of [1, 2, 3]) await setting.add({ destination: `https://${n}.example` })
      await setting.add()
      const { taskId } = await setting.claimOne()
      const { store, build, claim, settle } = await setting.reopen()
      const limits = { ...NO_LIMITS, lanes: 2 }
      const tasks = [build({ destination: 'https://4.example' }), build({ destination: 'https://1.example' })]
      const { results } = await store.enqueue(tasks, limits)
      assert.deepEqual(results, [{ kind: 'full', scope: 'lanes' }, { kind: 'created' }])
      const { tasks: left } = await store.endedLeases({ partition: PARTITION, limit: 10 })
      await settle(succeed(left.find(task => task.taskId === taskId)!))
      for (const n of [1, 2, 3])
        for (const task of await claim({ lane: `${TENANT} https://${n}.example` })) await settle(succeed(task))
      assert.deepEqual((await store.enqueue(tasks.slice(0, 1), limits)).results, [{ kind: 'created' }])
    })

    it('counts every lease of before as ended, at once, whatever is left of it', async context => {
      const setting = await sitDurably(context)
      await setting.addMany(3)
      const claimed = await setting.claim({ count: 2 }, 'before')
      const { store, settle, claim, get } = await setting.reopen()
      const { tasks, now } = await store.endedLeases({ partition: PARTITION, limit: 10 })
      assert.deepEqual(
        tasks.map(({ taskId, lease, progress }) => [taskId, lease.token, progress]),
        claimed.map(({ taskId, lease, progress }) => [taskId, lease.token, progress]),
      )
      for (const { lease } of tasks) assert.ok(lease.endsAt <= now)
      assert.equal((await claim({ limit: 2 })).length, 0)
      for (const task of tasks) assert.equal((await settle(retryAt(task, now))).kind, 'settled')
      assert.equal((await get(claimed[0]!)).progress.attemptNumber, 1)
      assert.equal((await claim({ limit: 2 })).length, 1)
    })

    it('knows of each lease of before when it began, and that it ended no later than now', async context => {
      const setting = await sitDurably(context)
      await setting.addMany(2)
      const claimedAt = setting.clock.now()
      await setting.claim({ count: 1 })
      await setting.clock.advance(300)
      await setting.claim({ count: 1 })
      await setting.clock.advance(700)
      const leasesIn = async ({ store }: Setting): Promise<unknown> => {
        const { tasks } = await store.endedLeases({ partition: PARTITION, limit: 10 })
        const leases = tasks.map(task => [task.claimedAt - claimedAt, task.lease.endsAt - claimedAt] as const)
        return leases.toSorted(([one], [other]) => one - other)
      }
      const again = await setting.reopen()
      const ended = [
        [0, 1_000],
        [300, 1_000],
      ]
      assert.deepEqual(await leasesIn(again), ended)
      await again.clock.advance(60_000)
      assert.deepEqual(await leasesIn(await again.reopen()), ended)
    })

    it('keeps the order of its queues, those of before first', async context => {
      const setting = await sitDurably(context)
      const dueAt = setting.clock.now()
      const before = await setting.addMany(3, { dueAt })
      const { addMany, claim } = await setting.reopen()
      const after = await addMany(2, { dueAt })
      assert.deepEqual(
        (await claim()).map(({ taskId }) => taskId),
        [...before, ...after].map(({ taskId }) => taskId),
      )
    })

    it('answers a settle of before as before, and refuses the stale', async context => {
      const setting = await sitDurably(context)
      await setting.addMany(2)
      const [one, other] = await setting.claim()
      const settlement = retryAt(one!, setting.clock.now() + 1_000)
      const answer = await setting.settle(settlement)
      const { settle } = await setting.reopen()
      assert.deepEqual(await settle(settlement), answer)
      assert.deepEqual(await settle({ ...succeed(other!), token: 'stale' }), { kind: 'lost' })
    })

    it('remembers a cancel that was asked for', async context => {
      const setting = await sitDurably(context)
      const { taskId } = await setting.add()
      const claimed = await setting.claimOne()
      await setting.store.cancel(taskId)
      const { settle } = await setting.reopen()
      assert.deepEqual(await settle(giveUp(claimed)), { kind: 'settled', status: 'CANCELLED' })
    })

    it('remembers what its lanes remember', async context => {
      const setting = await sitDurably(context)
      const steward = await setting.take()
      const memory = { phase: 'open', until: 5 }
      await setting.store.remember({ partition: PARTITION, steward, lane: LANE, memory })
      const { store } = await setting.reopen()
      assert.deepEqual((await store.memories({ partition: PARTITION, limit: 9 })).items, [{ lane: LANE, memory }])
    })

    it('does not go back behind what it wrote, however far the wall clock was set back', async context => {
      const setting = await sitDurably(context)
      await setting.clock.advance(60_000)
      await setting.add()
      const writtenAt = setting.clock.now()
      const { store, add, get } = await setting.reopen(virtualClock({ now: writtenAt - 86_400_000 }))
      const { now, clockSkewMs } = await store.health()
      assert.ok(now >= writtenAt)
      assert.equal(clockSkewMs, writtenAt - 86_400_000 - now)
      assert.equal((await get(await add())).version, 1)
    })

    it('goes on sweeping where it was', async context => {
      const setting = await sitDurably(context)
      const task = await setting.ended(succeed)
      const again = await setting.reopen()
      await again.clock.advance(10)
      const before = again.clock.now()
      const sweep = { finishedBefore: before, deadBefore: before, keysBefore: before, limit: 10 }
      for (let calls = 0; calls < 3; calls++) await again.store.sweep(sweep)
      assert.equal(await again.store.get(task.taskId), undefined)
    })
  })
}

const REQUEST = { targetUrl: 'https://api.example/charge', method: 'POST', headers: { a: 'b' } }

async function everythingIn({ store, all, get }: Setting, taskIds: readonly string[]): Promise<unknown> {
  return {
    tasks: await Promise.all(taskIds.map(taskId => get({ taskId }))),
    counters: await store.counters(),
    lanes: await all(page => store.laneCounters(page)),
    causes: await all(page => store.causes({ ...page, tenant: TENANT })),
    policies: await all(page => store.policies({ tenant: TENANT, ...page })),
    queues: await all(page => store.queues({ ...page, partition: PARTITION })),
  }
}
