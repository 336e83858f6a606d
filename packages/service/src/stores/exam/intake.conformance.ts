import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { DEFAULT_POLICY } from '@secondwind/resilience'
import { laneKey, partitionOf } from '../../task/lane.ts'
import { sit, type OpenStore } from './exam.test-kit.ts'
import { hintsOf } from './hints.test-kit.ts'
import { asTaken, FIRSTS, LANE, PARTITION, REQUEST, succeed } from './tasks.test-kit.ts'

const CREATED = { kind: 'created' }

export function examineIntake(open: OpenStore): void {
  describe('a new task', () => {
    it('is PENDING, in version 1, and exactly as it was given', async () => {
      const { store, add, get, clock } = await sit(open)
      const task = await add({
        idempotencyKey: 'order 8812 · ü',
        policyVersion: 7,
        request: {
          targetUrl: 'https://api.example/charge?amount=1',
          method: 'PUT',
          headers: { 'content-type': 'application/octet-stream', 'x-note': 'naïve' },
          body: Uint8Array.of(0, 255, 128, 10, 13),
        },
        deadlineAt: clock.now() + 60_000,
        metadata: { order: '8812' },
        callbackUrl: 'https://told.example/ends?of=8812',
        createdBy: 'key-1',
        linkedTo: '019a8b1c-5f00-7d3e-9a41-0c2f6e5b7a2a',
        progress: { attemptNumber: 2, previousDelayMs: 1_250, expiresAt: clock.now() + 60_000 },
        queue: { policyId: 'pay ments', kind: 'retry', rank: 'low' },
        dueAt: clock.now() + 500,
      })
      assert.deepEqual(await get(task), asTaken(task))
      assert.equal((await store.health()).now, clock.now())
    })

    it('may lack every optional field, and may come with a policy of its own', async () => {
      const { add, get } = await sit(open)
      const plain = await add()
      const inline = await add({ policyId: 'inline', policy: { ...DEFAULT_POLICY, delaysMs: [1, 2] } })
      assert.deepEqual(await get(plain), asTaken(plain))
      assert.deepEqual(await get(inline), asTaken(inline))
    })

    it('may have an empty body, which is not the same as none', async () => {
      const { add, get } = await sit(open)
      const { request } = await get(await add({ request: { ...REQUEST, body: new Uint8Array() } }))
      assert.deepEqual(request.body, new Uint8Array())
    })

    it('may name a large body that the store does not know', async () => {
      const { add, get } = await sit(open)
      const task = await add({ request: { ...REQUEST, storedBody: { bodyRef: 'sha256-a', sizeBytes: 9_000_000 } } })
      assert.deepEqual((await get(task)).request, task.request)
    })

    it('gives a hint for each touched queue, not later than the first of its new due instants', async () => {
      const { store, build, clock } = await sit(open)
      const hints = hintsOf(store)
      const now = clock.now()
      const other = { tenant: 'other', destination: 'https://other.example' }
      await store.enqueue([
        build({ dueAt: now + 900 }),
        build({ dueAt: now + 300 }),
        build({ dueAt: now + 600 }),
        build({ ...other, dueAt: now + 1_000 }),
      ])
      const here = { partition: PARTITION, lane: LANE, queue: FIRSTS, dueAt: now + 300 }
      const there = { partition: partitionOf(laneKey(other)), lane: laneKey(other), queue: FIRSTS, dueAt: now + 1_000 }
      for (const hint of [here, there]) assert.equal((await hints.until(hint)).lane, hint.lane)
    })

    it('gives hints to those that still listen, and to no others', async () => {
      const { store, add, clock } = await sit(open)
      const [deaf, hints] = [hintsOf(store), hintsOf(store)]
      deaf.leave()
      await add()
      await hints.until({ partition: PARTITION, lane: LANE, queue: FIRSTS, dueAt: clock.now() })
      assert.equal(deaf.heard.length, 0)
    })
  })

  describe('a batch', () => {
    it('is answered item by item, in order, and a bad item does not harm the others', async () => {
      const { store, add, build, get } = await sit(open)
      const before = await add({ idempotencyKey: 'a' })
      const [good, last] = [build(), build()]
      const { results } = await store.enqueue([
        good,
        build({ idempotencyKey: 'a', requestHash: 'another' }),
        build({ idempotencyKey: 'a' }),
        last,
      ])
      assert.deepEqual(results, [
        CREATED,
        { kind: 'conflict', taskId: before.taskId },
        { kind: 'existing', task: asTaken(before) },
        CREATED,
      ])
      for (const task of [good, last]) assert.deepEqual(await get(task), asTaken(task))
    })

    it('may be empty', async () => {
      const { store, clock } = await sit(open)
      assert.deepEqual(await store.enqueue([]), { now: clock.now(), results: [] })
    })

    it('with the same key twice makes one task', async () => {
      const { store, build, listed } = await sit(open)
      const [one, other] = [build({ idempotencyKey: 'a' }), build({ idempotencyKey: 'a' })]
      const { results } = await store.enqueue([one, other])
      assert.deepEqual(results, [CREATED, { kind: 'existing', task: asTaken(one) }])
      assert.deepEqual(await listed(), [one.taskId])
    })

    it('that comes while another with the same keys is under way makes each task once', async () => {
      const { store, build, listed } = await sit(open)
      const batch = () => Array.from({ length: 20 }, (_, n) => build({ idempotencyKey: `key ${n}` }))
      const answers = await Promise.all([store.enqueue(batch()), store.enqueue(batch())])
      const kinds = answers.flatMap(({ results }) => results.map(({ kind }) => kind)).toSorted()
      assert.deepEqual(kinds, [...Array(20).fill('created'), ...Array(20).fill('existing')])
      assert.equal((await listed()).length, 20)
    })

    it('that is sent again because its answer was lost makes nothing new', async () => {
      const { store, build, listed } = await sit(open)
      const batch = [build(), build({ idempotencyKey: 'a' })]
      await store.enqueue(batch)
      const { results } = await store.enqueue(batch)
      const existing = batch.map(task => ({ kind: 'existing', task: asTaken(task) }))
      assert.deepEqual(results, existing)
      assert.equal((await listed()).length, 2)
    })
  })

  describe('a key', () => {
    it('leads to its task whatever became of it', async () => {
      const { store, build, ended } = await sit(open)
      const task = await ended(succeed, { idempotencyKey: 'a' })
      const { results } = await store.enqueue([build({ idempotencyKey: 'a' })])
      assert.deepEqual(results, [{ kind: 'existing', task }])
    })

    it('leads to a task under way with its lease', async () => {
      const { store, add, build, claim, get } = await sit(open)
      const { taskId } = await add({ idempotencyKey: 'a' })
      await claim()
      const { results } = await store.enqueue([build({ idempotencyKey: 'a' })])
      assert.deepEqual(results, [{ kind: 'existing', task: await get({ taskId }) }])
    })

    it("is its tenant's own", async () => {
      const { store, add, build } = await sit(open)
      await add({ idempotencyKey: 'a' })
      const { results } = await store.enqueue([build({ idempotencyKey: 'a', tenant: 'other' })])
      assert.deepEqual(results, [CREATED])
    })

    it('differs from every other key: by case, by accents, by characters beyond the first 200', async () => {
      const { store, build } = await sit(open)
      const keys = ['a', 'A', 'a ', 'á', 'a\u0301', `${'x'.repeat(254)}1`, `${'x'.repeat(254)}2`]
      const tasks = keys.map(idempotencyKey => build({ idempotencyKey }))
      const { results } = await store.enqueue(tasks)
      assert.deepEqual(new Set(results.map(({ kind }) => kind)), new Set(['created']))
    })

    it('that is the id of a task without a key of its own finds that task, in its tenant', async () => {
      const { store, add, build } = await sit(open)
      const task = await add()
      const again = { idempotencyKey: task.taskId, keyGiven: true }
      const { results } = await store.enqueue([
        build({ ...again, requestHash: task.requestHash }),
        build({ ...again, requestHash: 'another' }),
        build({ ...again, tenant: 'other' }),
      ])
      assert.deepEqual(results, [
        { kind: 'existing', task: asTaken(task) },
        { kind: 'conflict', taskId: task.taskId },
        CREATED,
      ])
    })

    it('that is the id of a task with a key of its own is a key like any other', async () => {
      const { store, add, build } = await sit(open)
      const task = await add({ idempotencyKey: 'a' })
      const { results } = await store.enqueue([build({ idempotencyKey: task.taskId, keyGiven: true })])
      assert.deepEqual(results, [CREATED])
    })
  })

  describe('an id', () => {
    it('that a task has already belongs to no other task, whatever its key or tenant', async () => {
      const { store, add, build, get } = await sit(open)
      const task = await add({ idempotencyKey: 'a' })
      const { taskId, requestHash } = task
      const { results } = await store.enqueue([
        build({ taskId, idempotencyKey: 'b', requestHash }),
        build({ taskId, requestHash, tenant: 'other' }),
      ])
      const conflict = { kind: 'conflict', taskId }
      assert.deepEqual(results, [conflict, conflict])
      assert.deepEqual(await get(task), asTaken(task))
      const keyless = await add()
      const stolen = await store.enqueue([{ ...keyless, tenant: 'other' }])
      assert.deepEqual(stolen.results, [{ kind: 'conflict', taskId: keyless.taskId }])
    })
  })

  describe('reading tasks by id', () => {
    it('answers in the order asked and leaves unknown ids out', async () => {
      const { store, add, build } = await sit(open)
      const [one, other] = [await add(), await add({ tenant: 'other' })]
      const ids = [other.taskId, build().taskId, 'no id at all', one.taskId, '']
      assert.deepEqual(await store.get(ids), [asTaken(other), asTaken(one)])
      assert.deepEqual(await store.get([]), [])
    })

    it('shows a task as it was then: later writes do not change the answer', async () => {
      const { add, get, claim } = await sit(open)
      const before = await get(await add())
      const copy = structuredClone(before)
      await claim()
      assert.deepEqual(before, copy)
    })
  })
}
