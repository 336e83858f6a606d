import assert from 'node:assert/strict'
import { presets } from '@secondwind/resilience'
import { seededRandom, virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { NO_LIMITS } from '../stores/conformance/exam.test-kit.ts'
import { newTask, TENANT } from '../stores/conformance/tasks.test-kit.ts'
import { openMemoryStore } from '../stores/memory/memory-store.ts'
import type { Callback } from '../task/callback.ts'
import type { Task } from '../task/task.ts'
import { CallbackRunner } from './callback-runner.ts'

async function setting({ perLane = Infinity } = {}) {
  const clock = virtualClock()
  const store = openMemoryStore({ clock })
  const problems: unknown[] = []
  const policyId = 'default'
  const document = presets.service.retry
  const runner = new CallbackRunner({
    store,
    clock,
    random: seededRandom(1),
    now: () => clock.now(),
    backlog: { perLane, total: Infinity },
    onProblem: error => void problems.push(error),
  })
  let number = 0
  const cancelled = async (callbackUrl?: string): Promise<string> => {
    const task = newTask(++number, clock.now(), callbackUrl === undefined ? {} : { callbackUrl })
    await store.enqueue([task], NO_LIMITS)
    await store.cancel(task.taskId)
    return task.taskId
  }
  const callbackTasks = async (): Promise<readonly Task[]> => {
    const filter = { tenant: TENANT, destination: 'https://told.example' }
    return (await store.list({ filter, limit: 100 })).items
  }
  const due = async (): Promise<readonly Callback[]> => (await store.callbacks({ limit: 1_000, perLane: 1_000 })).items
  const allow = (): Promise<unknown> => store.putPolicy({ tenant: TENANT, policyId, document })
  return { clock, store, runner, problems, cancelled, callbackTasks, due, allow }
}

describe('a callback', () => {
  it('is one task, that tells of the end and asks for no callback itself', async () => {
    const { runner, cancelled, callbackTasks, allow, store } = await setting()
    await allow()
    await cancelled()
    const taskId = await cancelled('https://told.example/ends?a=b')
    assert.equal(await runner.step(), true)
    assert.equal(await runner.step(), false)
    const [task, ...others] = await callbackTasks()
    assert.equal(others.length, 0)
    const { request, callbackUrl, idempotencyKey, policyId, tenant } = task!
    assert.deepEqual([request.targetUrl, request.method], ['https://told.example/ends?a=b', 'POST'])
    assert.deepEqual(JSON.parse(Buffer.from(request.body!).toString()), {
      taskId,
      status: 'CANCELLED',
      attemptNumber: 0,
    })
    assert.deepEqual(
      [callbackUrl, idempotencyKey, policyId, tenant],
      [undefined, `callback-${taskId}-1`, 'default', TENANT],
    )
    await store.cancel(task!.taskId)
    await runner.step()
    assert.equal((await callbackTasks()).length, 1, 'no callback of a callback')
  })

  it('is made once, though its maker is cut off before it can strike it out', async () => {
    const { runner, cancelled, callbackTasks, due, allow, store } = await setting()
    await allow()
    await cancelled('https://told.example/ends')
    const callbacks = await due()
    const strike = store.strikeCallbacks.bind(store)
    store.strikeCallbacks = () => Promise.reject(new Error('cut off'))
    await assert.rejects(runner.step(), /cut off/)
    store.strikeCallbacks = strike
    assert.deepEqual(await due(), callbacks)
    await runner.step()
    assert.equal((await callbackTasks()).length, 1)
    assert.deepEqual(await due(), [])
  })

  it('stays due while there is no room for it, or no policy to send it by', async () => {
    const { runner, cancelled, callbackTasks, due, allow } = await setting({ perLane: 1 })
    for (let n = 0; n < 3; n++) await cancelled('https://told.example/ends')
    await runner.step()
    assert.equal((await callbackTasks()).length, 0)
    await allow()
    await runner.step()
    assert.equal((await callbackTasks()).length, 1)
    assert.equal((await due()).length, 2)
  })

  it('lets no more tasks in that want one, once its lane is half full', async () => {
    const perLane = 20
    const { runner, callbackTasks, due, allow, clock, store } = await setting({ perLane })
    await allow()
    let number = 0
    const isTaken = async (): Promise<boolean> => {
      const task = newTask(1_000 + ++number, clock.now(), { callbackUrl: 'https://told.example/ends' })
      const [result] = (await store.enqueue([task], { perLane, total: Infinity })).results
      if (result!.kind === 'created') await store.cancel(task.taskId)
      return result!.kind === 'created'
    }
    for (let n = 0; n < 15; n++) assert.equal(await isTaken(), true)
    await runner.step()
    for (let n = 0; n < 15; n++) assert.equal(await isTaken(), false)
    assert.deepEqual([(await callbackTasks()).length, (await due()).length], [15, 0])
    for (const { taskId } of (await callbackTasks()).slice(0, 6)) await store.cancel(taskId)
    assert.equal(await isTaken(), true)
  })

  it('is made though any number of others find no room before it', async () => {
    const { runner, cancelled, callbackTasks, due, allow, clock } = await setting({ perLane: 1 })
    await allow()
    for (const full of ['https://a.example/', 'https://full.example/', 'https://z.example/'])
      for (let n = 0; n < 150; n++) await cancelled(`${full}${n}`)
    await cancelled('https://told.example/ends')
    const stop = new AbortController()
    const running = runner.run(stop.signal)
    await clock.advance(1_000)
    assert.equal((await callbackTasks()).length, 1)
    assert.equal((await due()).length, 3 * 149)
    stop.abort()
    await running
  })

  it('is looked for as long as the service runs, whatever goes wrong meanwhile', async () => {
    const { runner, cancelled, callbackTasks, allow, clock, problems, store } = await setting()
    await allow()
    const stop = new AbortController()
    const running = runner.run(stop.signal)
    const callbacks = store.callbacks.bind(store)
    store.callbacks = () => Promise.reject(new Error('away'))
    await clock.advance(2_000)
    store.callbacks = callbacks
    await cancelled('https://told.example/ends')
    await clock.advance(1_000)
    assert.equal((await callbackTasks()).length, 1)
    assert.ok(problems.length > 0)
    stop.abort()
    await running
  })
})
