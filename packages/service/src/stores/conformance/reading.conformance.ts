import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { ClaimedTask, Task, TaskStatus } from '../../task/task.ts'
import { TASK_STATUSES } from '../../task/task.ts'
import type { PageAsk, TaskFilter, TaskStore } from '../task-store.ts'
import { sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import {
  DESTINATION,
  expireHeld,
  giveUp,
  giveUpUnsent,
  LANE,
  nextGeneration,
  PARTITION,
  QUEUE,
  retryAt,
  succeed,
  TENANT,
} from './tasks.test-kit.ts'

export function examineReading(open: OpenStore): void {
  describe('reading one', () => {
    it('finds nothing under an id that nobody has', async () => {
      const { store, build } = await sit(open)
      for (const taskId of [build().taskId, 'no id at all', '']) assert.equal(await store.get(taskId), undefined)
    })

    it('shows a task as it was then: what happens later does not change what was read', async () => {
      const { add, get, claim } = await sit(open)
      const task = await add()
      const before = await get(task)
      const copy = structuredClone(before)
      await claim()
      assert.deepEqual(before, copy)
    })

    it('lists its attempts, the first first, in pages', async () => {
      const { store, add, claimOne, settle, all, clock } = await sit(open)
      const { taskId } = await add()
      await settle(retryAt(await claimOne(), clock.now()))
      for (let n = 2; n <= 5; n++) await settle(retryAt(await claimOne({ queue: 'normal retry default' }), clock.now()))
      const rows = await all(page => store.attempts({ ...page, taskId }))
      assert.deepEqual(
        rows.map(({ attemptNumber }) => attemptNumber),
        [1, 2, 3, 4, 5],
      )
      assert.deepEqual(await store.attempts({ taskId: 'unheard-of', limit: 5 }), { items: [] })
    })
  })

  describe('a list', () => {
    it('has the newest first, each once, in pages of any size', async () => {
      const { store, addMany, all, listed } = await sit(open)
      const newestFirst = (await addMany(5)).map(({ taskId }) => taskId).toReversed()
      for (const limit of [1, 2, 5, 6]) {
        const tasks = await all(page => store.list({ ...page, filter: { tenant: TENANT } }), limit)
        assert.deepEqual(
          tasks.map(({ taskId }) => taskId),
          newestFirst,
        )
      }
      assert.deepEqual(await listed({ tenant: 'other' }), [])
    })

    it('has whole tasks, as they are', async () => {
      const { store, ended, all } = await sit(open)
      const task = await ended(giveUp, { metadata: { a: 'b' } })
      assert.deepEqual(await all(page => store.list({ ...page, filter: { tenant: TENANT } })), [task])
    })

    it('goes on where its page ended, whatever came or went meanwhile', async () => {
      const { store, addMany, add } = await sit(open)
      const tasks = await addMany(4)
      const filter = { tenant: TENANT, status: 'PENDING' } as const
      const { items, nextCursor } = await store.list({ filter, limit: 2 })
      await add()
      await store.cancel(tasks[2]!.taskId)
      await store.cancel(tasks[1]!.taskId)
      const rest = await store.list({ filter, limit: 2, cursor: nextCursor! })
      assert.deepEqual(
        [...items, ...rest.items].map(({ taskId }) => taskId),
        [tasks[3], tasks[2], tasks[0]].map(task => task!.taskId),
      )
    })

    it('is filtered by every field, and by several at once', async () => {
      const setting = await sit(open)
      const tasks = await variedTasks(setting)
      const created = [...tasks.values()].map(({ createdAt }) => createdAt)
      const [from, to] = [created[2]!, created[4]!]
      const cases: [Partial<TaskFilter>, (task: Task) => boolean][] = [
        ...TASK_STATUSES.map(statusCase),
        [{ destination: DESTINATION }, task => task.destination === DESTINATION],
        [{ destination: 'https://nowhere.example' }, () => false],
        [{ policyId: 'payments' }, task => task.policyId === 'payments'],
        [{ createdBy: 'key-1' }, task => task.createdBy === 'key-1'],
        [{ createdBy: 'key-1', policyId: 'default' }, () => false],
        [{ attemptFrom: 0 }, () => true],
        [{ attemptFrom: 1 }, task => task.progress.attemptNumber >= 1],
        [{ errorCode: 'http-503' }, task => task.lastAttempt?.errorCode === 'http-503'],
        [{ createdFrom: from }, task => task.createdAt >= from],
        [{ createdTo: to }, task => task.createdAt < to],
        [{ createdFrom: from, createdTo: to }, task => task.createdAt >= from && task.createdAt < to],
        [{ reason: 'attempts' }, task => task.state.status === 'EXHAUSTED' && task.state.reason === 'attempts'],
        [{ reason: 'attempts', status: 'PENDING' }, () => false],
        [{ causeId: 'unheard-of' }, () => false],
        [{ status: 'EXHAUSTED', policyId: 'default', errorCode: 'http-503', attemptFrom: 1 }, isDeadByDefault],
      ]
      for (const [filter, isWanted] of cases) {
        const wanted = [...tasks.values()].filter(isWanted).map(({ taskId }) => taskId)
        assert.deepEqual(await setting.listed(filter), wanted.toReversed(), JSON.stringify(filter))
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

    it('has a task without one under its id, and nobody else’s', async () => {
      const { store, add, listed } = await sit(open)
      const { taskId } = await add()
      assert.deepEqual(await listed({ idempotencyKey: taskId }), [taskId])
      assert.deepEqual(await listed({ idempotencyKey: taskId, tenant: 'other' }), [])
      const filter = { tenant: TENANT, idempotencyKey: taskId }
      assert.equal((await store.list({ filter, limit: 1 })).nextCursor, undefined, 'found in one page')
    })

    it('has it only if all else that is asked holds, too', async () => {
      const { ended, listed } = await sit(open)
      const { taskId, createdAt } = await ended(giveUp, { idempotencyKey: 'order-1' })
      const idempotencyKey = 'order-1'
      const right: Partial<TaskFilter>[] = [
        { status: 'EXHAUSTED' },
        { reason: 'attempts' },
        { createdFrom: createdAt, createdTo: createdAt + 1 },
        { endedFrom: createdAt },
        { destination: DESTINATION },
      ]
      const wrong: Partial<TaskFilter>[] = [
        { status: 'PENDING' },
        { reason: 'permanent' },
        { createdFrom: createdAt + 1 },
        { endedTo: createdAt },
        { destination: 'https://nowhere.example' },
        { causeId: 'unheard-of' },
      ]
      for (const filter of right)
        assert.deepEqual(await listed({ idempotencyKey, ...filter }), [taskId], JSON.stringify(filter))
      for (const filter of wrong)
        assert.deepEqual(await listed({ idempotencyKey, ...filter }), [], JSON.stringify(filter))
    })
  })

  describe('causes', () => {
    const causesOf = ({ store, all }: Setting, destination?: string) =>
      all(page => store.causes({ ...page, tenant: TENANT, ...(destination !== undefined && { destination }) }))

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
      assert.deepEqual(others, [])
      const { causeId, sampleTaskIds, errorMessage, ...rest } = most!
      assert.deepEqual(rest, {
        tenant: TENANT,
        destination: DESTINATION,
        reason: 'attempts',
        responseStatus: 503,
        errorCode: 'http-503',
        count: 5,
        firstAt,
        lastAt: firstAt + 400,
      })
      assert.match(errorMessage!, /^busy, ask for \d again$/)
      const ids = dead.map(({ taskId }) => taskId)
      assert.equal(new Set(sampleTaskIds).size, 3)
      assert.ok(sampleTaskIds.every(id => ids.includes(id)))
      assert.deepEqual(await listed({ causeId }), ids.toReversed())
      const at = clock.now()
      assert.deepEqual(least, {
        causeId: least!.causeId,
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

    it('go by count, however they came', async () => {
      const setting = await sit(open)
      for (const responseStatus of [500, 502, 502, 503, 503, 503, 504, 504, 504, 504])
        await setting.ended(task => giveUp(task, 'attempts', { outcome: 'transient', responseStatus }))
      assert.deepEqual(
        (await causesOf(setting)).map(({ responseStatus, count }) => [responseStatus, count]),
        [
          [504, 4],
          [503, 3],
          [502, 2],
          [500, 1],
        ],
      )
    })

    it('are apart for tenants, destinations, reasons, statuses, codes and messages', async () => {
      const setting = await sit(open)
      const { ended } = setting
      const end = { outcome: 'transient', responseStatus: 503, errorCode: 'a', errorMessage: 'm' } as const
      await ended(task => giveUp(task, 'attempts', end))
      await ended(task => giveUp(task, 'attempts', end), { tenant: 'other' })
      await ended(task => giveUp(task, 'attempts', end), { destination: 'https://other.example' })
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
      assert.equal((await causesOf(setting, 'https://other.example')).length, 1)
    })

    it('are others for tasks that a gate held until their deadline, one for each gate', async () => {
      const setting = await sit(open)
      const { store, ended, clock, get, listed } = setting
      const held = (by: 'credit' | 'paused') => (task: ClaimedTask) => expireHeld(task, { by, since: task.dueAt })
      const first = await ended(held('paused'))
      await clock.advance(1_000)
      const second = await ended(held('paused'))
      await ended(held('credit'))
      await ended(task => giveUpUnsent(task))
      const causes = await causesOf(setting)
      const counts = new Map(causes.map(({ heldBy, count }) => [heldBy, count]))
      assert.deepEqual(
        counts,
        new Map([
          ['paused', 2],
          ['credit', 1],
          [undefined, 1],
        ]),
      )
      const { causeId } = causes.find(({ heldBy }) => heldBy === 'paused')!
      assert.deepEqual(await listed({ causeId }), [second.taskId, first.taskId])
      for (const { taskId } of [first, second])
        await store.replay({ taskId, generation: 1, progress: nextGeneration(await get({ taskId }), clock.now()) })
      assert.equal((await causesOf(setting)).length, 2)
    })

    it('lose what was replayed or swept, and end with their last dead letter', async () => {
      const setting = await sit(open)
      const { store, ended, clock, listed } = setting
      const [one, other] = [await ended(giveUp), await ended(giveUp)]
      const [{ causeId } = { causeId: '' }] = await causesOf(setting)
      const replay = (task: Task) =>
        store.replay({ taskId: task.taskId, generation: 1, progress: nextGeneration(task, clock.now()) })
      await replay(one)
      const [cause] = await causesOf(setting)
      assert.deepEqual([cause?.count, cause?.sampleTaskIds], [1, [other.taskId]])
      assert.deepEqual(await listed({ causeId }), [other.taskId])
      await replay(other)
      assert.deepEqual(await causesOf(setting), [])
    })

    it('know what expired in its queue by its last attempt', async () => {
      const setting = await sit(open)
      const { store, add, take, clock } = setting
      await add({ progress: { expiresAt: clock.now() } })
      const steward = await take()
      await store.expire({ partition: PARTITION, steward, lane: LANE, queue: 'normal first default', limit: 10 })
      const [cause] = await causesOf(setting)
      assert.deepEqual([cause?.reason, cause?.count, cause?.errorCode], ['deadline', 1, undefined])
    })
  })

  describe('counters', () => {
    it('are what a count would give, in every status and lane', async () => {
      const setting = await sit(open)
      const { store, all } = setting
      await variedTasks(setting)
      const tasks = await all(page => store.list({ ...page, filter: { tenant: TENANT } }))
      assert.deepEqual((await store.counters()).tasks, countsOf(tasks))
      const lanes = await all(page => store.laneCounters(page), 1)
      assert.deepEqual(
        lanes.map(({ lane }) => lane),
        [`${TENANT} ${DESTINATION}`, `${TENANT} https://other.example`].toSorted(),
      )
      for (const { lane, pending, inFlight, succeeded, exhausted, cancelled } of lanes) {
        const counts = countsOf(tasks.filter(task => `${task.tenant} ${task.destination}` === lane))
        assert.deepEqual(
          [pending, inFlight, succeeded, exhausted, cancelled],
          [counts.PENDING, counts.IN_FLIGHT, counts.SUCCEEDED, counts.EXHAUSTED, counts.CANCELLED],
        )
      }
    })

    it('of one destination are found, whoever has a lane there and however many lanes else', async () => {
      const { store, add, all } = await sit(open)
      for (const tenant of ['acme', 'acme-1', 'b', 'c'])
        for (const destination of ['https://a.example', 'https://b.example', 'https://c.example'])
          if (tenant !== 'b' || destination !== 'https://b.example') await add({ tenant, destination })
      const destination = 'https://b.example'
      const lanes = await all(page => store.laneCounters({ ...page, destination }), 2)
      assert.deepEqual(
        lanes.map(({ lane, pending }) => [lane, pending]),
        ['acme', 'acme-1', 'c'].map(tenant => [`${tenant} ${destination}`, 1]),
      )
      assert.deepEqual(await all(page => store.laneCounters({ ...page, destination: 'https://b.exampl' })), [])
    })

    it('of an empty store are zero', async () => {
      const { store, all } = await sit(open)
      assert.deepEqual((await store.counters()).tasks, countsOf([]))
      assert.deepEqual(await all(page => store.laneCounters(page)), [])
    })

    it('of a lane count attempts made, and first ones among them', async () => {
      const { store, add, claimOne, settle, ended, clock } = await sit(open)
      await add()
      await settle(retryAt(await claimOne(), clock.now()))
      await settle(succeed(await claimOne({ queue: 'normal retry default' })))
      await ended(succeed, { progress: { attemptNumber: 2 } })
      const [lane] = (await store.laneCounters({ limit: 10 })).items
      assert.deepEqual([lane?.attempts, lane?.firstAttempts], [3, 1])
    })

    it('are a tenant’s own, wherever its page is said to begin', async () => {
      const { store, add } = await sit(open)
      for (const tenant of ['a', 'b', 'c']) await add({ tenant })
      const { nextCursor } = await store.laneCounters({ limit: 1 })
      const { items } = await store.laneCounters({ limit: 10, tenant: 'c', cursor: nextCursor! })
      assert.deepEqual(
        items.map(({ lane }) => lane.split(' ', 1)[0]),
        ['c'],
      )
    })

    it('of lanes are one tenant’s if asked', async () => {
      const { store, add, all } = await sit(open)
      await add({ tenant: 'b' })
      await add({ tenant: 'a' })
      await add({ tenant: 'bc' })
      await add({ tenant: 'b', destination: 'https://z.example' })
      const lanes = await all(page => store.laneCounters({ ...page, tenant: 'b' }), 1)
      assert.deepEqual(
        lanes.map(({ lane }) => lane),
        [`b ${DESTINATION}`, 'b https://z.example'],
      )
    })

    it('of lanes by name are theirs, in order, and none where there is no such lane, or it is another tenant’s', async () => {
      const { store, add, all } = await sit(open)
      await add({ tenant: 'b' })
      await add({ tenant: 'b', destination: 'https://y.example' })
      await add({ tenant: 'b', destination: 'https://z.example' })
      const [first, last, none] = [`b ${DESTINATION}`, 'b https://z.example', 'b https://none.example']
      const counted = async (ask: { lanes: string[]; tenant?: string }) =>
        (await all(page => store.laneCounters({ ...page, ...ask }), 1)).map(({ lane, pending }) => [lane, pending])
      assert.deepEqual(await counted({ lanes: [first] }), [[first, 1]])
      for (const tenant of [{}, { tenant: 'b' }])
        assert.deepEqual(await counted({ lanes: [last, none, first], ...tenant }), [
          [first, 1],
          [last, 1],
        ])
      assert.deepEqual(await counted({ lanes: [first, last], tenant: 'a' }), [])
      assert.deepEqual(await counted({ lanes: [none] }), [])
      assert.deepEqual(await counted({ lanes: [] }), [])
    })
  })

  describe('a cursor', () => {
    for (const [name, read] of Object.entries(PAGED))
      it(`of ${name} that was cut, made up or belongs to another list is refused`, async () => {
        const { store, take } = await sit(open)
        await take()
        const foreign = Buffer.from(JSON.stringify(['another list', 1])).toString('base64url')
        for (const cursor of ['', 'x', '!!!', 'bnVsbA', '0', foreign, 'e30', 'W10', 'x'.repeat(100_000)])
          await assert.rejects(read(store, { limit: 2, cursor }), { code: 'invalid-cursor' }, cursor.slice(0, 20))
      })

    it('of one list is refused by the others', async () => {
      const { store, addMany, take } = await sit(open)
      await addMany(3)
      await take()
      const { nextCursor } = await store.list({ filter: { tenant: TENANT }, limit: 1 })
      const { list: _, ...others } = PAGED
      for (const [name, read] of Object.entries(others))
        await assert.rejects(read(store, { limit: 2, cursor: nextCursor! }), { code: 'invalid-cursor' }, name)
    })
  })
}

/** Every verb that answers in pages. */
const PAGED: { readonly [verb: string]: (store: TaskStore, page: PageAsk) => Promise<unknown> } = {
  list: (store, page) => store.list({ ...page, filter: { tenant: TENANT } }),
  attempts: (store, page) => store.attempts({ ...page, taskId: 'unheard-of' }),
  causes: (store, page) => store.causes({ ...page, tenant: TENANT }),
  replays: (store, page) => store.replays({ ...page, tenant: TENANT }),
  laneCounters: (store, page) => store.laneCounters(page),
  queues: (store, page) => store.queues({ ...page, partition: PARTITION }),
  leases: (store, page) => store.leases({ ...page, partition: PARTITION }),
  memories: (store, page) => store.memories({ ...page, partition: PARTITION }),
  policies: (store, page) => store.policies({ tenant: TENANT, ...page }),
  policyVersions: (store, page) => store.policyVersions({ tenant: TENANT, policyId: 'default', ...page }),
  expire: async (store, page) => {
    const { stewards } = await store.beat('one')
    const steward = stewards.find(({ partition }) => partition === PARTITION)!.token
    return store.expire({ ...page, partition: PARTITION, steward, lane: LANE, queue: 'normal first default' })
  },
}

/** At least one task in every status, of two policies and two destinations, created one second apart. */
async function variedTasks({ add, ended, claimOne, store, clock, get }: Setting): Promise<Map<string, Task>> {
  const destination = 'https://other.example'
  const steps: (() => Promise<{ readonly taskId: string }>)[] = [
    () => ended(succeed),
    () => ended(giveUp),
    () => ended(task => giveUp(task, 'permanent'), { destination, policyId: 'payments' }),
    () => ended(task => retryAt(task, clock.now() + 60_000)),
    () => add({ policyId: 'payments', createdBy: 'key-1', dueAt: clock.now() + 60_000 }),
    async () => {
      const task = await add({ destination })
      await store.cancel(task.taskId)
      return task
    },
    async () => {
      const task = await add({ destination, queue: { ...QUEUE, rank: 'low' } })
      await claimOne({ lane: `${TENANT} ${destination}`, queue: 'low first default' })
      return task
    },
  ]
  const ids: { readonly taskId: string }[] = []
  for (const step of steps) {
    ids.push(await step())
    await clock.advance(1_000)
  }
  const tasks = await Promise.all(ids.map(get))
  return new Map(tasks.map(task => [task.taskId, task]))
}

function statusCase(status: TaskStatus): [Partial<TaskFilter>, (task: Task) => boolean] {
  return [{ status }, task => task.state.status === status]
}

function isDeadByDefault({ state, policyId }: Task): boolean {
  return state.status === 'EXHAUSTED' && policyId === 'default'
}

function countsOf(tasks: readonly Task[]): { [status in TaskStatus]: number } {
  const counts = { PENDING: 0, IN_FLIGHT: 0, SUCCEEDED: 0, EXHAUSTED: 0, CANCELLED: 0 }
  for (const { state } of tasks) counts[state.status]++
  return counts
}
