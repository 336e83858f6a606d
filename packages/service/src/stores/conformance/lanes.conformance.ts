import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey, partitionOf } from '../../task/lane.ts'
import { NO_LIMITS, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { giveUp, LANE, PARTITION, succeed, TENANT } from './tasks.test-kit.ts'

export function examineLanes(open: OpenStore): void {
  describe('a sweep of lanes', () => {
    it('forgets one without a task, with its counters and its memory: it comes back as a new one', async () => {
      const setting = await sit(open)
      const { store, add, claimOne, settle, all, take } = setting
      const steward = await take()
      await add()
      await settle(succeed(await claimOne()))
      await store.remember({ partition: PARTITION, steward, lane: LANE, memory: { phase: 'open' } })
      assert.deepEqual(await sweptLanes(setting), [], 'a task that ended is a task')
      await forgetTasks(setting)
      assert.deepEqual(await sweptLanes(setting), [LANE])
      assert.deepEqual(await all(page => store.laneCounters(page)), [])
      assert.deepEqual(await all(page => store.memories({ ...page, partition: PARTITION })), [])
      assert.deepEqual(await sweptLanes(setting), [])

      await add()
      const dead = await claimOne()
      await settle(giveUp(dead))
      const [counters] = await all(page => store.laneCounters(page))
      assert.deepEqual([counters!.lane, counters!.attempts, counters!.exhausted], [LANE, 1, 1])
      assert.equal((await all(page => store.causes({ ...page, tenant: TENANT })))[0]!.count, 1)
    })

    it('spares whatever waits, is under way or has ended, and what operators have set', async () => {
      const setting = await sit(open)
      const { store, add, ended, claim, clock } = setting
      await add()
      await claim()
      await add({ destination: 'https://waits.example', dueAt: clock.now() + 60_000 })
      await ended(giveUp)
      const record = {
        kind: 'destination',
        id: LANE,
        tenant: TENANT,
        document: { name: 'kept' },
        ifVersion: 0,
      } as const
      await store.writeRecord(record)
      assert.deepEqual(await sweptLanes(setting), [])
      assert.deepEqual((await store.record(record))!.document, { name: 'kept' })
    })

    it('looks at a bounded number in each step, and at every lane in the end', async () => {
      const setting = await sit(open)
      const { store, build, all, clock } = setting
      const lanes = Array.from({ length: 7 }, (_, n) => ({ tenant: TENANT, destination: `https://${n}.example` }))
      const tasks = lanes.map(lane => build(lane))
      await store.enqueue(tasks, NO_LIMITS)
      const [kept, ...others] = tasks
      for (const { taskId } of others) await store.cancel(taskId)
      await forgetTasks(setting)
      assert.ok((await store.sweepLanes({ limit: 2 })).lanes.length <= 2)
      await sweptLanes(setting, 2)
      const left = (await all(page => store.laneCounters(page))).map(({ lane }) => lane)
      assert.deepEqual(left, [laneKey(lanes[0]!)])
      assert.ok((await store.get(kept!.taskId)) !== undefined)
      // Its queue is found as before, and so are those of lanes that are new again.
      await store.enqueue([build({ ...lanes[1]!, dueAt: clock.now() })], NO_LIMITS)
      const partition = partitionOf(laneKey(lanes[1]!))
      const heads = (await store.queues({ partition, limit: 100 })).items
      assert.ok(heads.some(({ lane }) => lane === laneKey(lanes[1]!)))
    })
  })
}

async function forgetTasks({ store, clock }: Setting): Promise<void> {
  await clock.advance(10)
  const [before, limit] = [clock.now(), 100]
  const sweep = { finishedBefore: before, deadBefore: before, keysBefore: before, limit }
  // Work per call is bounded: three times nothing is the end.
  for (let empty = 0; empty < 3;) empty = (await store.sweep(sweep)).swept === 0 ? empty + 1 : 0
}

async function sweptLanes({ store }: Setting, limit = 100): Promise<string[]> {
  const swept: string[] = []
  for (let cursor: string | undefined; ;) {
    const { lanes, nextCursor } = await store.sweepLanes({ limit, ...(cursor !== undefined && { cursor }) })
    swept.push(...lanes)
    cursor = nextCursor
    if (cursor === undefined) return swept
  }
}
