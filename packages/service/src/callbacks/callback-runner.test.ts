import assert from 'node:assert/strict'
import { presets } from '@secondwind/resilience'
import { seededRandom, virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { Backlog } from '../intake/backlog.ts'
import { newTask, TENANT } from '../stores/exam/tasks.test-kit.ts'
import { openMemoryStore } from '../stores/sqlite/sqlite-store.ts'
import type { PolicyInForce } from '../task/accept.ts'
import type { Callback } from '../task/callback.ts'
import { PARTITIONS } from '../task/lane.ts'
import type { Task } from '../task/task.ts'
import { CallbackRunner } from './callback-runner.ts'

const TOLD = 'https://told.example'
const ENDS = `${TOLD}/ends`
const ALL: readonly number[] = Array.from({ length: PARTITIONS }, (_, number) => number)

async function setting({ perLane = Infinity, partitions = ALL } = {}) {
  const clock = virtualClock()
  const store = openMemoryStore({ clock })
  const backlog = new Backlog({ perLane, total: Infinity })
  const problems: unknown[] = []
  const policies = new Map<string, PolicyInForce>()
  const allow = (tenant = TENANT): void => {
    policies.set(tenant, { policyId: 'default', version: 1, document: presets.service.retry, isInline: false })
  }
  const runner = new CallbackRunner({
    store,
    clock,
    backlog,
    random: seededRandom(1),
    now: () => clock.now(),
    policies: { inForce: async ({ tenant, policyId }) => (policyId === 'default' ? policies.get(tenant) : undefined) },
    partitions: () => partitions,
    onProblem: error => void problems.push(error),
  })
  let number = 0
  const cancelled = async (callbackUrl?: string, tenant = TENANT): Promise<string> => {
    const task = newTask(++number, clock.now(), { tenant, ...(callbackUrl !== undefined && { callbackUrl }) })
    await store.enqueue([task])
    await store.cancel(task.taskId)
    return task.taskId
  }
  /** Takes in a task that wants a callback and cancels it; false where it finds no room. */
  const isTaken = async (): Promise<boolean> => {
    const task = newTask(++number, clock.now(), { callbackUrl: ENDS })
    if (backlog.verdict(task) !== undefined) return false
    backlog.taken(task)
    await store.enqueue([task])
    await store.cancel(task.taskId)
    return true
  }
  const beat = async (): Promise<void> => {
    for (let beats = 0; beats < 2; beats++)
      backlog.heard((await store.beat({ instance: 'one', largeFrom: backlog.largeFrom })).waiting)
  }
  /** As a list has them, without their bodies. */
  const callbackTasks = async (): Promise<readonly string[]> => {
    const filter = { tenant: TENANT, destination: TOLD }
    const { items } = await store.list({ filter, order: 'newest-first', limit: 100 })
    return items.map(({ taskId }) => taskId)
  }
  const due = async (): Promise<readonly Callback[]> =>
    (await store.endsToTell({ partitions: ALL, limit: 1_000, perLane: 1_000 })).items
  return { clock, store, runner, problems, cancelled, isTaken, beat, callbackTasks, due, allow }
}

describe('a callback', () => {
  it('is one task that tells the end, and asks for no callback itself', async () => {
    const { runner, cancelled, callbackTasks, allow, store } = await setting()
    allow()
    await cancelled()
    const taskId = await cancelled(`${ENDS}?a=b`)
    assert.equal(await runner.step(), true)
    assert.equal(await runner.step(), false)
    const [task, ...others] = (await store.get(await callbackTasks())) as [Task]
    assert.equal(others.length, 0)
    const { request, callbackUrl, idempotencyKey, policyId, tenant } = task
    assert.deepEqual([request.targetUrl, request.method], [`${ENDS}?a=b`, 'POST'])
    assert.deepEqual(JSON.parse(String(Buffer.from(request.body ?? []))), {
      taskId,
      status: 'CANCELLED',
      attemptNumber: 0,
    })
    assert.deepEqual(
      [callbackUrl, idempotencyKey, policyId, tenant],
      [undefined, `callback-${taskId}-1`, 'default', TENANT],
    )
    await store.cancel(task.taskId)
    await runner.step()
    assert.equal((await callbackTasks()).length, 1, 'no callback of a callback')
  })

  it('is made once, though its maker is cut off before it can say so', async () => {
    const { runner, cancelled, callbackTasks, due, allow, store } = await setting()
    allow()
    await cancelled(ENDS)
    const ends = await due()
    const endsTold = store.endsTold.bind(store)
    store.endsTold = () => Promise.reject(new Error('cut off'))
    await assert.rejects(runner.step(), /cut off/)
    store.endsTold = endsTold
    assert.deepEqual(await due(), ends)
    await runner.step()
    assert.equal((await callbackTasks()).length, 1)
    assert.deepEqual(await due(), [])
  })

  it('stays due while there is no room for it, or no policy to send it by', async () => {
    const { runner, cancelled, callbackTasks, due, allow } = await setting({ perLane: 1 })
    for (let n = 0; n < 3; n++) await cancelled(ENDS)
    assert.equal(await runner.step(), false)
    assert.equal((await callbackTasks()).length, 0)
    allow()
    assert.equal(await runner.step(), true)
    assert.equal(await runner.step(), false)
    assert.equal((await callbackTasks()).length, 1)
    assert.equal((await due()).length, 2)
  })

  it('is made by the instance that serves the partition of its task, and by no other', async () => {
    const { runner, cancelled, due, allow } = await setting({ partitions: [] })
    allow()
    await cancelled(ENDS)
    assert.equal(await runner.step(), false)
    assert.equal((await due()).length, 1)
  })

  it('lets no more tasks in that want one, once its lane is half full', async () => {
    const { runner, isTaken, beat, callbackTasks, due, allow, store } = await setting({ perLane: 20 })
    allow()
    for (let n = 0; n < 15; n++) assert.equal(await isTaken(), true)
    await runner.step()
    for (let n = 0; n < 15; n++) assert.equal(await isTaken(), false)
    assert.deepEqual([(await callbackTasks()).length, (await due()).length], [15, 0])
    for (const taskId of (await callbackTasks()).slice(0, 6)) await store.cancel(taskId)
    await beat()
    assert.equal(await isTaken(), true)
  })

  it('is made though many others find no room before it', async () => {
    const { runner, cancelled, callbackTasks, due, allow, clock } = await setting({ perLane: 1 })
    allow()
    for (const full of ['https://a.example/', 'https://full.example/', 'https://z.example/'])
      for (let n = 0; n < 150; n++) await cancelled(`${full}${n}`)
    await cancelled(ENDS)
    const stop = new AbortController()
    const running = runner.run(stop.signal)
    await clock.advance(1_000)
    assert.equal((await callbackTasks()).length, 1)
    assert.equal((await due()).length, 3 * 149)
    stop.abort()
    await running
  })

  it('is made though another tenant has no policy for the ends of any number of lanes', async () => {
    const { runner, cancelled, callbackTasks, allow } = await setting()
    allow()
    for (let n = 0; n < 1_500; n++) await cancelled(`https://${n}.example/`, 'aaa')
    await cancelled(ENDS)
    for (let steps = 0; steps < 100 && (await callbackTasks()).length === 0; steps++) await runner.step()
    assert.equal((await callbackTasks()).length, 1)
  })

  it('is made though another tenant has no policy for its own', async () => {
    const { runner, cancelled, callbackTasks, due, allow } = await setting()
    allow()
    for (let n = 0; n < 3; n++) await cancelled(ENDS, 'aaa')
    await cancelled(ENDS)
    await runner.step()
    assert.deepEqual([(await callbackTasks()).length, (await due()).length], [1, 3])
  })

  it('is looked for as long as the service runs, whatever goes wrong meanwhile', async () => {
    const { runner, cancelled, callbackTasks, allow, clock, problems, store } = await setting()
    allow()
    const stop = new AbortController()
    const running = runner.run(stop.signal)
    const endsToTell = store.endsToTell.bind(store)
    store.endsToTell = () => Promise.reject(new Error('away'))
    await clock.advance(2_000)
    store.endsToTell = endsToTell
    await cancelled(ENDS)
    await clock.advance(1_000)
    assert.equal((await callbackTasks()).length, 1)
    assert.ok(problems.length > 0)
    stop.abort()
    await running
  })
})
