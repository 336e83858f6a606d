import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { NewTask } from '../../task/accept.ts'
import { NO_LIMITS, sit, type OpenStore } from './exam.test-kit.ts'
import { asTaken, retryAt, succeed } from './tasks.test-kit.ts'

export function examineBacklog(open: OpenStore): void {
  describe('a backlog', () => {
    it('takes so many waiting tasks of a lane and no more, those of the same batch included', async () => {
      const { store, add, build } = await sit(open)
      await add()
      const batch = [build(), build(), build({ destination: 'https://other.example' })]
      const { results } = await store.enqueue(batch, { perLane: 2, total: 100 })
      assert.deepEqual(results, [{ kind: 'created' }, { kind: 'full', scope: 'lane' }, { kind: 'created' }])
    })

    it('says that the lane is full where both are', async () => {
      const { store, add, build } = await sit(open)
      await add()
      const { results } = await store.enqueue([build()], { perLane: 1, total: 1 })
      assert.deepEqual(results, [{ kind: 'full', scope: 'lane' }])
    })

    it('keeps some of the total for other tenants, however many lanes one has, and some of that for its other lanes', async () => {
      const { store, addMany, build } = await sit(open)
      const limits = { perLane: 100, total: 20 }
      const enqueue = async (...tasks: NewTask[]): Promise<string[]> =>
        (await store.enqueue(tasks, limits)).results.map(result =>
          result.kind === 'full' ? result.scope : result.kind,
        )
      await addMany(16)
      const elsewhere = { destination: 'https://other.example' }
      assert.deepEqual(await enqueue(build(), build()), ['created', 'share'])
      assert.deepEqual(await enqueue(build(elsewhere), build(elsewhere), build()), ['created', 'share', 'share'])
      const other = { tenant: 'other' }
      assert.deepEqual(await enqueue(build(other), build(), build(other), build(other)), [
        'created',
        'share',
        'created',
        'total',
      ])
    })

    it('counts for a tenant what waits of it, and nothing that is under way or has ended', async () => {
      const { store, add, addMany, build, claim, settle } = await sit(open)
      const limits = { perLane: 100, total: 20 }
      const isTaken = async (): Promise<boolean> => {
        const task = build({ destination: 'https://other.example' })
        const [result] = (await store.enqueue([task], limits)).results
        if (result!.kind === 'created') await store.cancel(task.taskId)
        return result!.kind === 'created'
      }
      await addMany(17)
      const { taskId } = await add()
      assert.equal(await isTaken(), false)
      const [under] = await claim({ count: 1 })
      assert.equal(await isTaken(), true)
      await settle(retryAt(under!, under!.lease.endsAt))
      assert.equal(await isTaken(), false)
      await store.cancel(taskId)
      assert.equal(await isTaken(), true)
    })

    it('takes no tenant for another whose name begins like its own', async () => {
      const { store, addMany, build } = await sit(open)
      for (const tenant of ['acm', 'acme0', 'acme-1']) await addMany(6, { tenant })
      const { results } = await store.enqueue([build({ tenant: 'acme' })], { perLane: 100, total: 19 })
      assert.deepEqual(results, [{ kind: 'created' }])
    })

    it('takes in nothing more whose end is to be told in a lane that is half full', async () => {
      const { store, addMany, build } = await sit(open)
      const callbackUrl = 'https://told.example/ends'
      await addMany(4, { destination: 'https://told.example' })
      const limits = { perLane: 10, total: 100 }
      const tasks = [
        build({ callbackUrl }),
        build({ destination: 'https://told.example' }),
        build({ callbackUrl, idempotencyKey: 'a' }),
        build({ callbackUrl, tenant: 'other' }),
        build(),
      ]
      const { results } = await store.enqueue(tasks, limits)
      const created = { kind: 'created' }
      assert.deepEqual(results, [created, created, { kind: 'full', scope: 'callback' }, created, created])
      assert.equal(await store.get(tasks[2]!.taskId), undefined)
      assert.deepEqual((await store.enqueue([tasks[2]!], NO_LIMITS)).results, [created])
      const [again] = (await store.enqueue([tasks[2]!], limits)).results
      assert.equal(again!.kind, 'existing')
    })

    it('counts no task that is under way or has ended', async () => {
      const { store, add, build, claim, ended } = await sit(open)
      await ended(succeed)
      await add()
      await claim()
      const { results } = await store.enqueue([build()], { perLane: 1, total: 1 })
      assert.deepEqual(results, [{ kind: 'created' }])
    })

    it('that is full still knows the keys that it has', async () => {
      const { store, add, build } = await sit(open)
      const task = await add({ idempotencyKey: 'a' })
      const { results } = await store.enqueue([build({ idempotencyKey: 'a' })], { perLane: 1, total: 1 })
      assert.deepEqual(results, [{ kind: 'existing', task: asTaken(task) }])
    })

    it('forgets the key of what it refused', async () => {
      const { store, add, build } = await sit(open)
      await add()
      const task = build({ idempotencyKey: 'a' })
      await store.enqueue([task], { perLane: 1, total: 1 })
      assert.deepEqual((await store.enqueue([task], NO_LIMITS)).results, [{ kind: 'created' }])
    })
  })
}
