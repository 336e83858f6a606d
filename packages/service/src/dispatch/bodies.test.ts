import assert from 'node:assert/strict'
import { verifySignature } from '@secondwind/client/signature'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import type { KeptBody } from '../bodies/body-store.ts'
import { openMemoryBodies } from '../bodies/memory/memory-bodies.ts'
import { newTask } from '../stores/exam/tasks.test-kit.ts'
import { openMemoryStore } from '../stores/sqlite/sqlite-store.ts'
import type { TaskEnded } from '../telemetry/events.ts'
import { Bodies } from './bodies.ts'
import type { StoreCalls } from './store-calls.ts'
import { World, type Accepted, type WorldOptions } from './simulation/world.test-kit.ts'

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
  const upload = (text = TEXT): Promise<KeptBody> => world.upload(text)
  const enqueue = ({ bodyRef, sizeBytes }: KeptBody) => world.enqueue({ storedBody: { bodyRef, sizeBytes } })
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

  it('is not read for a probe that another one makes already: each look would claim, read and put back the next', async () => {
    const { world, upload, enqueue } = await setting({
      behaviourOf: () => ({ kind: 'answers', status: 503, ms: 20 }),
      policy: { initialDelayMs: 100, maxDelayMs: 1_000, totalBudgetMs: 600_000, maxAttempts: 100 },
    })
    let reads = 0
    const read = world.bodies.read.bind(world.bodies)
    world.bodies.read = (...asked) => (reads++, read(...asked))
    const kept = await upload()
    for (let n = 0; n < 150; n++) await enqueue(kept)
    await world.clock.advance(60_000)
    const sent = world.destinations.seen.length
    assert.ok(sent > 100 && reads <= sent + 10, `${reads} reads for ${sent} requests`)
  })

  it('does not delay the next probe: one is sent each second, though no request is answered', async () => {
    const { world, upload, enqueue } = await setting({
      behaviourOf: () => ({ kind: 'hangs', ms: 1e9 }),
      lanes: { credit: { most: { first: 1, retry: 1, late: 1 }, probeMinMs: 1_000, probeMaxMs: 1_000 } },
      policy: { attemptTimeoutMs: 30_000, totalBudgetMs: 600_000 },
    })
    const kept = await upload()
    for (let n = 0; n < 20; n++) await enqueue(kept)
    await world.clock.advance(10_000)
    assert.ok(world.destinations.seen.length >= 10, `${world.destinations.seen.length} requests in ten seconds`)
  })

  it('ends with body-missing when its bytes are gone: nothing is sent, nothing counts', async () => {
    const { world, upload, enqueue, sent, ended } = await setting()
    const kept = await upload()
    const { taskId } = await enqueue(kept)
    await world.bodies.remove(kept.location)
    await world.finish(10_000)
    const task = await world.read(taskId)
    assert.deepEqual(task.state.status === 'EXHAUSTED' && task.state.reason, 'body-missing')
    assert.equal(task.progress.attemptNumber, 0)
    assert.deepEqual(sent(), [])
    assert.equal(ended[0]!.reason, 'body-missing')
  })

  it('ends with body-missing when its bytes are others: shorter, longer, changed', async () => {
    for (const text of ['', TEXT.slice(1), `${TEXT}!`, TEXT.replace('large', 'small')]) {
      const { world, upload, enqueue, sent } = await setting()
      const kept = await upload()
      const { location } = await upload(text)
      await world.keepBody({ ...kept, location })
      const { taskId } = await enqueue(kept)
      await world.finish(10_000)
      const task = await world.read(taskId)
      assert.deepEqual(task.state.status === 'EXHAUSTED' && task.state.reason, 'body-missing')
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

  it('is not sent when its task was cancelled while its bytes were on their way', async () => {
    const { world, upload, enqueue, sent, ended } = await setting()
    const read = world.bodies.read.bind(world.bodies)
    let goOn = (): void => {}
    const held = new Promise<void>(resolve => (goOn = resolve))
    Object.assign(world.bodies, { read: async (at: string) => held.then(() => read(at)) })
    const { taskId } = await enqueue(await upload())
    await world.clock.advance(100)
    await world.store.cancel(taskId)
    world.running[0]!.dispatcher.cut(taskId)
    goOn()
    await world.finish(10_000)
    assert.deepEqual(sent(), [])
    const task = await world.read(taskId)
    assert.deepEqual([task.state.status, task.progress.attemptNumber], ['CANCELLED', 0])
    assert.deepEqual(
      ended.map(({ status }) => status),
      ['CANCELLED'],
    )
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
    assert.equal((await world.read(taskId)).progress.attemptNumber, 1)
  })
})

/** Bodies of a tenant at a destination, on their way to attempts; `fetched` says whose came, and how long each was. */
function fetching(mostBytes: number) {
  const clock = virtualClock()
  const [store, kept] = [openMemoryStore({ clock }), openMemoryBodies({ clock })]
  const calls = { read: async (call: () => Promise<unknown>) => ({ value: await call() }) } as unknown as StoreCalls
  const bodies = new Bodies({ store, bodies: kept, calls, events: { warning() {} }, mostBytes })
  const fetched: [tenant: string, bytes: number][] = []
  const letGoes = new Map<string, () => void>()
  const fetch = async (tenant: string, bytes: number, isOfUse?: () => boolean, left?: AbortSignal): Promise<void> => {
    const put = await kept.put({ tenant, bytes: [Buffer.alloc(bytes)], mostBytes: 1_000 })
    await store.putBody({ ...put, contentType: 'text/plain', mostBytes: 1_000, neededUntil: Infinity })
    const note = async (): Promise<void> => {
      const body = await bodies.fetch({ ...newTask(1, 0), tenant }, put, isOfUse, left)
      if (typeof body !== 'object') return
      fetched.push([tenant, body.bytes.length])
      letGoes.set(`${tenant} ${bytes}`, body.letGo)
    }
    void note()
    await clock.advance(1)
  }
  const letGo = async (tenant: string, bytes: number): Promise<void> => {
    letGoes.get(`${tenant} ${bytes}`)!()
    await clock.advance(1)
  }
  return { clock, fetched, fetch, letGo }
}

describe('bodies on their way to attempts', () => {
  it('wait for each other beyond the bytes that may be in memory, and one alone never waits', async () => {
    const { fetched, fetch, letGo } = fetching(100)
    await fetch('a', 200)
    await fetch('a', 50)
    await fetch('a', 30)
    assert.deepEqual(fetched, [['a', 200]])
    await letGo('a', 200)
    assert.deepEqual(
      fetched.slice(1).toSorted(([, one], [, other]) => one - other),
      [
        ['a', 30],
        ['a', 50],
      ],
    )
    await fetch('a', 20)
    assert.equal(fetched.length, 3, 'some is kept for others')
    await letGo('a', 30)
    assert.equal(fetched.length, 4)
  })

  it('of one tenant leave room for those of another, who has its turn first', async () => {
    const { fetched, fetch, letGo } = fetching(100)
    await fetch('a', 80)
    await fetch('a', 5)
    await fetch('b', 15)
    await fetch('b', 4)
    assert.deepEqual(fetched, [
      ['a', 80],
      ['b', 15],
    ])
    await letGo('a', 80)
    assert.deepEqual(fetched.slice(2), [
      ['a', 5],
      ['b', 4],
    ])
  })

  it('are not read when nobody can use them any more, and keep no room', async () => {
    const { fetched, fetch, letGo } = fetching(100)
    await fetch('a', 200)
    let isOfUse = true
    await fetch('a', 60, () => isOfUse)
    await fetch('a', 61)
    isOfUse = false
    await letGo('a', 200)
    assert.deepEqual(fetched.slice(1), [['a', 61]])
  })
})

describe('whoever waits for room and leaves', () => {
  it('is given none, whatever stood before and behind it', async () => {
    const { fetched, fetch, letGo } = fetching(100)
    await fetch('a', 80)
    const [first, last] = [new AbortController(), new AbortController()]
    await fetch('b', 60, undefined, first.signal)
    await fetch('b', 61)
    await fetch('c', 62, undefined, last.signal)
    first.abort()
    last.abort()
    await letGo('a', 80)
    assert.deepEqual(fetched.slice(1), [['b', 61]])
  })

  it('keeps nobody waiting that would have had room without it', async () => {
    const { clock, fetched, fetch } = fetching(100)
    await fetch('a', 50)
    const left = new AbortController()
    await fetch('b', 100, undefined, left.signal)
    await fetch('c', 40)
    assert.equal(fetched.length, 1)
    left.abort()
    await clock.advance(1)
    assert.deepEqual(fetched.slice(1), [['c', 40]])
  })
})

describe('a tenant whose targets hang with large bodies', () => {
  it('keeps no other tenant waiting, however many it has', async () => {
    const [hangs, healthy] = ['https://hangs.example', 'https://healthy.example']
    const { world } = await setting({
      slots: 64,
      behaviourOf: destination =>
        destination === hangs ? { kind: 'hangs', ms: 60_000 } : { kind: 'answers', status: 200, ms: 20 },
      policy: { attemptTimeoutMs: 30_000 },
    })
    const bytes = Buffer.alloc(16_777_216)
    const uploaded = new Map<string, KeptBody>()
    const enqueue = async (tenant: string, destination: string): Promise<Accepted> => {
      const largest = uploaded.get(tenant) ?? (await world.upload(bytes, tenant))
      uploaded.set(tenant, largest)
      const request = { targetUrl: `${destination}/charge`, method: 'POST', headers: {}, body: null }
      return world.enqueue({ tenant, destination, request: { ...request, storedBody: largest } })
    }
    for (let n = 0; n < 40; n++) await enqueue('hanging', hangs)
    await world.clock.advance(1_000)
    assert.equal(world.destinations.open.size, 12, 'as many as one lane has room for')
    for (let n = 0; n < 3; n++) {
      const task = await enqueue('well', healthy)
      await world.clock.advance(1_000)
      assert.equal(await world.statusOf(task), 'SUCCEEDED')
    }
  })
})
