import assert from 'node:assert/strict'
import { DEFAULT_POLICY } from '@secondwind/resilience'
import { describe, it } from 'vitest'
import { sit, type OpenStore } from './exam.test-kit.ts'
import { giveUp, nextGeneration, TENANT } from './tasks.test-kit.ts'

export function examineVersions(open: OpenStore): void {
  describe('a change that names the version that was read', () => {
    it('of a task is made while it is that version, and else changes nothing, and says what it is', async () => {
      const { store, add, claimOne, get, all, clock } = await sit(open)
      const { taskId } = await add({ dueAt: clock.now() + 60_000 })
      const audit = { tenant: TENANT, actor: 'local', action: 'task.attempt-now', subject: taskId }
      const hurried = await store.attemptNow(taskId, { ifVersion: 1, audit })
      assert.deepEqual([hurried.kind, (await get({ taskId })).version], ['changed', 2])
      const late = { now: clock.now(), kind: 'conflict', task: await get({ taskId }) }
      assert.deepEqual(await store.attemptNow(taskId, { ifVersion: 1, audit }), late)
      assert.deepEqual(await store.cancel(taskId, { ifVersion: 1, audit }), late)
      assert.equal((await all(page => store.auditTrail(page))).length, 1, 'what was not done has no line')
      assert.equal((await store.cancel(taskId, { ifVersion: 2 })).kind, 'changed')
      assert.equal((await store.cancel(taskId, { ifVersion: 3 })).kind, 'changed', 'again the same')
      assert.equal((await store.cancel('unheard-of', { ifVersion: 1 })).kind, 'unknown')
      // What happens by itself is a change, too: whoever read it before has not seen it.
      const underWay = await add()
      await claimOne()
      assert.equal((await store.cancel(underWay.taskId, { ifVersion: 1 })).kind, 'conflict')
      assert.equal((await store.cancel(underWay.taskId, { ifVersion: 2 })).kind, 'changed')
    })

    it('of a task whose status does not allow it says that it is another version first', async () => {
      const { store, ended } = await sit(open)
      const { taskId, version } = await ended(giveUp)
      assert.equal((await store.cancel(taskId, { ifVersion: version })).kind, 'unchanged')
      assert.equal((await store.cancel(taskId, { ifVersion: version - 1 })).kind, 'conflict')
    })

    it('of a dead letter brings that one back, and no other', async () => {
      const { store, ended, clock } = await sit(open)
      const dead = await ended(giveUp)
      const { taskId, version } = dead
      const ask = { taskId, generation: 1, progress: nextGeneration(dead, clock.now()) }
      const late = await store.replay({ ...ask, ifVersion: version - 1 })
      assert.deepEqual(late, { now: clock.now(), kind: 'conflict', task: dead })
      assert.equal((await store.replay({ ...ask, ifVersion: version })).kind, 'changed')
    })

    it('is made once, of many that were made at the same moment', async () => {
      const { store, add, clock } = await sit(open)
      const { taskId } = await add({ dueAt: clock.now() + 60_000 })
      const answers = await Promise.all([1, 2, 3].map(() => store.attemptNow(taskId, { ifVersion: 1 })))
      assert.deepEqual(answers.map(({ kind }) => kind).toSorted(), ['changed', 'conflict', 'conflict'])
    })

    it('of a policy is made on the newest version, or where there is none', async () => {
      const { store, all, clock } = await sit(open)
      const name = { tenant: TENANT, policyId: 'payments' }
      const put = (maxAttempts: number, ifVersion: number) =>
        store.putPolicy({ ...name, document: { ...DEFAULT_POLICY, maxAttempts }, ifVersion })
      assert.deepEqual(await put(4, 1), { now: clock.now(), kind: 'conflict' })
      assert.equal((await put(4, 0)).kind, 'created')
      assert.equal((await put(5, 1)).kind, 'new-version')
      const record = await store.policy(name)
      for (const [maxAttempts, ifVersion] of [
        [6, 1],
        [6, 0],
        [5, 1],
      ] as const)
        assert.deepEqual(await put(maxAttempts, ifVersion), { now: clock.now(), kind: 'conflict', record })
      assert.equal((await put(5, 2)).kind, 'same')
      assert.equal((await all(page => store.policyVersions({ ...name, ...page }))).length, 2)
    })
  })
}
