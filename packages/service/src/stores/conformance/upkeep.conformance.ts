import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { DEFAULT_POLICY } from '@secondwind/resilience'
import type { Task } from '../../task/task.ts'
import type { Sweep } from '../task-store.ts'
import { NO_LIMITS, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { giveUp, nextGeneration, retryAt, succeed, TENANT } from './tasks.test-kit.ts'

const DAY_MS = 86_400_000

export function examineUpkeep(open: OpenStore): void {
  describe('a policy', () => {
    it('is created, kept when the same comes again, and else gets the next version', async () => {
      const { store, clock } = await sit(open)
      const record = {
        tenant: TENANT,
        policyId: 'payments',
        version: 1,
        document: DEFAULT_POLICY,
        createdAt: clock.now(),
      }
      assert.deepEqual(await store.putPolicy({ tenant: TENANT, policyId: 'payments', document: DEFAULT_POLICY }), {
        now: clock.now(),
        kind: 'created',
        record,
      })
      await clock.advance(1_000)
      const reordered = Object.fromEntries(Object.entries(DEFAULT_POLICY).toReversed()) as typeof DEFAULT_POLICY
      assert.deepEqual(await store.putPolicy({ tenant: TENANT, policyId: 'payments', document: reordered }), {
        now: clock.now(),
        kind: 'same',
        record,
      })
      const document = { ...DEFAULT_POLICY, maxAttempts: 9 }
      const second = { tenant: TENANT, policyId: 'payments', version: 2, document, createdAt: clock.now() }
      assert.deepEqual(await store.putPolicy({ tenant: TENANT, policyId: 'payments', document }), {
        now: clock.now(),
        kind: 'new-version',
        record: second,
      })
      assert.deepEqual(await store.policy({ tenant: TENANT, policyId: 'payments' }), second)
      assert.deepEqual(await store.policy({ tenant: TENANT, policyId: 'payments' }, 1), record)
    })

    it('that is an older version again is a new version', async () => {
      const { store } = await sit(open)
      await store.putPolicy({ tenant: TENANT, policyId: 'a', document: DEFAULT_POLICY })
      await store.putPolicy({ tenant: TENANT, policyId: 'a', document: { ...DEFAULT_POLICY, maxAttempts: 9 } })
      const { kind, record } = await store.putPolicy({ tenant: TENANT, policyId: 'a', document: DEFAULT_POLICY })
      assert.deepEqual([kind, record?.version], ['new-version', 3])
    })

    it("is its tenant's own", async () => {
      const { store, all } = await sit(open)
      const other = { ...DEFAULT_POLICY, maxAttempts: 9 }
      await store.putPolicy({ tenant: TENANT, policyId: 'a', document: DEFAULT_POLICY })
      const { kind, record } = await store.putPolicy({ tenant: 'other', policyId: 'a', document: other })
      assert.deepEqual([kind, record?.version], ['created', 1])
      assert.deepEqual((await store.policy({ tenant: TENANT, policyId: 'a' }))?.document, DEFAULT_POLICY)
      assert.deepEqual(await all(page => store.policies({ tenant: 'other', ...page })), [record])
      assert.deepEqual(await all(page => store.policyVersions({ tenant: 'other', policyId: 'a', ...page })), [record])
      assert.deepEqual(await all(page => store.policies({ tenant: 'nobody', ...page })), [])
    })

    it('is written with its line of the audit, if it is another', async () => {
      const { store, all } = await sit(open)
      const audit = { tenant: TENANT, actor: 'local', action: 'policy.put', subject: 'a' }
      for (let n = 0; n < 2; n++)
        await store.putPolicy({ tenant: TENANT, policyId: 'a', document: DEFAULT_POLICY, audit })
      assert.equal((await all(page => store.auditTrail(page))).length, 1)
    })

    it('is refused where its tenant has as many as it may, and so is a version too many; the same one is not', async () => {
      const { store } = await sit(open)
      const audit = { tenant: TENANT, actor: 'local', action: 'policy.put', subject: 'a' }
      const most = { policies: 2, versions: 2 }
      const put = async (policyId: string, maxAttempts: number, tenant: string = TENANT): Promise<string> => {
        const document = { ...DEFAULT_POLICY, maxAttempts }
        const { kind, record } = await store.putPolicy({ tenant, policyId, document, most, audit })
        return `${kind} ${record?.version ?? ''}`.trim()
      }
      assert.deepEqual(
        [
          await put('a', 1),
          await put('a', 2),
          await put('a', 3),
          await put('a', 2),
          await put('b', 1),
          await put('c', 1),
        ],
        ['created 1', 'new-version 2', 'full 2', 'same 2', 'created 1', 'full'],
      )
      assert.equal(await put('c', 1, 'other'), 'created 1')
      assert.equal((await store.auditTrail({ limit: 10 })).items.length, 4)
    })

    it('that is put twice at once has one version', async () => {
      const { store, all } = await sit(open)
      const puts = [1, 2, 3].map(() => store.putPolicy({ tenant: TENANT, policyId: 'a', document: DEFAULT_POLICY }))
      const kinds = (await Promise.all(puts)).map(({ kind }) => kind)
      assert.deepEqual(kinds.toSorted(), ['created', 'same', 'same'])
      assert.equal((await all(page => store.policyVersions({ tenant: TENANT, policyId: 'a', ...page }))).length, 1)
    })

    it('is listed by name in its newest version, and its versions the newest first', async () => {
      const { store, all } = await sit(open)
      for (const policyId of ['c', 'a', 'b', 'B', 'a.1'])
        await store.putPolicy({ tenant: TENANT, policyId, document: DEFAULT_POLICY })
      for (const maxAttempts of [2, 3, 4, 5])
        await store.putPolicy({ tenant: TENANT, policyId: 'b', document: { ...DEFAULT_POLICY, maxAttempts } })
      const listed = await all(page => store.policies({ tenant: TENANT, ...page }))
      assert.deepEqual(
        listed.map(({ policyId, version }) => [policyId, version]),
        [
          ['B', 1],
          ['a', 1],
          ['a.1', 1],
          ['b', 5],
          ['c', 1],
        ],
      )
      const versions = await all(page => store.policyVersions({ tenant: TENANT, policyId: 'b', ...page }))
      assert.deepEqual(
        versions.map(({ version }) => version),
        [5, 4, 3, 2, 1],
      )
    })

    it('that nobody put is not there', async () => {
      const { store } = await sit(open)
      await store.putPolicy({ tenant: TENANT, policyId: 'a', document: DEFAULT_POLICY })
      assert.equal(await store.policy({ tenant: TENANT, policyId: 'b' }), undefined)
      assert.equal(await store.policy({ tenant: TENANT, policyId: 'a' }, 2), undefined)
      assert.equal(await store.policy({ tenant: TENANT, policyId: 'a' }, 0), undefined)
      assert.deepEqual(await store.policyVersions({ tenant: TENANT, policyId: 'b', limit: 10 }), { items: [] })
    })
  })

  describe('a sweep', () => {
    it('forgets what ended before its instants, and nothing else', async () => {
      const setting = await sit(open)
      const { ended, add, clock } = setting
      const old = [await ended(succeed), await ended(giveUp), await cancelledTask(setting)]
      const waiting = await add({ dueAt: clock.now() + 99 * DAY_MS })
      await clock.advance(1)
      const sweep = { finishedBefore: clock.now(), deadBefore: clock.now() - 1, keysBefore: clock.now(), limit: 100 }
      const fresh = [await ended(succeed), await ended(giveUp), await cancelledTask(setting)]
      assert.equal(await sweptBy(setting, sweep), 2)
      assert.deepEqual(await known(setting, old), [false, true, false])
      assert.equal(await sweptBy(setting, { ...sweep, deadBefore: clock.now() }), 1)
      assert.deepEqual(await known(setting, old), [false, false, false])
      assert.deepEqual(await known(setting, [...fresh, waiting]), [true, true, true, true])
    })

    it('keeps a task whose key still has its window, and forgets both together', async () => {
      const setting = await sit(open)
      const { store, ended, build, clock } = setting
      const tasks = [await ended(succeed, { idempotencyKey: 'a' }), await ended(giveUp, { idempotencyKey: 'b' })]
      await clock.advance(DAY_MS)
      const again = tasks.map(({ idempotencyKey }) => build({ idempotencyKey }))
      const results = async () => (await store.enqueue(again, NO_LIMITS)).results
      const sweep = { finishedBefore: clock.now(), deadBefore: clock.now(), limit: 100 }
      assert.equal(await sweptBy(setting, { ...sweep, keysBefore: clock.now() - DAY_MS }), 0)
      assert.deepEqual(
        await results(),
        tasks.map(task => ({ kind: 'existing', task })),
      )
      assert.equal(await sweptBy(setting, { ...sweep, keysBefore: clock.now() - DAY_MS + 1 }), 2)
      assert.deepEqual(await results(), [{ kind: 'created' }, { kind: 'created' }])
    })

    it('takes no more at a time than it is told, and comes to an end', async () => {
      const setting = await sit(open)
      const { store, addMany, claim, clock } = setting
      await addMany(7)
      await store.settle((await claim()).map((task, index) => (index % 2 === 0 ? succeed(task) : giveUp(task))))
      await clock.advance(10)
      const sweep = { ...everythingBefore(clock.now()), limit: 5 }
      for (let n = 0; n < 3; n++) assert.ok((await store.sweep(sweep)).swept <= 5)
      await sweptBy(setting, sweep)
      const { SUCCEEDED, EXHAUSTED } = (await store.counters()).tasks
      assert.deepEqual([SUCCEEDED, EXHAUSTED], [0, 0])
    })

    it('leaves no trace of what it took: not to a settle, a list, a count or a cause', async () => {
      const setting = await sit(open)
      const { store, addMany, claim, all, listed, clock } = setting
      const [task] = await addMany(1)
      const [claimed] = await claim()
      await store.settle([giveUp(claimed!)])
      await clock.advance(10)
      assert.equal(await sweptBy(setting, everythingBefore(clock.now())), 1)
      const { taskId } = task!
      assert.equal(await store.get(taskId), undefined)
      assert.deepEqual(await store.attempts({ taskId, limit: 10 }), { items: [] })
      assert.deepEqual((await store.settle([giveUp(claimed!)])).results, [{ kind: 'lost' }])
      assert.equal((await store.cancel(taskId)).kind, 'unknown')
      assert.deepEqual(await listed(), [])
      assert.deepEqual(await all(page => store.causes({ ...page, tenant: task!.tenant })), [])
      assert.equal((await store.counters()).tasks.EXHAUSTED, 0)
      const [lane] = await all(page => store.laneCounters(page))
      assert.deepEqual([lane?.exhausted, lane?.attempts], [0, 1])
    })

    it('spares what was replayed, and counts from its new end', async () => {
      const setting = await sit(open)
      const { store, ended, claimOne, settle, clock } = setting
      const dead = await ended(giveUp)
      await clock.advance(DAY_MS)
      await store.replay({ taskId: dead.taskId, generation: 1, progress: nextGeneration(dead, clock.now()) })
      assert.equal(await sweptBy(setting, everythingBefore(clock.now())), 0)
      await settle(giveUp(await claimOne({ queue: 'low first default' })))
      assert.equal(await sweptBy(setting, everythingBefore(clock.now())), 0)
      await clock.advance(1)
      assert.equal(await sweptBy(setting, everythingBefore(clock.now())), 1)
    })

    it('spares what still waits, however old it is', async () => {
      const setting = await sit(open)
      const { ended, get, clock } = setting
      const task = await ended(claimed => retryAt(claimed, clock.now() + 9 * DAY_MS))
      await clock.advance(5 * DAY_MS)
      assert.equal(await sweptBy(setting, everythingBefore(clock.now())), 0)
      assert.equal((await get(task)).state.status, 'PENDING')
    })
  })

  describe('time', () => {
    it('is the store’s own: a step of the wall clock makes nothing due and ends no lease', async () => {
      const { store, add, addMany, claim, clock, get } = await sit(open)
      await addMany(1)
      const [claimed] = await claim()
      const later = await add({ dueAt: clock.now() + 1_000 })
      const before = (await store.health()).now
      clock.jumpWall(DAY_MS)
      assert.deepEqual(await claim(), [])
      const { lease } = claimed!
      const { state } = await get(claimed!)
      assert.deepEqual(state, { status: 'IN_FLIGHT', lease })
      assert.deepEqual(await store.health(), { now: before, clockSkewMs: DAY_MS })
      clock.jumpWall(-3 * DAY_MS)
      assert.deepEqual(await store.health(), { now: before, clockSkewMs: -2 * DAY_MS })
      await clock.advance(1_998)
      assert.deepEqual(await claim(), [], 'ahead of the wall clock it goes at half speed')
      await clock.advance(2)
      assert.deepEqual(
        (await claim()).map(({ taskId }) => taskId),
        [later.taskId],
      )
    })

    it('that passes is in every answer', async () => {
      const { store, clock } = await sit(open)
      const before = clock.now()
      await clock.advance(12_345)
      assert.equal((await store.enqueue([], NO_LIMITS)).now, before + 12_345)
      assert.equal((await store.settle([])).now, before + 12_345)
      assert.equal((await store.release([])).now, before + 12_345)
    })
  })

  describe('a store that was closed', () => {
    it('refuses everything, with a code, and may be closed again', async () => {
      const { store, build } = await sit(open)
      await store.close()
      await store.close()
      const closed = { name: 'StoreUnavailableError', code: 'store-closed' }
      await assert.rejects(store.enqueue([build()], NO_LIMITS), closed)
      await assert.rejects(store.get('any'), closed)
      await assert.rejects(store.settle([]), closed)
      await assert.rejects(store.beat('one'), closed)
    })

    it('has finished what it was asked before', async () => {
      const { store, build } = await sit(open)
      const [answer] = await Promise.all([store.enqueue([build()], NO_LIMITS), store.close()])
      assert.deepEqual(answer.results, [{ kind: 'created' }])
    })
  })
}

function everythingBefore(instant: number): Sweep {
  return { finishedBefore: instant, deadBefore: instant, keysBefore: instant, limit: 100 }
}

/** Work per call is bounded, so that a sweep may find nothing although there is more: three empty ones are the end. */
async function sweptBy({ store }: Setting, sweep: Sweep): Promise<number> {
  let swept = 0
  for (let calls = 0, empty = 0; calls < 100 && empty < 3; calls++) {
    const answer = await store.sweep(sweep)
    swept += answer.swept
    empty = answer.swept === 0 ? empty + 1 : 0
  }
  return swept
}

async function cancelledTask({ store, add, get }: Setting): Promise<Task> {
  const task = await add()
  await store.cancel(task.taskId)
  return get(task)
}

function known({ store }: Setting, tasks: readonly { readonly taskId: string }[]): Promise<boolean[]> {
  return Promise.all(tasks.map(async ({ taskId }) => (await store.get(taskId)) !== undefined))
}
