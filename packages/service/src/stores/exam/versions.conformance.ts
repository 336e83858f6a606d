import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { sit, type OpenStore } from './exam.test-kit.ts'
import { giveUp, replayOf, TENANT } from './tasks.test-kit.ts'

export function examineVersions(open: OpenStore): void {
  describe('a change that names the version that was read', () => {
    it('is made if the task still has it; else it changes nothing, and says what the task is', async () => {
      const { store, add, claimOne, get, all, clock } = await sit(open)
      const { taskId } = await add({ dueAt: clock.now() + 60_000 })
      const audit = { tenant: TENANT, actor: 'local', action: 'task.attempt-now', subject: taskId }
      const hurried = await store.attemptNow(taskId, { ifVersion: 1, audit })
      assert.deepEqual([hurried.kind, (await get({ taskId })).version], ['changed', 2])
      const late = { now: clock.now(), kind: 'conflict', task: await get({ taskId }) }
      assert.deepEqual(await store.attemptNow(taskId, { ifVersion: 1, audit }), late)
      assert.deepEqual(await store.cancel(taskId, { ifVersion: 1, audit }), late)
      assert.equal((await all(page => store.audit(page))).length, 1, 'only a change has a line')
      assert.equal((await store.cancel(taskId, { ifVersion: 2 })).kind, 'changed')
      assert.equal((await store.cancel(taskId, { ifVersion: 3 })).kind, 'changed', 'again the same')
      assert.equal((await store.cancel('unheard-of', { ifVersion: 1 })).kind, 'unknown')
      // A claim is a change too: a reader of the version before has not seen it.
      const underWay = await add()
      await claimOne()
      assert.equal((await store.cancel(underWay.taskId, { ifVersion: 1 })).kind, 'conflict')
      assert.equal((await store.cancel(underWay.taskId, { ifVersion: 2 })).kind, 'changed')
    })

    it('is compared before the status', async () => {
      const { store, ended } = await sit(open)
      const { taskId, version } = await ended(giveUp)
      assert.equal((await store.cancel(taskId, { ifVersion: version })).kind, 'unchanged')
      assert.equal((await store.cancel(taskId, { ifVersion: version - 1 })).kind, 'conflict')
    })

    it('brings back the dead letter that was read, and no other', async () => {
      const { store, ended, replay, all, clock } = await sit(open)
      const dead = await ended(giveUp)
      const { taskId, version } = dead
      const audit = { tenant: TENANT, actor: 'local', action: 'task.replay', subject: taskId }
      const ask = replayOf(dead, clock.now())
      assert.deepEqual(await replay(ask, { audit, ifVersion: version - 1 }), { kind: 'conflict', task: dead })
      assert.equal((await replay(ask, { audit, ifVersion: version })).kind, 'changed')
      assert.equal((await all(page => store.audit(page))).length, 1)
    })

    it('is made once of many that come at the same moment', async () => {
      const { store, add, clock } = await sit(open)
      const { taskId } = await add({ dueAt: clock.now() + 60_000 })
      const answers = await Promise.all([1, 2, 3].map(() => store.attemptNow(taskId, { ifVersion: 1 })))
      assert.deepEqual(answers.map(({ kind }) => kind).toSorted(), ['changed', 'conflict', 'conflict'])
    })
  })
}
