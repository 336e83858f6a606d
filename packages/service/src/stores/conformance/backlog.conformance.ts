import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { NewTask } from '../../task/accept.ts'
import { queueKey } from '../../task/lane.ts'
import { NO_LIMITS, sit, type OpenStore } from './exam.test-kit.ts'
import { asTaken, giveUp, nextGeneration, QUEUE, retryAt, succeed } from './tasks.test-kit.ts'

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

    it('opens so many lanes and no more, those of the same batch included; what is open takes more', async () => {
      const { store, build } = await sit(open)
      const at = (n: number): NewTask => build({ destination: `https://${n}.example` })
      const { results } = await store.enqueue([at(1), at(2), at(3), at(1), at(2)], { ...NO_LIMITS, lanes: 2 })
      const created = { kind: 'created' }
      assert.deepEqual(results, [created, created, { kind: 'full', scope: 'lanes' }, created, created])
    })

    it('keeps some of the lanes for other tenants', async () => {
      const { store, build } = await sit(open)
      const at = (n: number, tenant: string): NewTask => build({ destination: `https://${n}.example`, tenant })
      const enqueue = async (...tasks: NewTask[]): Promise<string[]> =>
        (await store.enqueue(tasks, { ...NO_LIMITS, lanes: 20 })).results.map(result =>
          result.kind === 'full' ? result.scope : result.kind,
        )
      const many = await enqueue(...Array.from({ length: 20 }, (_, n) => at(n, 'acme')))
      assert.deepEqual(many, [...Array<string>(18).fill('created'), 'lanes', 'lanes'])
      assert.deepEqual(await enqueue(at(1, 'other'), at(2, 'other'), at(3, 'other')), ['created', 'created', 'lanes'])
      assert.deepEqual(await enqueue(at(1, 'acme'), at(99, 'acme')), ['created', 'lanes'])
    })

    it('counts a lane as open until its last task has ended, however that comes about', async () => {
      const { store, add, build, claimOne, settle, clock } = await sit(open)
      const isTaken = async (): Promise<boolean> => {
        const task = build({ destination: 'https://other.example' })
        const [result] = (await store.enqueue([task], { ...NO_LIMITS, lanes: 1 })).results
        if (result!.kind === 'created') await store.cancel(task.taskId)
        return result!.kind === 'created'
      }
      assert.equal(await isTaken(), true)
      await add()
      assert.equal(await isTaken(), false)
      const first = await claimOne()
      assert.equal(await isTaken(), false, 'under way')
      await settle(retryAt(first, clock.now()))
      assert.equal(await isTaken(), false, 'waits for a retry')
      await settle(giveUp(await claimOne({ queue: queueKey({ ...QUEUE, kind: 'retry' }) })))
      assert.equal(await isTaken(), true)
    })

    it('brings no dead letter back into a lane that may not be opened, nor takes in what is to be told in one', async () => {
      const { store, add, build, ended, clock } = await sit(open)
      const dead = await ended(giveUp)
      const { taskId } = await add({ destination: 'https://other.example' })
      const limits = { ...NO_LIMITS, lanes: 1 }
      const ask = { taskId: dead.taskId, generation: 1, progress: nextGeneration(dead, clock.now()) }
      assert.equal((await store.replay({ ...ask, limits })).kind, 'full')
      assert.deepEqual((await store.replayMany([ask], limits)).results, ['full'])
      const told = build({ destination: 'https://other.example', callbackUrl: 'https://told.example/ends' })
      assert.deepEqual((await store.enqueue([told], limits)).results, [{ kind: 'full', scope: 'callback' }])
      await store.cancel(taskId)
      assert.equal((await store.replay({ ...ask, limits })).kind, 'changed')
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
