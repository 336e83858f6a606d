import assert from 'node:assert/strict'
import { DEFAULT_POLICY } from '@secondwind/resilience'
import { describe, it } from 'vitest'
import { NO_LIMITS, sit, type OpenStore } from './exam.test-kit.ts'
import { giveUp, nextGeneration, TENANT } from './tasks.test-kit.ts'

export function examineLeave(open: OpenStore): void {
  describe('a call whose leave has ended', () => {
    it('answers with what its leave threw, and nothing is written', async () => {
      const { store, add, ended, build, listed, get, all, clock } = await sit(open)
      const waiting = await add({ dueAt: clock.now() + 60_000 })
      const dead = await ended(giveUp)
      const before = [await listed(), await get(waiting), await get(dead)]
      const { taskId } = dead
      const audit = { tenant: TENANT, actor: 'gone', action: 'any', subject: 'any' }
      const record = { kind: 'control', id: 'a', tenant: TENANT, document: {}, ifVersion: 0, audit } as const
      const policy = { tenant: TENANT, policyId: 'new', document: DEFAULT_POLICY, audit }
      const body = { tenant: TENANT, bodyRef: 'a', sizeBytes: 1, contentType: 'a/b', location: 'a', mostBytes: 9 }
      const refusal = new Error('shut out')
      const leave = (): never => {
        throw refusal
      }
      const replay = { taskId, generation: 1, progress: nextGeneration(dead, clock.now()), audit }
      for (const call of [
        () => store.enqueue([build()], NO_LIMITS, leave),
        () => store.cancel(waiting.taskId, { audit }, leave),
        () => store.attemptNow(waiting.taskId, { audit }, leave),
        () => store.replay(replay, leave),
        () => store.putPolicy(policy, leave),
        () => store.putBody(body, leave),
        () => store.writeRecord(record, leave),
      ])
        await assert.rejects(call, refusal)
      assert.deepEqual([await listed(), await get(waiting), await get(dead)], before)
      assert.deepEqual(await all(page => store.auditTrail(page)), [])
      assert.equal(await store.policy(policy), undefined)
      assert.equal(await store.body(body), undefined)
      assert.equal(await store.record(record), undefined)
    })

    it('is done before the one that ended it, or not at all', async () => {
      const { store, all } = await sit(open)
      let isShutOut = false
      const write = (id: string, leave: () => void) => {
        const audit = { tenant: TENANT, actor: 'any', action: 'any', subject: id }
        return store.writeRecord({ kind: 'control', id, tenant: TENANT, document: {}, ifVersion: 0, audit }, leave)
      }
      const leave = (): void => {
        if (isShutOut) throw new Error('shut out')
      }
      const ids = Array.from({ length: 100 }, (_, n) => `n${n}`)
      const ends = await Promise.allSettled(
        ids.map(id => (id === 'n40' ? write(id, () => (isShutOut = true)) : write(id, leave))),
      )
      const done = ids.filter((_, n) => ends[n]!.status === 'fulfilled')
      const lines = (await all(page => store.auditTrail(page))).map(({ subject }) => subject)
      assert.equal(lines[0], 'n40')
      assert.deepEqual(lines.toSorted(), done.toSorted())
    })

    it('harms no other that is asked at the same moment', async () => {
      const { store, build } = await sit(open)
      const tasks = [build(), build(), build()]
      const leaves = [
        (): void => {},
        (): never => {
          throw new Error('shut out')
        },
        undefined,
      ]
      const ends = await Promise.allSettled(tasks.map((task, at) => store.enqueue([task], NO_LIMITS, leaves[at])))
      assert.deepEqual(
        ends.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      )
    })
  })
}
