import assert from 'node:assert/strict'
import { seededRandom, virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { locationsIn, uploaded } from '../../bodies/bodies.test-kit.ts'
import { openMemoryBodies } from '../../bodies/memory/memory-bodies.ts'
import { neededAfterUpload, neededForTask } from '../../bodies/needed-until.ts'
import { newTask, REQUEST, TENANT } from '../../stores/exam/tasks.test-kit.ts'
import { openMemoryStore } from '../../stores/sqlite/sqlite-store.ts'
import type { NewTask } from '../../task/accept.ts'
import type { StoredBody, TaskRequest } from '../../task/task.ts'
import { Refusal } from '../answers/refusal.ts'
import { DEFAULT_LIMITS } from '../context.ts'
import { withBodiesKept } from './large-bodies.ts'

const HOUR_MS = 3_600_000

function setting(mostBytesOfTenant = Infinity) {
  const clock = virtualClock()
  const [store, bodies] = [openMemoryStore({ clock }), openMemoryBodies({ clock })]
  const limits = { backlog: { ...DEFAULT_LIMITS.backlog, bodyBytes: mostBytesOfTenant } }
  let last = 0
  const task = (request: Partial<TaskRequest>, budgetMs = HOUR_MS): NewTask => {
    const progress = { expiresAt: clock.now() + budgetMs }
    return newTask(++last, clock.now(), { request: { ...REQUEST, ...request }, progress })
  }
  return {
    store,
    task,
    keep: (...tasks: NewTask[]) => withBodiesKept(tasks, { store, bodies, limits, random: seededRandom(1) }),
    upload: (text: string, tenant = TENANT): Promise<StoredBody> =>
      uploaded({ store, bodies }, text, { tenant, neededUntil: neededAfterUpload(clock.now()) }),
    neededUntil: async ({ bodyRef }: StoredBody): Promise<number | undefined> => {
      const [record] = await store.bodies([{ tenant: TENANT, bodyRef }])
      return record?.neededUntil
    },
    locations: () => locationsIn(bodies),
  }
}

function taken(kept: NewTask | Refusal | undefined): NewTask {
  assert.ok(kept !== undefined && !(kept instanceof Refusal), 'the task was taken')
  return kept
}

describe('a task on its way into the store', () => {
  it('leaves a body of more than 64 KiB in a place of its own, with its type, for as long as it needs it', async () => {
    const { task, keep, store, neededUntil } = setting()
    const [small, large] = [task({ body: Buffer.alloc(65_536) }), task({ body: Buffer.alloc(65_537) })]
    const [first, second] = await keep(small, large)
    assert.equal(first, small)
    const { body, storedBody } = taken(second).request
    assert.deepEqual([body, storedBody!.sizeBytes], [null, 65_537])
    assert.equal(await neededUntil(storedBody!), neededForTask(large.progress))
    const [record] = await store.bodies([{ tenant: TENANT, bodyRef: storedBody!.bodyRef }])
    assert.equal(record!.contentType, 'application/octet-stream')
    const typed = task({ body: Buffer.alloc(70_000), headers: { 'content-type': 'image/png' } })
    const { bodyRef } = taken((await keep(typed))[0]).request.storedBody!
    assert.equal((await store.bodies([{ tenant: TENANT, bodyRef }]))[0]!.contentType, 'image/png')
  })

  it('keeps the body that it names for as long as it needs it, and never shorter than before', async () => {
    const { task, keep, upload, neededUntil } = setting()
    const storedBody = await upload('named')
    const [long, short] = [task({ storedBody }, 9 * HOUR_MS), task({ storedBody }, HOUR_MS)]
    assert.deepEqual(await keep(short, long), [short, long])
    assert.equal(await neededUntil(storedBody), neededForTask(long.progress))
    await keep(short)
    assert.equal(await neededUntil(storedBody), neededForTask(long.progress))
  })

  it('is refused if its body is gone or another tenant’s, and holds up no other', async () => {
    const { task, keep, upload } = setting()
    const [gone, theirs, mine] = [
      { bodyRef: `sha256-${'0'.repeat(64)}`, sizeBytes: 5 },
      await upload('theirs', 'other'),
      await upload('mine'),
    ]
    const kept = await keep(...[gone, theirs, mine].map(storedBody => task({ storedBody })))
    const codes = kept.map(each => (each instanceof Refusal ? [each.status, each.code] : 'taken'))
    assert.deepEqual(codes, [[422, 'body-not-found'], [422, 'body-not-found'], 'taken'])
  })

  it('is refused where its tenant has as many bytes as it can keep, and leaves none', async () => {
    const { task, keep, locations } = setting(150_000)
    const bodies = ['a', 'b', 'a'].map(letter => Buffer.alloc(80_000, letter))
    const kept = await keep(...bodies.map(body => task({ body })), task({ body: Buffer.from('small') }))
    const codes = kept.map(each => (each instanceof Refusal ? each.code : 'taken'))
    assert.deepEqual(codes, ['taken', 'bodies-full', 'taken', 'taken'])
    assert.equal((await locations()).length, 1)
  })
})
