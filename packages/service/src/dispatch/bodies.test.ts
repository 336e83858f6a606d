import assert from 'node:assert/strict'
import { verifySignature } from '@secondwind/client/signature'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import type { KeptBody } from '../bodies/body-store.ts'
import { openMemoryBodies } from '../bodies/memory/memory-bodies.ts'
import { newTask, TENANT } from '../stores/conformance/tasks.test-kit.ts'
import { openMemoryStore } from '../stores/memory/memory-store.ts'
import type { StoredBody } from '../task/task.ts'
import type { TaskEnded } from '../telemetry/events.ts'
import { Bodies } from './bodies.ts'
import type { StoreCalls } from './store-calls.ts'
import { World, type WorldOptions } from './simulation/world.test-kit.ts'

const TEXT = 'a large body '.repeat(10_000)
const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

async function setting(options: WorldOptions = {}) {
  const ended: TaskEnded[] = []
  const warnings: string[] = []
  const world = new World({
    ...options,
    events: { taskEnded: event => ended.push(event), warning: code => warnings.push(code) },
  })
  world.start()
  await world.clock.advance(20_000)
  const upload = async (text = TEXT): Promise<KeptBody> => {
    const kept = await world.bodies.put([Buffer.from(text)], 1e9)
    await world.store.putBody({ tenant: 'acme', ...kept, contentType: 'text/plain', mostBytes: 1e9 })
    return kept
  }
  const enqueue = ({ bodyRef, sizeBytes }: KeptBody) =>
    world.enqueue({
      request: {
        targetUrl: 'https://api.example/charge',
        method: 'POST',
        headers: {},
        body: null,
        storedBody: { bodyRef, sizeBytes },
      },
    })
  const sent = (): (string | null)[] =>
    world.destinations.seen.map(({ delivery: { request } }) => request.body && Buffer.from(request.body).toString())
  return { world, ended, warnings, upload, enqueue, sent }
}

describe('an attempt with a large body', () => {
  it('sends its bytes, with every attempt, and signs them', async () => {
    const { world, upload, enqueue, sent } = await setting({
      behaviourOf: (_, at) => ({ kind: 'answers', status: at < 21_000 ? 503 : 200, ms: 20 }),
      signingSecretsOf: () => [SECRET],
    })
    await enqueue(await upload())
    await world.finish(60_000)
    assert.ok(sent().length >= 2)
    for (const body of sent()) assert.equal(body, TEXT)
    const { headers } = world.destinations.seen.at(-1)!.delivery
    const ports = { clock: virtualClock({ now: world.clock.now() }) }
    await verifySignature({ headers, body: TEXT }, SECRET, { ports })
  })

  it('ends with body-missing when its bytes are gone: nothing is sent, nothing counts', async () => {
    const { world, upload, enqueue, sent, ended } = await setting()
    const kept = await upload()
    const { taskId } = await enqueue(kept)
    await world.bodies.remove(kept.location)
    await world.finish(10_000)
    const task = await world.store.get(taskId)
    assert.deepEqual(task!.state.status === 'EXHAUSTED' && task!.state.reason, 'body-missing')
    assert.equal(task!.progress.attemptNumber, 0)
    assert.deepEqual(sent(), [])
    assert.equal(ended[0]!.reason, 'body-missing')
  })

  it('ends with body-missing when its bytes are others: shorter, longer, changed', async () => {
    for (const text of ['', TEXT.slice(1), `${TEXT}!`, TEXT.replace('large', 'small')]) {
      const { world, upload, enqueue, sent } = await setting()
      const kept = await upload()
      const other = await world.bodies.put([Buffer.from(text)], 1e9)
      const changed = { tenant: 'acme', bodyRef: kept.bodyRef, sizeBytes: kept.sizeBytes, location: other.location }
      await world.store.putBody({ ...changed, contentType: 'text/plain', mostBytes: 1e9 })
      const { taskId } = await enqueue(kept)
      await world.finish(10_000)
      const task = await world.store.get(taskId)
      assert.deepEqual(task!.state.status === 'EXHAUSTED' && task!.state.reason, 'body-missing')
      assert.deepEqual(sent(), [])
    }
  })

  it('finds a body that was put again while it looked', async () => {
    const { world, upload, enqueue, sent } = await setting()
    const first = await upload()
    const read = world.bodies.read.bind(world.bodies)
    Object.assign(world.bodies, {
      read: async (location: string) => {
        if (location !== first.location) return read(location)
        await upload()
        return undefined
      },
    })
    await enqueue(first)
    await world.finish(10_000)
    assert.deepEqual(sent(), [TEXT])
  })

  it('waits when its bytes cannot be read now, and burns no attempt', async () => {
    const { world, upload, enqueue, sent, warnings } = await setting()
    const read = world.bodies.read.bind(world.bodies)
    let isBroken = true
    const failure = Object.assign(new Error('too many open files'), { code: 'EMFILE' })
    Object.assign(world.bodies, { read: (at: string) => (isBroken ? Promise.reject(failure) : read(at)) })
    const { taskId } = await enqueue(await upload())
    await world.clock.advance(12_000)
    assert.deepEqual(sent(), [])
    assert.ok(warnings.length >= 1 && warnings.length <= 4, `${warnings.length} times in twelve seconds`)
    assert.ok(warnings.every(code => code === 'body-unreadable'))
    isBroken = false
    await world.finish(60_000)
    assert.deepEqual(sent(), [TEXT])
    assert.equal((await world.store.get(taskId))!.progress.attemptNumber, 1)
  })
})

describe('bodies on their way to attempts', () => {
  it('wait for each other beyond the bytes that may be in memory, and one alone never waits', async () => {
    const clock = virtualClock()
    const [store, kept] = [openMemoryStore({ clock }), openMemoryBodies({ clock })]
    const calls = { read: async (call: () => Promise<unknown>) => ({ value: await call() }) } as unknown as StoreCalls
    const bodies = new Bodies({ store, bodies: kept, calls, events: { warning() {} }, mostBytes: 100 })
    const fetched: number[] = []
    const fetch = async (bytes: number): Promise<StoredBody> => {
      const put = await kept.put([Buffer.alloc(bytes)], 1_000)
      await store.putBody({ tenant: TENANT, ...put, contentType: 'text/plain', mostBytes: 1_000 })
      void bodies.fetch(newTask(1, 0), put).then(body => fetched.push(body!.length))
      await clock.advance(1)
      return put
    }
    const [first, second, third] = [await fetch(200), await fetch(60), await fetch(40)]
    assert.deepEqual(fetched, [200])
    bodies.letGo(first)
    await clock.advance(1)
    assert.deepEqual(
      fetched.toSorted((one, other) => one - other),
      [40, 60, 200],
    )
    await fetch(30)
    assert.equal(fetched.length, 3)
    bodies.letGo(third)
    await clock.advance(1)
    assert.equal(fetched.length, 4)
    bodies.letGo(second)
  })
})
