import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { queueKey } from '../../task/lane.ts'
import { NO_COUNTS, type ReplayCounts } from '../../task/replay/counts.ts'
import type { Task } from '../../task/task.ts'
import type { Replay } from '../store.ts'
import { idsOf, only, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import {
  FIRSTS,
  giveUp,
  giveUpUnsent,
  LANE,
  PARTITION,
  putBack,
  QUEUE,
  REPLAYED,
  replayOf,
  retryAt,
  succeed,
  TENANT,
} from './tasks.test-kit.ts'

const REPLAY_ID = '019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a'
const RECORD = { kind: 'replay', id: REPLAY_ID, tenant: TENANT, document: {} } as const

export function examineReplays(open: OpenStore): void {
  describe('a replay of many', () => {
    it('brings each back at its own turn, and answers for each', async () => {
      const { store, ended, get, clock } = await sit(open)
      const [one, two, fine] = [await ended(giveUp), await ended(giveUp), await ended(succeed)]
      const later = clock.now() + 500
      const { results } = await store.replay([
        counted(one, clock.now()),
        { ...counted(two, clock.now()), dueAt: later },
        counted(fine, clock.now()),
        { ...counted(one, clock.now()), taskId: 'unheard-of' },
        counted(one, clock.now()),
      ])
      const again = { kind: 'unchanged', task: await get(one) }
      assert.deepEqual(results, [
        { kind: 'changed', task: await get(one) },
        { kind: 'changed', task: await get(two) },
        { kind: 'unchanged', task: fine },
        { kind: 'unknown' },
        again,
      ])
      const queue = { ...QUEUE, rank: 'low' }
      assert.deepEqual((await get(one)).state, { status: 'PENDING', nextAttemptAt: clock.now(), queue })
      assert.deepEqual((await get(two)).state, { status: 'PENDING', nextAttemptAt: later, queue })
      assert.equal((await get(two)).progress.replayId, REPLAY_ID)
    })

    it('may be of none', async () => {
      const { store, clock } = await sit(open)
      assert.deepEqual(await store.replay([]), { now: clock.now(), results: [] })
    })

    it('brings nothing back before its turn, and a turn that is past comes now', async () => {
      const { store, ended, get, claim, clock } = await sit(open)
      const [early, late] = [await ended(giveUp), await ended(giveUp)]
      const [past, turn] = [clock.now() - 5_000, clock.now() + 300]
      await store.replay([
        { ...counted(early, clock.now()), dueAt: past },
        { ...counted(late, clock.now()), dueAt: turn },
      ])
      const { state } = await get(early)
      assert.ok(state.status === 'PENDING' && state.nextAttemptAt === clock.now())
      assert.deepEqual(idsOf(await claim({ queue: REPLAYED })), [early.taskId])
      await clock.advance(300)
      assert.deepEqual(idsOf(await claim({ queue: REPLAYED })), [late.taskId])
    })
  })

  describe('the counts of a replay', () => {
    it('follow every task that it brought back, in the write that changes it', async () => {
      const setting = await sit(open)
      const { store, claimOne, clock } = setting
      const [cancelled] = (await bringBack(setting, 6)).slice(-1)
      assert.deepEqual(await countsOf(setting), { ...NO_COUNTS, moved: 6, waiting: 6 })
      const next = () => claimOne({ queue: REPLAYED })
      const [one, two, three, four, five] = [await next(), await next(), await next(), await next(), await next()]
      assert.deepEqual(await countsOf(setting), { ...NO_COUNTS, moved: 6, waiting: 1, underWay: 5 })
      await store.settle([succeed(one), giveUp(two), retryAt(three, clock.now()), giveUpUnsent(four)])
      await store.cancel(cancelled?.taskId ?? '')
      const ends = { succeeded: 1, exhausted: 2, cancelled: 1 }
      const now = { moved: 6, waiting: 0, underWay: 1, sent: 3, failed: 2, ...ends, recent: '011' }
      assert.deepEqual(await countsOf(setting), now)
      await store.settle([putBack(five)])
      assert.deepEqual(await countsOf(setting), { ...now, waiting: 1, underWay: 0 })
    })

    it("count how a task's first attempt went, and how the task ended", async () => {
      const setting = await sit(open)
      const { claimOne, settle, clock } = setting
      await bringBack(setting, 1)
      await settle(retryAt(await claimOne({ queue: REPLAYED }), clock.now()))
      await settle(succeed(await claimOne({ queue: queueKey({ ...QUEUE, kind: 'retry', rank: 'low' }) })))
      const counts = { ...NO_COUNTS, moved: 1, sent: 1, failed: 1, succeeded: 1, recent: '1' }
      assert.deepEqual(await countsOf(setting), counts)
    })

    it('change once when a settle is asked again', async () => {
      const setting = await sit(open)
      await bringBack(setting, 1)
      const settlement = succeed(await setting.claimOne({ queue: REPLAYED }))
      for (let times = 0; times < 3; times++) await setting.settle(settlement)
      assert.deepEqual(await countsOf(setting), { ...NO_COUNTS, moved: 1, sent: 1, succeeded: 1, recent: '0' })
    })

    it('do not hold a cancelled attempt against its target', async () => {
      const setting = await sit(open)
      await bringBack(setting, 1)
      const claimed = await setting.claimOne({ queue: REPLAYED })
      await setting.store.cancel(claimed.taskId)
      assert.deepEqual(await countsOf(setting), { ...NO_COUNTS, moved: 1, underWay: 1 })
      await setting.settle(retryAt(claimed, setting.clock.now()))
      assert.deepEqual(await countsOf(setting), { ...NO_COUNTS, moved: 1, sent: 1, cancelled: 1, recent: '0' })
    })

    it('see a task that was never sent when its deadline passed', async () => {
      const setting = await sit(open)
      const { store, take, clock } = setting
      await bringBack(setting, 1)
      await clock.advance(86_400_001)
      const steward = await take()
      await store.expire({ partition: PARTITION, steward, lane: LANE, queue: REPLAYED, limit: 10 })
      assert.deepEqual(await countsOf(setting), { ...NO_COUNTS, moved: 1, exhausted: 1 })
    })

    it('keep the newest two hundred outcomes', async () => {
      const setting = await sit(open)
      await bringBack(setting, 205)
      const claimed = await setting.claim({ queue: REPLAYED, count: 205 })
      await setting.store.settle(claimed.map((task, at) => (at % 5 === 0 ? giveUp(task) : succeed(task))))
      assert.equal((await countsOf(setting)).recent, '10000'.repeat(40))
    })

    it('begin with the first task, and end with the record of the replay', async () => {
      const setting = await sit(open)
      assert.deepEqual(await countsOf(setting), NO_COUNTS)
      await setting.store.write([RECORD])
      await bringBack(setting, 2)
      await setting.store.write([{ ...RECORD, document: { status: 'DONE' } }])
      assert.equal((await countsOf(setting)).moved, 2)
      await setting.store.write([{ ...RECORD, document: null }])
      await setting.settle(succeed(await setting.claimOne({ queue: REPLAYED })))
      assert.deepEqual(await countsOf(setting), NO_COUNTS)
    })

    it('stay when their tasks are swept', async () => {
      const setting = await sit(open)
      const { claimOne, settle, sweep, clock } = setting
      await bringBack(setting, 1)
      await settle(succeed(await claimOne({ queue: REPLAYED })))
      await clock.advance(1)
      await sweep({ finishedBefore: clock.now(), deadBefore: clock.now() })
      assert.deepEqual(await countsOf(setting), { ...NO_COUNTS, moved: 1, sent: 1, succeeded: 1, recent: '0' })
    })

    it('belong to one replay, and to none when a task is brought back alone', async () => {
      const setting = await sit(open)
      const { settle, claimOne, replay, get, clock } = setting
      await bringBack(setting, 1)
      const claimed = await claimOne({ queue: REPLAYED })
      await settle(giveUp(claimed))
      await replay(replayOf(await get(claimed), clock.now()))
      await settle(succeed(await claimOne({ queue: REPLAYED })))
      assert.equal((await get(claimed)).progress.replayId, undefined)
      const counts = { ...NO_COUNTS, moved: 1, sent: 1, failed: 1, exhausted: 1, recent: '1' }
      assert.deepEqual(await countsOf(setting), counts)
    })

    it('are answered for several replays, in the order asked', async () => {
      const setting = await sit(open)
      await bringBack(setting, 1)
      const counts = await setting.store.replayCounts(['another', REPLAY_ID, 'a third'])
      assert.deepEqual(counts, [NO_COUNTS, { ...NO_COUNTS, moved: 1, waiting: 1 }, NO_COUNTS])
      assert.deepEqual(await setting.store.replayCounts([]), [])
    })
  })
}

function counted(dead: Task, now: number): Replay {
  const ask = replayOf(dead, now)
  return { ...ask, progress: { ...ask.progress, replayId: REPLAY_ID } }
}

async function bringBack({ store, addMany, claim, get, clock }: Setting, count: number): Promise<Task[]> {
  const tasks = await addMany(count)
  await store.settle((await claim({ queue: FIRSTS, count })).map(task => giveUp(task)))
  const dead = await Promise.all(tasks.map(get))
  await store.replay(dead.map(task => counted(task, clock.now())))
  return dead
}

async function countsOf({ store }: Setting): Promise<ReplayCounts> {
  return only(await store.replayCounts([REPLAY_ID]))
}
