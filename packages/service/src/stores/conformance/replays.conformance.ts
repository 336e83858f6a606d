import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { ReplayStatus } from '@secondwind/client'
import { queueKey } from '../../task/lane.ts'
import { NO_COUNTS, type ReplayCounts } from '../../task/replay/counts.ts'
import { deadLetterOf } from '../../task/replay/dead-letter.ts'
import { newReplay, PLAN_DEFAULTS, type ReplayDocument } from '../../task/replay/replay.ts'
import type { ClaimedTask, Task } from '../../task/task.ts'
import type { Replay } from '../task-store.ts'
import { hintsOf, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import {
  giveUp,
  giveUpUnsent,
  LANE,
  nextGeneration,
  PARTITION,
  QUEUE,
  retryAt,
  succeed,
  TENANT,
} from './tasks.test-kit.ts'

const REPLAY_ID = '019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a'
const LOW = queueKey({ ...QUEUE, rank: 'low' })

export function examineReplays(open: OpenStore): void {
  describe('a replay of many', () => {
    it('brings each back at its own turn, and answers for each', async () => {
      const { store, ended, get, clock } = await sit(open)
      const [one, two, fine] = [await ended(giveUp), await ended(giveUp), await ended(succeed)]
      const later = clock.now() + 500
      const { results } = await store.replayMany([
        ask(one, clock.now()),
        { ...ask(two, clock.now()), dueAt: later },
        ask(fine, clock.now()),
        { ...ask(one, clock.now()), taskId: 'unheard-of' },
        ask(one, clock.now()),
      ])
      assert.deepEqual(results, ['changed', 'changed', 'unchanged', 'unknown', 'unchanged'])
      const queue = { ...QUEUE, rank: 'low' }
      assert.deepEqual((await get(one)).state, { status: 'PENDING', nextAttemptAt: clock.now(), queue })
      assert.deepEqual((await get(two)).state, { status: 'PENDING', nextAttemptAt: later, queue })
      assert.equal((await get(two)).progress.replayId, REPLAY_ID)
    })

    it('brings nothing back that finds no room to wait in, alone or with others: it stays a dead letter', async () => {
      const { store, ended, addMany, get, clock } = await sit(open)
      const dead = [await ended(giveUp), await ended(giveUp), await ended(giveUp)] as const
      await addMany(2)
      const limits = { perLane: 4, total: 1_000 }
      const asks = dead.map(task => ask(task, clock.now()))
      assert.deepEqual((await store.replayMany(asks, limits)).results, ['changed', 'changed', 'full'])
      const answer = await store.replay({ ...asks[2]!, limits })
      assert.deepEqual(answer, { now: clock.now(), kind: 'full', task: dead[2] })
      assert.deepEqual(await get(dead[2]), dead[2])
      assert.equal((await store.replayCounts(REPLAY_ID)).moved, 2)
      assert.deepEqual((await store.replayMany(asks, { perLane: 5, total: 1_000 })).results, [
        'unchanged',
        'unchanged',
        'changed',
      ])
    })

    it('brings nothing back whose end finds no room to be told in, as with a new task', async () => {
      const { store, ended, addMany, clock } = await sit(open)
      const callbackUrl = 'https://told.example/ends'
      const [told, silent] = [await ended(giveUp, { callbackUrl }), await ended(giveUp)]
      await addMany(5, { destination: 'https://told.example' })
      const asks = [ask(told, clock.now()), ask(silent, clock.now())]
      assert.deepEqual((await store.replayMany(asks, { perLane: 10, total: 1_000 })).results, ['full', 'changed'])
      assert.deepEqual((await store.replayMany(asks, { perLane: 12, total: 1_000 })).results, ['changed', 'unchanged'])
    })

    it('is told to the steward, with the first turn', async () => {
      const { store, ended, clock } = await sit(open)
      const dead = [await ended(giveUp), await ended(giveUp)]
      const dueAt = clock.now() + 700
      const hints = hintsOf(store)
      await store.replayMany(dead.map((task, at) => ({ ...ask(task, clock.now()), dueAt: dueAt + 100 - 100 * at })))
      await hints.until(heard => heard.length > 0)
      assert.deepEqual(hints.heard.at(-1), { partition: PARTITION, lane: LANE, queue: LOW, dueAt })
    })

    it('brings nothing back before its turn, and a turn that is past comes now', async () => {
      const { store, ended, get, claim, clock } = await sit(open)
      const [early, late] = [await ended(giveUp), await ended(giveUp)]
      const [past, turn] = [clock.now() - 5_000, clock.now() + 300]
      await store.replayMany([
        { ...ask(early, clock.now()), dueAt: past },
        { ...ask(late, clock.now()), dueAt: turn },
      ])
      const { state } = await get(early)
      assert.ok(state.status === 'PENDING' && state.nextAttemptAt === clock.now())
      assert.deepEqual(idsOf(await claim({ queue: LOW })), [early.taskId])
      await clock.advance(300)
      assert.deepEqual(idsOf(await claim({ queue: LOW })), [late.taskId])
    })
  })

  describe('the counts of a replay', () => {
    it('follow every task that it brought back, in the write that changes it', async () => {
      const setting = await sit(open)
      const { store, claim, clock } = setting
      const dead = await bringBack(setting, 6)
      assert.deepEqual(await counted(setting), { ...NO_COUNTS, moved: 6, waiting: 6 })
      const [one, two, three, four, five] = await claim({ queue: LOW, count: 5 })
      assert.deepEqual(await counted(setting), { ...NO_COUNTS, moved: 6, waiting: 1, underWay: 5 })
      await store.settle([succeed(one!), giveUp(two!), retryAt(three!, clock.now()), giveUpUnsent(four!)])
      await store.cancel(dead[5]!.taskId)
      const ends = { succeeded: 1, exhausted: 2, cancelled: 1 }
      const now = { moved: 6, waiting: 0, underWay: 1, sent: 3, failed: 2, ...ends, recent: '011' }
      assert.deepEqual(await counted(setting), now)
      await store.release([{ taskId: five!.taskId, token: five!.lease.token }])
      assert.deepEqual(await counted(setting), { ...now, waiting: 1, underWay: 0 })
    })

    it('take a task’s first attempt for how it went, and its end for what came of it', async () => {
      const setting = await sit(open)
      const { claimOne, settle, clock } = setting
      await bringBack(setting, 1)
      await settle(retryAt(await claimOne({ queue: LOW }), clock.now()))
      await settle(succeed(await claimOne({ queue: queueKey({ ...QUEUE, kind: 'retry', rank: 'low' }) })))
      const counts = { ...NO_COUNTS, moved: 1, sent: 1, failed: 1, succeeded: 1, recent: '1' }
      assert.deepEqual(await counted(setting), counts)
    })

    it('change once, though a settle be asked again', async () => {
      const setting = await sit(open)
      await bringBack(setting, 1)
      const settlement = succeed(await setting.claimOne({ queue: LOW }))
      for (let times = 0; times < 3; times++) await setting.settle(settlement)
      assert.deepEqual(await counted(setting), { ...NO_COUNTS, moved: 1, sent: 1, succeeded: 1, recent: '0' })
    })

    it('hold no attempt that somebody cancelled against its target', async () => {
      const setting = await sit(open)
      const [dead] = await bringBack(setting, 1)
      const claimed = await setting.claimOne({ queue: LOW })
      await setting.store.cancel(dead!.taskId)
      await setting.settle(retryAt(claimed, setting.clock.now()))
      assert.deepEqual(await counted(setting), { ...NO_COUNTS, moved: 1, sent: 1, cancelled: 1, recent: '0' })
    })

    it('see a task that was never sent when its deadline passed', async () => {
      const setting = await sit(open)
      const { store, take, clock } = setting
      await bringBack(setting, 1)
      await clock.advance(86_400_001)
      const steward = await take()
      await store.expire({ partition: PARTITION, steward, lane: LANE, queue: LOW, limit: 10 })
      assert.deepEqual(await counted(setting), { ...NO_COUNTS, moved: 1, exhausted: 1 })
    })

    it('keep the newest two hundred outcomes', async () => {
      const setting = await sit(open)
      await bringBack(setting, 205)
      const claimed = await setting.claim({ queue: LOW, count: 205 })
      await setting.store.settle(claimed.map((task, at) => (at % 5 === 0 ? giveUp(task) : succeed(task))))
      assert.equal((await counted(setting)).recent, '10000'.repeat(40))
    })

    it('begin with the first task, and end when they are forgotten', async () => {
      const setting = await sit(open)
      assert.deepEqual(await counted(setting), NO_COUNTS)
      await bringBack(setting, 2)
      const { now } = await setting.store.forgetReplay(REPLAY_ID)
      assert.equal(now, setting.clock.now())
      await setting.settle(succeed(await setting.claimOne({ queue: LOW })))
      assert.deepEqual(await counted(setting), NO_COUNTS)
    })

    it('are of no other replay, and of none when a task is brought back alone', async () => {
      const setting = await sit(open)
      const [dead] = await bringBack(setting, 1)
      await setting.settle(giveUp(await setting.claimOne({ queue: LOW })))
      const again = await setting.get(dead!)
      const { replayId: _, ...progress } = nextGeneration(again, setting.clock.now())
      await setting.store.replay({ taskId: again.taskId, generation: 2, progress })
      await setting.settle(succeed(await setting.claimOne({ queue: LOW })))
      assert.equal((await setting.get(dead!)).progress.replayId, undefined)
      assert.deepEqual(await counted(setting), {
        ...NO_COUNTS,
        moved: 1,
        sent: 1,
        failed: 1,
        exhausted: 1,
        recent: '1',
      })
    })
  })

  describe('a list of replays', () => {
    it('has a tenant’s own, the newest first, in pages, each with its counts', async () => {
      const setting = await sit(open)
      const { store, all } = setting
      const ids = [1, 2, 3, 4].map(nth => `${REPLAY_ID.slice(0, -1)}${nth}`)
      for (const id of [...ids, REPLAY_ID]) await plan(setting, id)
      await plan(setting, `${REPLAY_ID.slice(0, -1)}9`, { tenant: 'other' })
      await bringBack(setting, 3)
      const found = await all(page => store.replays({ ...page, tenant: TENANT }), 2)
      const expected = [...ids, REPLAY_ID].toSorted().toReversed()
      assert.deepEqual(
        found.map(({ record }) => record.id),
        expected,
      )
      for (const { record, counts } of found) {
        assert.deepEqual(record, await store.record({ kind: 'replay', id: record.id }))
        assert.deepEqual(counts, await store.replayCounts(record.id))
      }
      assert.equal(found.find(({ record }) => record.id === REPLAY_ID)!.counts.moved, 3)
    })

    it('has those of one status if asked', async () => {
      const setting = await sit(open)
      const { store, all } = setting
      const ids = [1, 2, 3, 4, 5, 6].map(nth => `${REPLAY_ID.slice(0, -1)}${nth}`)
      for (const [nth, id] of ids.entries()) await plan(setting, id, { status: nth % 2 === 0 ? 'PLANNED' : 'RUNNING' })
      const idsOfStatus = async (status: ReplayStatus): Promise<string[]> =>
        (await all(page => store.replays({ ...page, tenant: TENANT, status }), 2)).map(({ record }) => record.id)
      assert.deepEqual(await idsOfStatus('RUNNING'), [ids[5], ids[3], ids[1]])
      assert.deepEqual(await idsOfStatus('PAUSED'), [])
    })

    it('leaves out the ids of tasks that a filter names, and nothing else', async () => {
      const setting = await sit(open)
      const { store } = setting
      const taskIds = Array.from({ length: 200 }, () => REPLAY_ID)
      await plan(setting, REPLAY_ID, { filter: { taskIds } })
      const whole = (await store.record({ kind: 'replay', id: REPLAY_ID }))!
      const { items } = await store.replays({ tenant: TENANT, limit: 1 })
      assert.deepEqual(items[0]!.record, { ...whole, document: { ...whole.document, filter: {} } })
    })
  })

  describe('dead letters', () => {
    it('are read as they arrived, the oldest first, without their requests', async () => {
      const { store, ended, all, clock } = await sit(open)
      const dead: Task[] = []
      for (let n = 0; n < 5; n++) {
        dead.push(await ended(giveUp))
        await ended(succeed)
        await clock.advance(10)
      }
      const found = await all(page => store.deadLetters({ ...page, filter: { tenant: TENANT } }))
      assert.deepEqual(found, dead.map(deadLetterOf))
    })

    it('are found by when they died, also those that arrived long before', async () => {
      const setting = await sit(open)
      const { store, all, clock, addMany, listed } = setting
      const tasks = await addMany(6, { progress: { expiresAt: clock.now() + 9_000_000 } })
      const claimed = new Map((await setting.claim()).map(task => [task.taskId, task]))
      const died: number[] = []
      for (const { taskId } of tasks.toReversed()) {
        await clock.advance(1_000)
        died.push(clock.now())
        await setting.settle(giveUp(claimed.get(taskId)!))
      }
      const [endedFrom, endedTo] = [died[1]!, died[4]!]
      const within = tasks
        .toReversed()
        .slice(1, 4)
        .map(({ taskId }) => taskId)
      const filter = { tenant: TENANT, endedFrom, endedTo }
      const found = await all(page => store.deadLetters({ ...page, filter }))
      assert.deepEqual(
        found.map(({ taskId }) => taskId),
        within.toReversed(),
      )
      assert.deepEqual(await listed({ endedFrom, endedTo }), within)
      assert.deepEqual(await listed({ endedFrom: died[5]! + 1 }), [])
      assert.deepEqual(await listed({ endedTo, status: 'SUCCEEDED' }), [])
    })

    it('go on where a page ended, whatever was brought back meanwhile', async () => {
      const { store, ended, clock } = await sit(open)
      const dead = [await ended(giveUp), await ended(giveUp), await ended(giveUp), await ended(giveUp)]
      const filter = { tenant: TENANT }
      const { items, nextCursor } = await store.deadLetters({ filter, limit: 2 })
      await store.replayMany([ask(dead[1]!, clock.now()), ask(dead[2]!, clock.now())])
      const rest = await store.deadLetters({ filter, limit: 2, cursor: nextCursor! })
      assert.deepEqual(
        [...items, ...rest.items].map(({ taskId }) => taskId),
        [dead[0], dead[1], dead[3]].map(task => task!.taskId),
      )
    })
  })
}

function ask(dead: Task, now: number): Replay {
  const { taskId, progress } = dead
  return {
    taskId,
    generation: progress.generation,
    progress: { ...nextGeneration(dead, now), replayId: REPLAY_ID },
  }
}

async function plan(
  { store, clock }: Setting,
  id: string,
  { tenant = TENANT, filter = { errorCode: 'http-503' }, status = 'PLANNING' }: Partial<Planned> = {},
): Promise<void> {
  const asked = { ...PLAN_DEFAULTS, filter, ratePerSecond: 1 }
  const document = { ...newReplay(asked, { createdBy: 'local', now: clock.now() }), status }
  await store.writeRecord({ kind: 'replay', id, tenant, document, ifVersion: 0 })
}

type Planned = Pick<ReplayDocument, 'filter' | 'status'> & { readonly tenant: string }

async function bringBack({ store, addMany, claim, get, clock }: Setting, count: number): Promise<Task[]> {
  const tasks = await addMany(count)
  await store.settle((await claim({ count })).map(task => giveUp(task)))
  const dead = await Promise.all(tasks.map(get))
  await store.replayMany(dead.map(task => ask(task, clock.now())))
  return dead
}

function counted({ store }: Setting): Promise<ReplayCounts> {
  return store.replayCounts(REPLAY_ID)
}

function idsOf(tasks: readonly ClaimedTask[]): string[] {
  return tasks.map(({ taskId }) => taskId)
}
