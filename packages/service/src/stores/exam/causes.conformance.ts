import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { ClaimedTask, Task } from '../../task/task.ts'
import type { Cause, CausesPage } from '../store.ts'
import { idsOf, only, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import {
  DESTINATION,
  expireHeld,
  FIRSTS,
  giveUp,
  giveUpUnsent,
  LANE,
  PARTITION,
  REPLAYED,
  replayOf,
  succeed,
  TENANT,
} from './tasks.test-kit.ts'

function causesOf({ store, all }: Setting, ask: Partial<CausesPage> = {}): Promise<Cause[]> {
  return all(page => store.causes({ tenant: TENANT, ...ask, ...page }))
}

export function examineCauses(open: OpenStore): void {
  describe('causes', () => {
    it('group dead letters that died of the same, the most numerous first, each with samples', async () => {
      const setting = await sit(open)
      const { ended, clock, listed } = setting
      const busy = { outcome: 'transient', responseStatus: 503, errorCode: 'http-503' } as const
      const firstAt = clock.now()
      const dead: Task[] = []
      for (let n = 0; n < 5; n++) {
        dead.push(await ended(task => giveUp(task, 'attempts', { ...busy, errorMessage: `busy, ask for ${n} again` })))
        await clock.advance(100)
      }
      const gone = await ended(task => giveUp(task, 'permanent', { outcome: 'permanent', responseStatus: 410 }))
      await ended(succeed)
      const [most, least, ...others] = await causesOf(setting)
      assert.ok(most !== undefined && least !== undefined)
      assert.deepEqual(others, [])
      const { causeId, errorMessage, ...rest } = most
      assert.deepEqual(rest, {
        tenant: TENANT,
        destination: DESTINATION,
        reason: 'attempts',
        responseStatus: 503,
        errorCode: 'http-503',
        count: 5,
        firstAt,
        lastAt: firstAt + 400,
        sampleTaskIds: idsOf(dead.slice(0, 3)),
      })
      assert.match(errorMessage ?? '', /^busy, ask for \d again$/)
      assert.deepEqual(await listed({ status: 'EXHAUSTED', causeId }), idsOf(dead).toReversed())
      const at = clock.now()
      assert.deepEqual(least, {
        causeId: least.causeId,
        tenant: TENANT,
        destination: DESTINATION,
        reason: 'permanent',
        responseStatus: 410,
        count: 1,
        firstAt: at,
        lastAt: at,
        sampleTaskIds: [gone.taskId],
      })
    })

    it('go by count, then by id, however they came', async () => {
      const setting = await sit(open)
      for (const responseStatus of [500, 501, 502, 502, 503, 503, 503, 504, 504, 504])
        await setting.ended(task => giveUp(task, 'attempts', { outcome: 'transient', responseStatus }))
      const causes = await causesOf(setting)
      assert.deepEqual(
        causes.map(({ count }) => count),
        [3, 3, 2, 1, 1],
      )
      const ids = causes.map(({ causeId }) => causeId)
      for (const same of [ids.slice(0, 2), ids.slice(3)]) assert.deepEqual(same, same.toSorted())
    })

    it('are apart for tenants, destinations, reasons, statuses, codes and messages', async () => {
      const setting = await sit(open)
      const { ended } = setting
      const end = { outcome: 'transient', responseStatus: 503, errorCode: 'a', errorMessage: 'm' } as const
      const destination = 'https://other.example'
      await ended(task => giveUp(task, 'attempts', end))
      await ended(task => giveUp(task, 'attempts', end), { tenant: 'other' })
      await ended(task => giveUp(task, 'attempts', end), { destination })
      await ended(task => giveUp(task, 'deadline', end))
      await ended(task => giveUp(task, 'attempts', { ...end, responseStatus: 502 }))
      await ended(task => giveUp(task, 'attempts', { ...end, errorCode: 'b' }))
      await ended(task => giveUp(task, 'attempts', { ...end, errorMessage: 'n' }))
      const causes = await causesOf(setting)
      assert.deepEqual(
        causes.map(({ count }) => count),
        [1, 1, 1, 1, 1, 1],
      )
      assert.equal(new Set(causes.map(({ causeId }) => causeId)).size, 6)
      assert.equal(only(await causesOf(setting, { destination })).destination, destination)
      const [first] = causes
      assert.ok(first !== undefined)
      assert.deepEqual(await causesOf(setting, { causeId: first.causeId }), [first])
      assert.deepEqual(await causesOf(setting, { causeId: first.causeId, tenant: 'other' }), [])
    })

    it('are others for tasks that a gate held until their deadline, one for each gate', async () => {
      const setting = await sit(open)
      const { store, ended, clock, listed } = setting
      const held = (by: 'credit' | 'paused') => (task: ClaimedTask) => expireHeld(task, { by, since: task.dueAt })
      const first = await ended(held('paused'))
      await clock.advance(1_000)
      const second = await ended(held('paused'))
      await ended(held('credit'))
      await ended(task => giveUpUnsent(task))
      const causes = await causesOf(setting)
      assert.deepEqual(
        new Map(causes.map(({ heldBy, count }) => [heldBy, count])),
        new Map([
          ['paused', 2],
          ['credit', 1],
          [undefined, 1],
        ]),
      )
      const causeId = causes.find(({ heldBy }) => heldBy === 'paused')?.causeId ?? ''
      assert.deepEqual(await listed({ status: 'EXHAUSTED', causeId }), idsOf([second, first]))
      await store.replay([first, second].map(task => replayOf(task, clock.now())))
      assert.equal((await causesOf(setting)).length, 2)
    })

    it('lose tasks that were replayed or swept, and end with their last dead letter', async () => {
      const setting = await sit(open)
      const { ended, replay, sweep, clock, listed } = setting
      const firstAt = clock.now()
      const swept = await ended(giveUp)
      await clock.advance(1_000)
      const [one, other] = [await ended(giveUp), await ended(giveUp)]
      const { causeId } = only(await causesOf(setting))
      await sweep({ deadBefore: clock.now() })
      await replay(replayOf(one, clock.now()))
      const cause = only(await causesOf(setting))
      assert.deepEqual([cause.count, cause.sampleTaskIds], [1, [other.taskId]])
      assert.deepEqual([cause.firstAt, cause.lastAt], [firstAt, clock.now()], 'of all since it came')
      assert.deepEqual(await listed({ status: 'EXHAUSTED', causeId }), [other.taskId])
      await replay(replayOf(other, clock.now()))
      assert.deepEqual(await causesOf(setting), [])
      assert.equal(await setting.find(swept.taskId), undefined)
    })

    it('that come again begin anew', async () => {
      const setting = await sit(open)
      const { ended, replay, claimOne, settle, clock } = setting
      const dead = await ended(giveUp)
      await replay(replayOf(dead, clock.now()))
      await clock.advance(1_000)
      await settle(giveUp(await claimOne({ queue: REPLAYED })))
      const { count, firstAt, lastAt } = only(await causesOf(setting))
      assert.deepEqual([count, firstAt, lastAt], [1, clock.now(), clock.now()])
    })

    it('know a task that expired in its queue by its last attempt', async () => {
      const setting = await sit(open)
      const { store, add, take, clock } = setting
      await add({ progress: { expiresAt: clock.now() } })
      await store.expire({ partition: PARTITION, steward: await take(), lane: LANE, queue: FIRSTS, limit: 10 })
      const { reason, count, errorCode } = only(await causesOf(setting))
      assert.deepEqual([reason, count, errorCode], ['deadline', 1, undefined])
    })
  })
}
