import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { DEFAULT_POLICY } from '@secondwind/resilience'
import { laneKey, partitionOf, queueKey } from '../../task/lane.ts'
import { hintsOf, NO_LIMITS, sit, type OpenStore } from './exam.test-kit.ts'
import { asTaken, LANE, PARTITION, QUEUE, succeed } from './tasks.test-kit.ts'

export function examineIntake(open: OpenStore): void {
  describe('a task that was taken in', () => {
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
        progress: { attemptNumber: 2, previousDelayMs: 1_250, expiresAt: clock.now() + 60_000 },
        queue: { policyId: 'pay ments', kind: 'retry', rank: 'low' },
        dueAt: clock.now() + 500,
      })
      assert.deepEqual(await get(task), asTaken(task))
      assert.equal((await store.health()).now, clock.now())
    })

    it('may lack all that may be left out, and come with a policy of its own', async () => {
      const { add, get } = await sit(open)
      const plain = await add()
      const inline = await add({ policyId: 'inline', policy: { ...DEFAULT_POLICY, delaysMs: [1, 2] } })
      assert.deepEqual(await get(plain), asTaken(plain))
      assert.deepEqual(await get(inline), asTaken(inline))
    })

    it('may have an empty body, which is another than none', async () => {
      const { add, get } = await sit(open)
      const { request } = await get(await add({ request: { ...REQUEST, body: new Uint8Array() } }))
      assert.deepEqual(request.body, new Uint8Array())
    })

    it('is told of: one hint for each touched queue, with the earliest of its new due instants', async () => {
      const { store, build, clock } = await sit(open)
      const hints = hintsOf(store)
      const now = clock.now()
      const other = { tenant: 'other', destination: 'https://other.example' }
      const tasks = [
        build({ dueAt: now + 900 }),
        build({ dueAt: now + 300 }),
        build({ dueAt: now + 600 }),
        build({ ...other, dueAt: now + 1_000 }),
      ]
      await store.enqueue(tasks, NO_LIMITS)
      await hints.until(heard => heard.length >= 2)
      const queue = queueKey(QUEUE)
      assert.deepEqual(
        hints.heard.toSorted((a, b) => a.dueAt - b.dueAt),
        [
          { partition: PARTITION, lane: LANE, queue, dueAt: now + 300 },
          { partition: partitionOf(laneKey(other)), lane: laneKey(other), queue, dueAt: now + 1_000 },
        ],
      )
    })

    it('is told of only if it is new, and only to those who still listen', async () => {
      const { store, add, build, clock } = await sit(open)
      const [deaf, hints] = [hintsOf(store), hintsOf(store)]
      deaf.leave()
      const task = await add()
      await store.enqueue([task], NO_LIMITS)
      const dueAt = clock.now() + 5
      await store.enqueue([build({ dueAt })], NO_LIMITS)
      await hints.until(heard => heard.some(hint => hint.dueAt === dueAt))
      assert.equal(hints.heard.length, 2)
      assert.equal(deaf.heard.length, 0)
    })
  })

  describe('a batch', () => {
    it('is answered item by item, in order, and a bad item does not harm the others', async () => {
      const { store, add, build, get } = await sit(open)
      const before = await add({ idempotencyKey: 'a' })
      const [good, last] = [build(), build()]
      const { results } = await store.enqueue(
        [
          good,
          build({ idempotencyKey: 'a', requestHash: 'another' }),
          build({ idempotencyKey: 'a' }),
          build({ destination: 'https://full.example' }),
          last,
        ],
        { perLane: 3, total: 3 },
      )
      assert.deepEqual(results, [
        { kind: 'created' },
        { kind: 'conflict', taskId: before.taskId },
        { kind: 'existing', task: asTaken(before) },
        { kind: 'created' },
        { kind: 'full', scope: 'total' },
      ])
      assert.deepEqual(await get(good), asTaken(good))
      assert.equal(await store.get(last.taskId), undefined)
    })

    it('may be empty', async () => {
      const { store, clock } = await sit(open)
      assert.deepEqual(await store.enqueue([], NO_LIMITS), { now: clock.now(), results: [] })
    })

    it('with the same key twice makes one task', async () => {
      const { store, build, listed } = await sit(open)
      const [one, other] = [build({ idempotencyKey: 'a' }), build({ idempotencyKey: 'a' })]
      const { results } = await store.enqueue([one, other], NO_LIMITS)
      assert.deepEqual(results, [{ kind: 'created' }, { kind: 'existing', task: asTaken(one) }])
      assert.deepEqual(await listed(), [one.taskId])
    })

    it('that comes while another with the same keys is under way makes each task once', async () => {
      const { store, build, listed } = await sit(open)
      const batch = () => Array.from({ length: 20 }, (_, n) => build({ idempotencyKey: `key ${n}` }))
      const answers = await Promise.all([store.enqueue(batch(), NO_LIMITS), store.enqueue(batch(), NO_LIMITS)])
      const kinds = answers.flatMap(({ results }) => results.map(({ kind }) => kind)).toSorted()
      assert.deepEqual(kinds, [...Array(20).fill('created'), ...Array(20).fill('existing')])
      assert.equal((await listed()).length, 20)
    })

    it('that is sent again because its answer was lost makes nothing new', async () => {
      const { store, build, listed } = await sit(open)
      const batch = [build(), build({ idempotencyKey: 'a' })]
      await store.enqueue(batch, NO_LIMITS)
      const { results } = await store.enqueue(batch, NO_LIMITS)
      assert.deepEqual(
        results,
        batch.map(task => ({ kind: 'existing', task: asTaken(task) })),
      )
      assert.equal((await listed()).length, 2)
    })
  })

  describe('a key', () => {
    it('leads to its task whatever became of it', async () => {
      const { store, build, ended } = await sit(open)
      const task = await ended(succeed, { idempotencyKey: 'a' })
      const { results } = await store.enqueue([build({ idempotencyKey: 'a' })], NO_LIMITS)
      assert.deepEqual(results, [{ kind: 'existing', task }])
    })

    it("is its tenant's own", async () => {
      const { store, add, build } = await sit(open)
      await add({ idempotencyKey: 'a' })
      const { results } = await store.enqueue([build({ idempotencyKey: 'a', tenant: 'other' })], NO_LIMITS)
      assert.deepEqual(results, [{ kind: 'created' }])
    })

    it('is told from every other key: by case, by accents, by what is beyond the first 200 characters', async () => {
      const { store, build } = await sit(open)
      const keys = ['a', 'A', 'a ', 'á', 'a\u0301', `${'x'.repeat(254)}1`, `${'x'.repeat(254)}2`]
      const tasks = keys.map(idempotencyKey => build({ idempotencyKey }))
      const { results } = await store.enqueue(tasks, NO_LIMITS)
      assert.deepEqual(new Set(results.map(({ kind }) => kind)), new Set(['created']))
    })

    it('that is the id of a task without a key of its own finds that task, in its tenant', async () => {
      const { store, add, build } = await sit(open)
      const task = await add()
      const again = { idempotencyKey: task.taskId, keyGiven: true }
      const { results } = await store.enqueue(
        [
          build({ ...again, requestHash: task.requestHash }),
          build({ ...again, requestHash: 'another' }),
          build({ ...again, tenant: 'other' }),
        ],
        NO_LIMITS,
      )
      assert.deepEqual(results, [
        { kind: 'existing', task: asTaken(task) },
        { kind: 'conflict', taskId: task.taskId },
        { kind: 'created' },
      ])
    })

    it('that is the id of a task with a key of its own is a key like any other', async () => {
      const { store, add, build } = await sit(open)
      const task = await add({ idempotencyKey: 'a' })
      const { results } = await store.enqueue([build({ idempotencyKey: task.taskId, keyGiven: true })], NO_LIMITS)
      assert.deepEqual(results, [{ kind: 'created' }])
    })
  })

  describe('an id', () => {
    it('that a task has already is no other task’s, whatever its key or tenant', async () => {
      const { store, add, build, get } = await sit(open)
      const task = await add({ idempotencyKey: 'a' })
      const { taskId, requestHash } = task
      const others = [
        build({ taskId, idempotencyKey: 'b', requestHash }),
        build({ taskId, requestHash, tenant: 'other' }),
      ]
      const { results } = await store.enqueue(others, NO_LIMITS)
      assert.deepEqual(
        results,
        others.map(() => ({ kind: 'conflict', taskId })),
      )
      assert.deepEqual(await get(task), asTaken(task))
    })
  })
}

const REQUEST = { targetUrl: 'https://api.example/charge', method: 'POST', headers: {} }
