import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey, partitionOf } from '../../task/lane.ts'
import type { Task } from '../../task/task.ts'
import { everything, idsOf, only, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { giveUp, LANE, PARTITION, REPLAYED, replayOf, retryAt, succeed, TENANT } from './tasks.test-kit.ts'

const DAY_MS = 86_400_000

export function examineSweeps(open: OpenStore): void {
  describe('a sweep', () => {
    it('forgets tasks that ended before its instants, and no others', async () => {
      const setting = await sit(open)
      const { ended, add, sweep, clock } = setting
      const waiting = await add({ dueAt: clock.now() + 99 * DAY_MS })
      const old = [await ended(succeed), await ended(giveUp), await cancelledTask(setting)]
      await clock.advance(1)
      const fresh = [await ended(succeed), await ended(giveUp), await cancelledTask(setting)]
      assert.equal(await sweep({ finishedBefore: clock.now(), deadBefore: clock.now() - 1 }), 2)
      assert.deepEqual(await known(setting, old), [false, true, false])
      assert.equal(await sweep({ finishedBefore: clock.now(), deadBefore: clock.now() }), 1)
      assert.deepEqual(await known(setting, old), [false, false, false])
      assert.deepEqual(await known(setting, [...fresh, waiting]), [true, true, true, true])
    })

    it('forgets a key with its task, and not before', async () => {
      const setting = await sit(open)
      const { store, ended, add, build, sweep, clock } = setting
      await add({ dueAt: clock.now() + 99 * DAY_MS })
      const tasks = [await ended(succeed, { idempotencyKey: 'a' }), await ended(giveUp, { idempotencyKey: 'b' })]
      const again = () => tasks.map(({ idempotencyKey }) => build({ idempotencyKey }))
      const instant = clock.now()
      await clock.advance(DAY_MS)
      assert.equal(await sweep({ finishedBefore: instant, deadBefore: instant }), 0)
      const existing = tasks.map(task => ({ kind: 'existing', task }))
      assert.deepEqual((await store.enqueue(again())).results, existing)
      assert.equal(await sweep({ finishedBefore: instant + 1, deadBefore: instant + 1 }), 2)
      assert.deepEqual((await store.enqueue(again())).results, [{ kind: 'created' }, { kind: 'created' }])
    })

    it('takes no more at a time than its limit, and comes to an end', async () => {
      const { store, add, addMany, claim, sweep, waiting, clock } = await sit(open)
      await add({ dueAt: clock.now() + DAY_MS })
      await addMany(7)
      await store.settle((await claim()).map((task, index) => (index % 2 === 0 ? succeed(task) : giveUp(task))))
      await clock.advance(10)
      const { swept } = await store.sweep({ ...before(clock.now()), auditBefore: 0, limit: 3 })
      assert.ok(swept <= 3)
      assert.equal(swept + (await sweep({ ...before(clock.now()), limit: 3 })), 7)
      const { SUCCEEDED, EXHAUSTED, PENDING } = (await waiting()).tasks
      assert.deepEqual([SUCCEEDED, EXHAUSTED, PENDING], [0, 0, 1])
    })

    it('leaves no trace of a task: not for a settle, a list, a count or a cause', async () => {
      const { store, add, claimOne, settle, sweep, all, find, listed, waiting, clock } = await sit(open)
      const kept = await add({ dueAt: clock.now() + DAY_MS })
      const { taskId } = await add({ idempotencyKey: 'a' })
      const claimed = await claimOne()
      await settle(giveUp(claimed))
      await clock.advance(10)
      assert.equal(await sweep(before(clock.now())), 1)
      assert.equal(await find(taskId), undefined)
      assert.deepEqual(await all(page => store.attempts({ ...page, taskId })), [])
      assert.deepEqual(await settle(giveUp(claimed)), { kind: 'lost' })
      assert.equal((await store.cancel(taskId)).kind, 'unknown')
      assert.deepEqual(await listed(), [kept.taskId])
      assert.deepEqual(await listed({ idempotencyKey: 'a' }), [])
      assert.deepEqual(await all(page => store.causes({ ...page, tenant: TENANT })), [])
      assert.equal((await waiting()).tasks.EXHAUSTED, 0)
      const lane = only(await all(page => store.lanes(page)))
      assert.deepEqual([lane.exhausted, lane.attempts], [0, 1])
    })

    it('spares a task that was replayed, and counts from its new end', async () => {
      const { ended, claimOne, settle, replay, sweep, find, clock } = await sit(open)
      const dead = await ended(giveUp)
      await clock.advance(DAY_MS)
      await replay(replayOf(dead, clock.now()))
      assert.equal(await sweep(before(clock.now())), 0)
      await settle(giveUp(await claimOne({ queue: REPLAYED })))
      assert.equal(await sweep(before(clock.now())), 0)
      await clock.advance(1)
      await sweep(before(clock.now()))
      assert.equal(await find(dead.taskId), undefined)
    })

    it('spares a task that waits or is under way, however old it is', async () => {
      const { ended, add, claim, get, sweep, clock } = await sit(open)
      const waits = await ended(claimed => retryAt(claimed, clock.now() + 9 * DAY_MS))
      const flies = await add()
      await claim()
      await clock.advance(5 * DAY_MS)
      assert.equal(await sweep(before(clock.now())), 0)
      assert.equal((await get(waits)).state.status, 'PENDING')
      assert.equal((await get(flies)).state.status, 'IN_FLIGHT')
    })

    it('counts tasks, lines of the audit and lanes together', async () => {
      const { store, add, sweep, all, clock } = await sit(open)
      const { taskId } = await add()
      await store.cancel(taskId, { audit: { tenant: TENANT, actor: 'local', action: 'task.cancel', subject: taskId } })
      await clock.advance(1)
      const ask = { ...before(clock.now()), auditBefore: clock.now() }
      assert.equal(await sweep({ ...ask, limit: 1 }), 3)
      assert.deepEqual(await all(page => store.lanes(page)), [])
      assert.deepEqual(await all(page => store.audit(page)), [])
    })
  })

  describe('a sweep of lanes', () => {
    it('forgets one without a task, with its counters and its memory: it comes back as a new one', async () => {
      const setting = await sit(open)
      const { store, add, claimOne, settle, sweep, all, take, clock } = setting
      const steward = await take()
      await add()
      await settle(succeed(await claimOne()))
      await store.remember({ partition: PARTITION, steward, lanes: [{ lane: LANE, memory: { phase: 'open' } }] })
      assert.equal(await sweep({}), 0, 'a task that ended is a task')
      await clock.advance(1)
      assert.equal(await sweep(before(clock.now())), 2)
      assert.deepEqual(await all(page => store.lanes(page)), [])
      assert.deepEqual(await everything(page => store.memories({ ...page, partitions: [PARTITION] })), [])

      await add()
      await settle(giveUp(await claimOne()))
      const { lane, attempts, exhausted, succeeded } = only(await all(page => store.lanes(page)))
      assert.deepEqual([lane, attempts, exhausted, succeeded], [LANE, 1, 1, 0])
      assert.equal(only(await all(page => store.causes({ ...page, tenant: TENANT }))).count, 1)
    })

    it('spares records that name the lane', async () => {
      const { store, add, sweep, clock } = await sit(open)
      await store.cancel((await add()).taskId)
      const record = { kind: 'destination', id: LANE, tenant: TENANT, document: { name: 'kept' } } as const
      await store.write([record])
      await clock.advance(1)
      assert.equal(await sweep(before(clock.now())), 2)
      assert.deepEqual((await store.record(record))?.document, { name: 'kept' })
    })

    it('looks at a bounded number in each call, and at every lane in the end', async () => {
      const { store, build, add, sweep, all, heads, get, clock } = await sit(open)
      const lanes = Array.from({ length: 7 }, (_, n) => ({ tenant: TENANT, destination: `https://${n}.example` }))
      const [kept, ...others] = lanes.map(lane => build(lane))
      assert.ok(kept !== undefined)
      await store.enqueue([kept, ...others])
      for (const { taskId } of others) await store.cancel(taskId)
      await clock.advance(1)
      assert.equal(await sweep({ ...before(clock.now()), limit: 2 }), 2 * others.length)
      const left = (await all(page => store.lanes(page))).map(({ lane }) => lane)
      assert.deepEqual(left, [laneKey(kept)])
      assert.deepEqual(idsOf([await get(kept)]), idsOf([kept]))
      // A forgotten lane is found again when it has a task again.
      const [again] = others
      assert.ok(again !== undefined)
      await add({ tenant: again.tenant, destination: again.destination })
      const found = await heads(partitionOf(laneKey(again)))
      assert.ok(found.some(({ lane }) => lane === laneKey(again)))
    })
  })
}

function before(instant: number): { readonly finishedBefore: number; readonly deadBefore: number } {
  return { finishedBefore: instant, deadBefore: instant }
}

async function cancelledTask({ store, add, get }: Setting): Promise<Task> {
  const task = await add()
  await store.cancel(task.taskId)
  return get(task)
}

function known({ find }: Setting, tasks: readonly { readonly taskId: string }[]): Promise<boolean[]> {
  return Promise.all(tasks.map(async ({ taskId }) => (await find(taskId)) !== undefined))
}
