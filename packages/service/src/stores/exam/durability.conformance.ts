import assert from 'node:assert/strict'
import { describe, it, type TestContext } from 'vitest'
import { virtualClock } from '@secondwind/resilience/testing'
import { laneKey } from '../../task/lane.ts'
import { LARGE_FROM, only, everything, idsOf, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import {
  expireHeld,
  giveUp,
  LANE,
  PARTITION,
  putBack,
  REQUEST,
  replayOf,
  RETRIES,
  retryAt,
  succeed,
  TENANT,
} from './tasks.test-kit.ts'

const LINE = { tenant: TENANT, actor: 'local', action: 'control.create', subject: 'c1' }
const RECORD = { kind: 'control', id: 'c1', tenant: TENANT, document: { level: 'off' } } as const
const callbackUrl = 'https://told.example/ends'

export function examineDurability(open: OpenStore): void {
  const sitDurably = async (context: TestContext): Promise<Setting> => {
    const setting = await sit(open)
    context.skip(!setting.isDurable, 'nothing outlives its process')
    return setting
  }

  describe('a store that was opened anew', () => {
    it('has everything that was acknowledged', async context => {
      const setting = await sitDurably(context)
      const { store, add, ended, replay, clock, listed } = setting
      const request = { ...REQUEST, headers: { a: 'b' }, body: Uint8Array.of(1, 0, 255) }
      await add({ idempotencyKey: 'a', request, metadata: { a: 'b' }, dueAt: clock.now() + 1 })
      for (const end of [succeed, giveUp]) await ended(end, { destination: 'https://other.example', callbackUrl })
      await ended(task => expireHeld(task, { by: 'credit', since: task.dueAt }))
      await ended(task => retryAt(task, clock.now() + 60_000))
      const dead = replayOf(await ended(giveUp), clock.now())
      await replay({ ...dead, progress: { ...dead.progress, replayId: 'r1' } })
      await store.write([RECORD, { ...RECORD, kind: 'name' }], LINE)
      const body = { tenant: TENANT, bodyRef: 'sha256-a', sizeBytes: 9, contentType: 'a/b', location: 'first' }
      await store.putBody({ ...body, neededUntil: 5, mostBytes: 10 })
      const recalled = await add({ dueAt: clock.now() + 90_000 })
      const tasks = [{ taskId: recalled.taskId, dueAt: clock.now() + 10 }]
      await store.recall({ partition: PARTITION, steward: await setting.take(), tasks })
      const before = await everythingIn(setting, await listed())
      const again = await setting.reopen()
      assert.deepEqual(await everythingIn(again, await again.listed()), before)
    })

    it('still knows every key', async context => {
      const setting = await sitDurably(context)
      const task = await setting.add({ idempotencyKey: 'a' })
      const { store, get } = await setting.reopen()
      const { results } = await store.enqueue([task, { ...task, requestHash: 'another' }])
      assert.deepEqual(results, [
        { kind: 'existing', task: await get(task) },
        { kind: 'conflict', taskId: task.taskId },
      ])
    })

    it('still knows how much waits, and whose it is', async context => {
      const setting = await sitDurably(context)
      for (const n of [1, 2, 3]) await setting.add({ destination: `https://${n}.example` })
      await setting.addMany(2)
      await setting.claimOne()
      const largeFrom = { tasks: 1, lanes: 1 }
      const before = await setting.waiting(largeFrom)
      assert.equal(before.openLanes, 4)
      const again = await setting.reopen()
      const { lanes, ...rest } = await again.waiting(largeFrom)
      const byLane = (one: { readonly lane: string }, other: { readonly lane: string }) =>
        one.lane < other.lane ? -1 : 1
      assert.deepEqual({ ...rest, lanes: lanes.toSorted(byLane) }, { ...before, lanes: before.lanes.toSorted(byLane) })
      const lane = laneKey({ tenant: TENANT, destination: 'https://1.example' })
      await again.settle(succeed(await again.claimOne({ lane })))
      assert.equal((await again.waiting()).openLanes, 3)
    })

    it('has no stewards yet', async context => {
      const setting = await sitDurably(context)
      await setting.take()
      const { store } = await setting.reopen()
      const { beats, stewards } = await store.beat({ instance: 'two', largeFrom: LARGE_FROM })
      assert.deepEqual([beats, stewards], [[{ instance: 'two', count: 1 }], []])
    })

    it('counts every lease of its former process as ended, at once, whatever is left of it', async context => {
      const setting = await sitDurably(context)
      await setting.addMany(3)
      const claimed = await setting.claim({ count: 2 }, 'before')
      const { store, settle, claim, get, leased } = await setting.reopen()
      const tasks = await leased({ haveEnded: true })
      assert.deepEqual(
        tasks.map(({ taskId, lease, progress }) => [taskId, lease.token, progress]),
        claimed.map(({ taskId, lease, progress }) => [taskId, lease.token, progress]),
      )
      const { now } = await store.health()
      for (const { lease } of tasks) assert.ok(lease.endsAt <= now)
      assert.equal((await claim({ limit: 2 })).length, 0)
      for (const task of tasks) assert.equal((await settle(retryAt(task, now))).kind, 'settled')
      for (const task of tasks) assert.equal((await get(task)).progress.attemptNumber, 1)
      assert.equal((await claim({ limit: 2 })).length, 1)
    })

    it('knows of each such lease when it began, and that it ended no later than now', async context => {
      const setting = await sitDurably(context)
      await setting.addMany(2)
      const claimedAt = setting.clock.now()
      await setting.claim({ count: 1 })
      await setting.clock.advance(300)
      await setting.claim({ count: 1 })
      await setting.clock.advance(700)
      const leasesIn = async ({ leased }: Setting): Promise<unknown> => {
        const leases = (await leased({ haveEnded: true })).map(task => [
          task.claimedAt - claimedAt,
          task.lease.endsAt <= claimedAt + 1_000,
        ])
        return leases.toSorted(([one], [other]) => Number(one) - Number(other))
      }
      const again = await setting.reopen()
      const ended = [
        [0, true],
        [300, true],
      ]
      assert.deepEqual(await leasesIn(again), ended)
      await again.clock.advance(60_000)
      assert.deepEqual(await leasesIn(await again.reopen()), ended)
    })

    it('can put such a lease back where the task was', async context => {
      const setting = await sitDurably(context)
      const { taskId, dueAt, queue } = await setting.add()
      await setting.claimOne()
      const { settle, leased, get } = await setting.reopen()
      await settle(putBack(only(await leased())))
      assert.deepEqual((await get({ taskId })).state, { status: 'PENDING', nextAttemptAt: dueAt, queue })
    })

    it('keeps the order of its queues, the tasks of its former process first', async context => {
      const setting = await sitDurably(context)
      const dueAt = setting.clock.now()
      const before = await setting.addMany(3, { dueAt })
      const { addMany, claim } = await setting.reopen()
      const after = await addMany(2, { dueAt })
      assert.deepEqual(idsOf(await claim()), idsOf([...before, ...after]))
    })

    it('answers a settle of its former process as before, and refuses the stale', async context => {
      const setting = await sitDurably(context)
      await setting.addMany(2)
      const [one, other] = [await setting.claimOne(), await setting.claimOne()]
      const settlement = retryAt(one, setting.clock.now() + 1_000)
      const answer = await setting.settle(settlement)
      const { settle } = await setting.reopen()
      assert.deepEqual(await settle(settlement), answer)
      assert.deepEqual(await settle({ ...succeed(other), token: 'stale' }), { kind: 'lost' })
    })

    it('remembers that a task under way was cancelled', async context => {
      const setting = await sitDurably(context)
      const { taskId } = await setting.add()
      const claimed = await setting.claimOne()
      await setting.store.cancel(taskId)
      const { settle } = await setting.reopen()
      assert.deepEqual(await settle(giveUp(claimed)), { kind: 'settled', status: 'CANCELLED' })
    })

    it('remembers the memories of its lanes', async context => {
      const setting = await sitDurably(context)
      const steward = await setting.take()
      const lanes = [{ lane: LANE, memory: { phase: 'open', until: 5 } }]
      await setting.store.remember({ partition: PARTITION, steward, lanes })
      const { store } = await setting.reopen()
      assert.deepEqual(await everything(page => store.memories({ ...page, partitions: [PARTITION] })), lanes)
    })

    it('claims and recalls as before', async context => {
      const setting = await sitDurably(context)
      const tried = await setting.ended(task => retryAt(task, setting.clock.now() + 60_000))
      const fresh = await setting.add({ dueAt: setting.clock.now() + 60_000 })
      const { store, take, claimOne, clock } = await setting.reopen()
      const tasks = idsOf([tried, fresh]).map(taskId => ({ taskId, dueAt: clock.now() }))
      await store.recall({ partition: PARTITION, steward: await take(), tasks })
      assert.equal((await claimOne({ queue: RETRIES })).taskId, tried.taskId)
      assert.equal((await claimOne()).taskId, fresh.taskId)
    })

    it('does not go back behind its last write, however far the wall clock was set back', async context => {
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
      const { taskId } = await setting.ended(succeed)
      const { sweep, find, clock } = await setting.reopen()
      await clock.advance(10)
      await sweep({ finishedBefore: clock.now() })
      assert.equal(await find(taskId), undefined)
    })

    it('writes lines of the audit behind those that it has', async context => {
      const setting = await sitDurably(context)
      const { store, all } = setting
      await store.write([RECORD], LINE)
      const first = only(await all(page => store.audit(page)))
      const again = await setting.reopen()
      await again.store.write([RECORD], { ...LINE, subject: 'c2' })
      const ids = (await again.all(page => again.store.audit(page))).map(({ auditId }) => auditId)
      assert.deepEqual([ids.at(-1), ids], [first.auditId, ids.toSorted().toReversed()])
    })
  })
}

async function everythingIn(
  { store, all, get, heads, waiting }: Setting,
  taskIds: readonly string[],
): Promise<unknown> {
  return {
    tasks: await Promise.all(taskIds.map(taskId => get({ taskId }))),
    attempts: await Promise.all(taskIds.map(taskId => all(page => store.attempts({ ...page, taskId })))),
    waiting: await waiting(),
    lanes: await all(page => store.lanes(page)),
    causes: await all(page => store.causes({ ...page, tenant: TENANT })),
    heads: await heads(),
    ends: (await store.endsToTell({ partitions: [PARTITION], perLane: 9, limit: 9 })).items,
    replays: await store.replayCounts(['r1']),
    records: await all(page => store.records({ ...page, kind: 'control' })),
    names: await all(page => store.records({ ...page, kind: 'name' })),
    audit: await all(page => store.audit(page)),
    bodies: await store.bodies([{ tenant: TENANT, bodyRef: 'sha256-a' }]),
  }
}
