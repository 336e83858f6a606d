import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { guarded } from '../access/guarded.test-kit.ts'
import { refusalOf, serve, TASK } from '../api.test-kit.ts'
import { seededRandom, virtualClock } from '@secondwind/resilience/testing'
import { locationsIn, uploaded } from '../../bodies/bodies.test-kit.ts'
import { openMemoryBodies } from '../../bodies/memory/memory-bodies.ts'
import { neededAfterUpload, neededForTask } from '../../bodies/needed-until.ts'
import { newTask, REQUEST, TENANT } from '../../stores/exam/tasks.test-kit.ts'
import { openMemoryStore } from '../../stores/sqlite/sqlite-store.ts'
import type { NewTask } from '../../task/accept.ts'
import type { StoredBody, TaskRequest } from '../../task/task.ts'
import { Refusal } from '../answers/refusal.ts'
import { DEFAULT_LIMITS } from '../context.ts'
import { withBodiesKept } from './hand-over.ts'

describe('a full backlog refuses', () => {
  it('more tasks than may wait, and says when to come back', async () => {
    const lane = await serve({ limits: { backlog: { perLane: 1, total: 10 } } })
    const total = await serve({ limits: { backlog: { perLane: 10, total: 1 } } })
    for (const [{ ask }, say] of [
      [lane, /for https:\/\/api\.example/],
      [total, /over all destinations and tenants/],
    ] as const) {
      await ask('POST', '/retry-tasks', { body: TASK })
      const answer = await ask('POST', '/retry-tasks', { body: TASK })
      assert.deepEqual(refusalOf(answer), [429, 'backlog-full'])
      assert.match(answer.json.detail, say)
      assert.match(answer.headers['retry-after']!, /^1\d|20$/)
    }
  })

  it('no request that came before, though the backlog is full since then', async () => {
    const { ask } = await serve({ limits: { backlog: { perLane: 1, total: 10 } } })
    const body = { ...TASK, idempotencyKey: 'k' }
    const first = await ask('POST', '/retry-tasks', { body })
    const again = await ask('POST', '/retry-tasks', { body })
    assert.deepEqual([again.status, again.json.taskId], [200, first.json.taskId])
    const other = await ask('POST', '/retry-tasks', { body: { ...body, body: '{}' } })
    assert.deepEqual(refusalOf(other), [422, 'idempotency-conflict'])
    const late = await ask('POST', '/retry-tasks', { body: { ...TASK, idempotencyKey: 'l' } })
    assert.deepEqual(refusalOf(late), [429, 'backlog-full'])
  })

  it('tasks until a beat has said that there is room again', async () => {
    const { ask, beat } = await serve({ limits: { backlog: { perLane: 1, total: 10 } } })
    const { taskId } = (await ask('POST', '/retry-tasks', { body: TASK })).json
    await ask('DELETE', `/retry-tasks/${taskId}`)
    assert.equal((await ask('POST', '/retry-tasks', { body: TASK })).status, 429)
    await beat()
    assert.equal((await ask('POST', '/retry-tasks', { body: TASK })).status, 201)
  })

  it('tasks of a tenant that has its part of the backlog, and takes in those of others', async () => {
    const limits = { backlog: { perLane: 100, total: 20 } }
    const { as, addTenant, keyFor } = await guarded({ limits })
    for (const tenant of ['busy', 'quiet']) await addTenant(tenant)
    const [busy, quiet] = [await keyFor('busy', 'enqueue'), await keyFor('quiet', 'enqueue')]
    const post = (key: string, host: string) =>
      as('POST', '/retry-tasks', { key, body: { ...TASK, targetUrl: `https://${host}.example/` } })
    let taken = 0
    for (let n = 0; n < 25; n++) if ((await post(busy, `api-${n % 5}`)).status === 201) taken++
    assert.equal(taken, 18)
    const refusal = await post(busy, 'api-9')
    assert.deepEqual(refusalOf(refusal), [429, 'backlog-full'])
    assert.match(refusal.json.detail, /kept for others/)
    assert.match(refusal.headers['retry-after']!, /^(1\d|20)$/)
    assert.equal((await post(quiet, 'api-0')).status, 201)
  })

  it('tasks for one destination more than may have some waiting, and takes those for the others', async () => {
    const { ask } = await serve({ limits: { backlog: { perLane: 100, total: 100, lanes: 1 } } })
    assert.equal((await ask('POST', '/retry-tasks', { body: TASK })).status, 201)
    const refusal = await ask('POST', '/retry-tasks', { body: { ...TASK, targetUrl: 'https://other.example/' } })
    assert.deepEqual(refusalOf(refusal), [429, 'backlog-full'])
    assert.match(refusal.json.detail, /^As many destinations have tasks waiting as may.* https:\/\/other\.example/)
    assert.match(refusal.headers['retry-after']!, /^(1\d|20)$/)
    assert.equal((await ask('POST', '/retry-tasks', { body: TASK })).status, 201)
  })

  it('tasks whose end could not be told, and says where', async () => {
    const { ask } = await serve({ limits: { backlog: { perLane: 2, total: 100 } } })
    await ask('POST', '/retry-tasks', { body: { ...TASK, targetUrl: 'https://told.example/other' } })
    const callbackUrl = 'https://told.example/ends'
    const answer = await ask('POST', '/retry-tasks', { body: { ...TASK, callbackUrl } })
    assert.deepEqual(refusalOf(answer), [429, 'backlog-full'])
    assert.match(answer.json.detail, /wait for https:\/\/told\.example that .* callbackUrl/)
    assert.match(answer.headers['retry-after']!, /^(1\d|20)$/)
    assert.equal((await ask('POST', '/retry-tasks', { body: TASK })).status, 201)
  })

  it('each item of a batch for itself', async () => {
    const { ask } = await serve({ limits: { backlog: { perLane: 2, total: 100 } } })
    const known = { ...TASK, idempotencyKey: 'k' }
    await ask('POST', '/retry-tasks', { body: known })
    const batch = [TASK, TASK, known, { ...TASK, targetUrl: 'https://other.example/' }, { ...TASK, metod: 'PUT' }]
    const { json } = await ask('POST', '/retry-tasks/batch', { body: batch })
    assert.deepEqual([json.created, json.existing, json.refused], [2, 1, 2])
    assert.deepEqual(
      json.items.map((item: { result: string; problem?: { code: string } }) => item.problem?.code ?? item.result),
      ['created', 'backlog-full', 'existing', 'created', 'invalid-request'],
    )
  })
})

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
