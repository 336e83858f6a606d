/** The order of `keep-body.ts`, under a process that dies between any two steps, or after a step that it saw no answer of. */
import assert from 'node:assert/strict'
import { seededRandom, virtualClock, type VirtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { Refusal } from '../routes/answers/refusal.ts'
import { DEFAULT_LIMITS } from '../routes/context.ts'
import { withBodiesKept } from '../routes/tasks/hand-over.ts'
import { newTask, TENANT } from '../stores/exam/tasks.test-kit.ts'
import { openMemoryStore } from '../stores/sqlite/sqlite-store.ts'
import type { Store } from '../stores/store.ts'
import type { TaskRequest } from '../task/task.ts'
import { sweepBodies } from '../upkeep/body-sweep.ts'
import { locationsIn, uploaded } from './bodies.test-kit.ts'
import type { BodyStore } from './body-store.ts'
import { intact } from './intact.ts'
import { nameAt } from './location.ts'
import { openMemoryBodies } from './memory/memory-bodies.ts'
import { neededAfterUpload, neededForTask } from './needed-until.ts'

const DAY_MS = 86_400_000
const LARGE = Buffer.alloc(70_000, 'x')

interface Process {
  readonly store: Pick<Store, 'bodies' | 'putBody' | 'sweepBodies' | 'enqueue' | 'health'>
  readonly bodies: Pick<BodyStore, 'put' | 'remove' | 'putBefore'>
  readonly clock: VirtualClock
}

/** The steps of a process: those that it makes, and those in which it dies. */
interface Story {
  readonly before: readonly ((process: Process) => Promise<unknown>)[]
  readonly until: (process: Process) => Promise<unknown>
}

const STORIES: { readonly [name: string]: Story } = {
  'takes an upload': { before: [], until: upload },
  'takes the same upload again': { before: [upload], until: upload },
  'takes a task that brings a body': { before: [], until: bringBody },
  'takes a task that brings a body that was uploaded before': { before: [upload], until: bringBody },
  'takes a task that names a body': { before: [upload], until: nameBody },
  'takes the upload of a body that a task needs': { before: [upload, nameBody], until: upload },
  'sweeps a body that is not needed': { before: [upload, aDayLater], until: sweep },
  'sweeps, and then takes a task that brings the same body': {
    before: [upload, aDayLater],
    until: async process => {
      await sweep(process)
      await bringBody(process)
    },
  },
  'sweeps bytes that another process has left': {
    before: [upload, nameBody, ({ bodies }) => bodies.put(theBody()), aDayLater],
    until: sweep,
  },
}

describe('a process that dies between two steps', () => {
  for (const [name, { before, until }] of Object.entries(STORIES))
    it(`when it ${name} leaves bytes too long, never too short`, async () => {
      let steps = 0
      for (let hasDied = true; hasDied; steps++) {
        const { process, store, bodies, clock } = world()
        for (const step of before) await step(process)
        hasDied = await dies(until, process, steps)
        await check(store, bodies)
        await clock.advance(DAY_MS + 1)
        await sweep(process)
        await check(store, bodies)
        assert.deepEqual(
          await locationsIn(bodies),
          await allNamed(store, bodies),
          'bytes that no row names stay for ever',
        )
        await clock.advance(30 * DAY_MS)
        await sweep(process)
        assert.deepEqual(await locationsIn(bodies), [], 'bytes that no task needs stay for ever')
      }
      assert.ok(steps > 2, 'the process died at each of its steps')
    })
})

function world() {
  const clock = virtualClock()
  const [store, bodies] = [openMemoryStore({ clock }), openMemoryBodies({ clock })]
  return { process: { store, bodies, clock }, store, bodies, clock }
}

/** Each row has its bytes, and each task its row. */
async function check(store: Store, bodies: BodyStore): Promise<void> {
  const { bodyRef } = await refOfLarge()
  const [record] = await store.bodies([{ tenant: TENANT, bodyRef }])
  if (record !== undefined) {
    const chunks = await bodies.read(record.location)
    assert.ok(chunks !== undefined, 'a row without bytes')
    for await (const chunk of intact(chunks, record)) assert.ok(chunk.length > 0)
  }
  const { items } = await store.list({ filter: { tenant: TENANT }, order: 'newest-first', limit: 100 })
  for (const task of items) {
    assert.equal(task.request.storedBody?.bodyRef, bodyRef)
    assert.ok(record !== undefined && record.neededUntil >= neededForTask(task.progress), 'a task without its body')
  }
}

async function allNamed(store: Store, bodies: BodyStore): Promise<string[]> {
  const names = (await locationsIn(bodies)).flatMap(location => nameAt(location) ?? [])
  return (await store.bodies(names)).map(({ location }) => location).toSorted()
}

class Death extends Error {}

/** Whether the process was dead before it was done: it makes so many steps, and does not learn the answer of the last. */
async function dies(act: Story['until'], { store, bodies, clock }: Process, steps: number): Promise<boolean> {
  let left = steps
  const mortal = <Ports extends object>(ports: Ports): Ports =>
    new Proxy(ports, {
      get(target, name) {
        const call: unknown = Reflect.get(target, name)
        if (typeof call !== 'function' || name === 'putBefore') return call
        return async (...asked: unknown[]): Promise<unknown> => {
          if (left === 0) throw new Death()
          const answer: unknown = await Reflect.apply(call, target, asked)
          if (--left === 0) throw new Death()
          return answer
        }
      },
    })
  try {
    await act({ store: mortal(store), bodies: mortal(bodies), clock })
    return false
  } catch (error) {
    if (error instanceof Death) return true
    throw error
  }
}

function theBody() {
  return { tenant: TENANT, bytes: [LARGE], mostBytes: LARGE.length }
}

async function refOfLarge(): Promise<{ bodyRef: string; sizeBytes: number }> {
  const { bodyRef, sizeBytes } = await openMemoryBodies({ clock: virtualClock() }).put(theBody())
  return { bodyRef, sizeBytes }
}

async function upload(process: Process): Promise<void> {
  await uploaded(process, [LARGE], { tenant: TENANT, neededUntil: neededAfterUpload(process.clock.now()) })
}

async function bringBody(process: Process): Promise<void> {
  await submit({ body: LARGE }, process)
}

async function nameBody(process: Process): Promise<void> {
  await submit({ body: null, storedBody: await refOfLarge() }, process)
}

async function submit(body: Pick<TaskRequest, 'body' | 'storedBody'>, process: Process): Promise<void> {
  const request: TaskRequest = { targetUrl: 'https://api.example/', method: 'POST', headers: {}, ...body }
  const task = newTask(1, process.clock.now(), { request })
  const [kept] = await withBodiesKept([task], { ...process, limits: DEFAULT_LIMITS, random: seededRandom(1) })
  // A body that was swept before its task came is refused.
  if (kept !== undefined && !(kept instanceof Refusal)) await process.store.enqueue([kept])
}

async function aDayLater({ clock }: Process): Promise<void> {
  await clock.advance(DAY_MS + 1)
}

async function sweep(process: Process): Promise<void> {
  await sweepBodies({ ...process, signal: new AbortController().signal })
}
