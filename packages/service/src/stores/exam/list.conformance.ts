import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey, queueKey } from '../../task/lane.ts'
import type { Task, TaskStatus } from '../../task/task.ts'
import { TASK_STATUSES } from '../../task/task.ts'
import type { ListedTask, TaskFilter } from '../store.ts'
import { idsOf, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { DESTINATION, giveUp, QUEUE, REQUEST, retryAt, succeed, TENANT } from './tasks.test-kit.ts'

const NEWEST = { filter: { tenant: TENANT }, order: 'newest-first' } as const

export function examineLists(open: OpenStore): void {
  describe('a list', () => {
    it('has the newest first, each once, in pages of any size', async () => {
      const { store, addMany, all, listed } = await sit(open)
      const newestFirst = idsOf(await addMany(5)).toReversed()
      for (const limit of [1, 2, 5, 6])
        assert.deepEqual(idsOf(await all(page => store.list({ ...NEWEST, ...page }), limit)), newestFirst)
      assert.deepEqual(await listed({ tenant: 'other' }), [])
    })

    it('has tasks as they are, but without the bytes of their bodies', async () => {
      const { store, ended, all } = await sit(open)
      const storedBody = { bodyRef: 'sha256-a', sizeBytes: 9_000_000 }
      const large = await ended(giveUp, { request: { ...REQUEST, storedBody } })
      const request = { ...REQUEST, headers: { a: 'ü' }, body: Uint8Array.of(1, 2) }
      const task = await ended(giveUp, { request, metadata: { a: 'b' }, createdBy: 'key-1' })
      assert.deepEqual(await all(page => store.list({ ...NEWEST, ...page })), [withoutBody(task), withoutBody(large)])
    })

    it('goes on where its page ended, whatever came or went meanwhile', async () => {
      const setting = await sit(open)
      const { store, add, firstPage } = setting
      const tasks = [await add(), await add(), await add(), await add()] as const
      const filter = { tenant: TENANT, status: 'PENDING' } as const
      const { items, nextCursor } = await firstPage(page => store.list({ ...NEWEST, filter, ...page }))
      await add()
      for (const task of tasks) if (task.taskId !== tasks[0].taskId) await store.cancel(task.taskId)
      const rest = await setting.all(page => store.list({ ...NEWEST, filter, cursor: nextCursor, ...page }))
      assert.deepEqual(idsOf([...items, ...rest]), [...idsOf(items), tasks[0].taskId])
    })

    it('is filtered by every field, and by several at once', async () => {
      const setting = await sit(open)
      const tasks = await variedTasks(setting)
      const [from, to] = [tasks[2]?.createdAt ?? 0, tasks[4]?.createdAt ?? 0]
      const cases: [TaskFilter, (task: Task) => boolean][] = [
        ...TASK_STATUSES.filter(status => status !== 'EXHAUSTED').map(statusCase),
        [{ destination: DESTINATION }, task => task.destination === DESTINATION],
        [{ destination: 'https://nowhere.example' }, () => false],
        [{ policyId: 'payments' }, task => task.policyId === 'payments'],
        [{ policyId: 'payments', destination: DESTINATION }, isPayment],
        [{ attemptFrom: 0 }, () => true],
        [{ attemptFrom: 1 }, task => task.progress.attemptNumber >= 1],
        [{ errorCode: 'http-503' }, task => task.lastAttempt?.errorCode === 'http-503'],
        [{ createdFrom: from }, task => task.createdAt >= from],
        [{ createdTo: to }, task => task.createdAt < to],
        [{ createdFrom: from, createdTo: to }, task => task.createdAt >= from && task.createdAt < to],
        [{ status: 'PENDING', errorCode: 'http-503' }, isWaitingForRetry],
        [{ status: 'SUCCEEDED', errorCode: 'http-503' }, () => false],
      ]
      for (const [filter, isWanted] of cases) {
        const wanted = idsOf(tasks.filter(isWanted)).toReversed()
        assert.deepEqual(await setting.listed(filter), wanted, JSON.stringify(filter))
      }
    })

    it('is found however few of many tasks the filter fits', async () => {
      const { add, addMany, listed } = await sit(open)
      const wanted = await add({ policyId: 'payments' })
      await addMany(1_100)
      assert.deepEqual(await listed({ policyId: 'payments' }), [wanted.taskId])
      assert.deepEqual(await listed({ errorCode: 'http-503' }), [])
    })
  })

  describe('a list of waiting tasks by their next attempt', () => {
    it('goes by due instant, then by arrival, over all queues', async () => {
      const { ended, add, claim, listed, store, clock } = await sit(open)
      const now = clock.now()
      const third = await add({ dueAt: now + 3_000 })
      const fourth = await add({ dueAt: now + 3_000, queue: { ...QUEUE, rank: 'low' } })
      const second = await ended(task => retryAt(task, now + 2_000), { destination: 'https://other.example' })
      const first = await add({ dueAt: now + 60_000 })
      await store.attemptNow(first.taskId)
      await add({ destination: 'https://flies.example' })
      await claim({ lane: laneKey({ tenant: TENANT, destination: 'https://flies.example' }) })
      await add({ tenant: 'other' })
      assert.deepEqual(await listed({ status: 'PENDING' }, 'due-first'), idsOf([first, second, third, fourth]))
      const filter = { status: 'PENDING', destination: 'https://other.example' } as const
      assert.deepEqual(await listed(filter, 'due-first'), [second.taskId])
      assert.deepEqual(await listed({ status: 'PENDING', attemptFrom: 1 }, 'due-first'), [second.taskId])
    })

    it('is refused without that status', async () => {
      const { store } = await sit(open)
      for (const status of [undefined, 'EXHAUSTED', 'SUCCEEDED'] as const) {
        const filter = { tenant: TENANT, ...(status !== undefined && { status }) }
        await assert.rejects(store.list({ filter, order: 'due-first', limit: 2 }), { code: 'no-index' })
      }
    })
  })

  describe('a list by key', () => {
    it('has the one task of its tenant that was given it, however many came since', async () => {
      const { add, addMany, listed } = await sit(open)
      const wanted = await add({ idempotencyKey: 'order-1' })
      await add({ idempotencyKey: 'order-1', tenant: 'other' })
      await addMany(1_100)
      assert.deepEqual(await listed({ idempotencyKey: 'order-1' }), [wanted.taskId])
      for (const idempotencyKey of ['order', 'order-11', 'ORDER-1', ''])
        assert.deepEqual(await listed({ idempotencyKey }), [], idempotencyKey)
    })

    it('has a task without one under its id, and no task of another tenant', async () => {
      const { add, listed } = await sit(open)
      const { taskId } = await add()
      assert.deepEqual(await listed({ idempotencyKey: taskId }), [taskId])
      assert.deepEqual(await listed({ idempotencyKey: taskId, tenant: 'other' }), [])
      const keyed = await add({ idempotencyKey: 'a' })
      assert.deepEqual(await listed({ idempotencyKey: keyed.taskId }), [])
    })

    it('has it only if the rest of the filter fits, too', async () => {
      const { ended, listed } = await sit(open)
      const { taskId, createdAt } = await ended(giveUp, { idempotencyKey: 'order-1' })
      const idempotencyKey = 'order-1'
      const right: TaskFilter[] = [
        { status: 'EXHAUSTED' },
        { status: 'EXHAUSTED', reason: 'attempts', endedFrom: createdAt },
        { createdFrom: createdAt, createdTo: createdAt + 1 },
        { destination: DESTINATION },
      ]
      const wrong: TaskFilter[] = [
        { status: 'PENDING' },
        { status: 'EXHAUSTED', reason: 'permanent' },
        { status: 'EXHAUSTED', endedTo: createdAt },
        { status: 'EXHAUSTED', causeId: 'unheard-of' },
        { createdFrom: createdAt + 1 },
        { destination: 'https://nowhere.example' },
      ]
      for (const filter of right)
        assert.deepEqual(await listed({ idempotencyKey, ...filter }), [taskId], JSON.stringify(filter))
      for (const filter of wrong)
        assert.deepEqual(await listed({ idempotencyKey, ...filter }), [], JSON.stringify(filter))
    })
  })
}

function withoutBody(task: Task): ListedTask {
  const { body: _, ...request } = task.request
  return { ...task, request }
}

/** At least one task in every status, of two policies and two destinations, created one second apart. */
async function variedTasks({ add, ended, claim, store, clock, get }: Setting): Promise<Task[]> {
  const destination = 'https://other.example'
  const steps: (() => Promise<{ readonly taskId: string }>)[] = [
    () => ended(succeed),
    () => ended(giveUp),
    () => ended(task => giveUp(task, 'permanent'), { destination, policyId: 'payments' }),
    () => ended(task => retryAt(task, clock.now() + 60_000)),
    () => add({ policyId: 'payments', dueAt: clock.now() + 60_000 }),
    async () => {
      const task = await add({ destination })
      await store.cancel(task.taskId)
      return task
    },
    async () => {
      const queue = { ...QUEUE, rank: 'low' } as const
      const task = await add({ destination, queue })
      await claim({ lane: laneKey({ tenant: TENANT, destination }), queue: queueKey(queue) })
      return task
    },
  ]
  const tasks: { readonly taskId: string }[] = []
  for (const step of steps) {
    tasks.push(await step())
    await clock.advance(1_000)
  }
  return Promise.all(tasks.map(get))
}

function statusCase(status: TaskStatus): [TaskFilter, (task: Task) => boolean] {
  return [{ status }, task => task.state.status === status]
}

function isPayment({ policyId, destination }: Task): boolean {
  return policyId === 'payments' && destination === DESTINATION
}

function isWaitingForRetry({ state, lastAttempt }: Task): boolean {
  return state.status === 'PENDING' && lastAttempt?.errorCode === 'http-503'
}
