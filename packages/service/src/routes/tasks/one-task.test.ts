import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { laneKey } from '../../task/lane.ts'
import type { Task } from '../../task/task.ts'
import { attempt, claim, refusalOf, serve, TASK, type Served } from '../api.test-kit.ts'

const UNKNOWN = '019b76da-a800-7d8a-9c7c-5f78864da96f'
const FAILED = { outcome: { kind: 'failure', fault: 'transient' }, responseStatus: 503, errorCode: 'http-503' } as const
const REFUSED = {
  outcome: { kind: 'failure', fault: 'permanent' },
  responseStatus: 400,
  errorCode: 'http-400',
} as const
const DONE = { outcome: { kind: 'success' }, responseStatus: 200 } as const

async function withTask(body: object = {}): Promise<Served & { taskId: string; path: string }> {
  const served = await serve()
  const { json } = await served.ask('POST', '/retry-tasks', { body: { ...TASK, idempotencyKey: 'k', ...body } })
  return { ...served, taskId: json.taskId, path: `/retry-tasks/${json.taskId}` }
}

const CREDIT = { first: 20, retry: 60, late: 20 }

describe('GET /retry-tasks/{taskId}', () => {
  it('follows a task from its first attempt to its end', async () => {
    const { ask, clock, path, taskId, ...served } = await withTask()
    const at = { ...served, ask, clock }
    await attempt(at, taskId, { ...FAILED, errorMessage: 'try later' })
    const waiting = await ask('GET', path)
    assert.equal(waiting.headers.etag, `"${waiting.json.version}"`)
    assert.deepEqual([waiting.json.status, waiting.json.attemptNumber], ['PENDING', 1])
    assert.ok(waiting.json.nextAttemptAt >= clock.now())
    assert.match(waiting.json.waits, /Attempt 2/)
    assert.deepEqual(waiting.json.lastAttempt, {
      outcome: 'transient',
      responseStatus: 503,
      errorCode: 'http-503',
      errorMessage: 'try later',
    })

    await clock.advance(60_000)
    await claim(at, taskId)
    const underWay = (await ask('GET', path)).json
    assert.deepEqual([underWay.status, underWay.nextAttemptAt, underWay.waits], ['IN_FLIGHT', undefined, undefined])
  })

  it('shows how a task ended, and when', async () => {
    const one = await withTask()
    await attempt(one, one.taskId, DONE)
    const { json } = await one.ask('GET', one.path)
    assert.deepEqual([json.status, json.endedAt, json.reason], ['SUCCEEDED', one.clock.now(), undefined])
    const other = await withTask()
    await attempt(other, other.taskId, REFUSED)
    const dead = (await other.ask('GET', other.path)).json
    assert.deepEqual([dead.status, dead.reason], ['EXHAUSTED', 'permanent'])
  })

  it('answers 404 to an id that nobody has, and 400 to what is none', async () => {
    const { ask } = await serve()
    for (const [method, rest] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/attempt-now'],
      ['POST', '/replay'],
      ['GET', '/explain'],
      ['GET', '/attempts'],
    ] as const) {
      assert.deepEqual(refusalOf(await ask(method, `/retry-tasks/${UNKNOWN}${rest}`)), [404, 'task-not-found'])
      const malformed = refusalOf(await ask(method, `/retry-tasks/${UNKNOWN.toUpperCase()}${rest}`))
      assert.deepEqual(malformed, [
        400,
        'invalid-request',
        'taskId must be the id of a task: a UUID of version 7, in small letters',
      ])
    }
  })

  it('does not show the task of another tenant', async () => {
    const { ask, store, taskId } = await withTask()
    const [{ request, progress, state, ...task }] = (await store.get([taskId])) as [Task]
    const foreign = UNKNOWN
    await store.enqueue([
      {
        ...task,
        tenant: 'other',
        taskId: foreign,
        idempotencyKey: foreign,
        request,
        progress,
        queue: { policyId: 'default', kind: 'first', rank: 'normal' },
        dueAt: 1,
        requestHash: 'x',
        keyGiven: false,
      },
    ])
    assert.equal(state.status, 'PENDING')
    const headers = { 'secondwind-tenant': 'default' }
    assert.equal((await ask('GET', `/retry-tasks/${foreign}`, { headers })).status, 404)
    assert.equal((await ask('DELETE', `/retry-tasks/${foreign}`, { headers })).status, 404)
    assert.equal((await store.get([foreign]))[0]?.state.status, 'PENDING')
    assert.equal((await ask('GET', '/retry-tasks', { headers })).json.items.length, 1)
  })
})

describe('DELETE /retry-tasks/{taskId}', () => {
  it('cancels a waiting task, and says the same when it is asked again', async () => {
    const { ask, path } = await withTask()
    for (let n = 0; n < 2; n++) {
      const { status, json } = await ask('DELETE', path)
      assert.deepEqual([status, json.status], [200, 'CANCELLED'])
    }
  })

  it('marks a task that is under way, and cuts its request off', async () => {
    const served = await withTask()
    const { ask, path, taskId, cut } = served
    await claim(served, taskId)
    const { status, json } = await ask('DELETE', path)
    assert.deepEqual([status, json.status, json.cancelRequested], [202, 'IN_FLIGHT', true])
    assert.deepEqual(cut, [taskId])
    assert.equal((await ask('DELETE', path)).status, 202)
  })

  it('answers 409 to a task that has ended, with its status and what can be done', async () => {
    const served = await withTask()
    await attempt(served, served.taskId, DONE)
    const answer = await served.ask('DELETE', served.path)
    assert.deepEqual(refusalOf(answer), [409, 'wrong-status'])
    assert.deepEqual([answer.json.taskStatus, answer.json.taskId], ['SUCCEEDED', served.taskId])
    assert.match(
      answer.json.detail,
      /^It is SUCCEEDED\. A task that has ended cannot be cancelled\. .*submit a new task/,
    )
  })
})

describe('POST …/attempt-now', () => {
  it('makes a waiting task due at once', async () => {
    const { ask, path, clock } = await withTask({ delayMs: 60_000 })
    const { status, json } = await ask('POST', `${path}/attempt-now`)
    assert.deepEqual([status, json.nextAttemptAt], [200, clock.now()])
  })

  it('says which gate still holds the task', async () => {
    const { ask, path, clock, views } = await withTask({ delayMs: 60_000 })
    const lane = laneKey({ tenant: 'default', destination: 'https://api.example' })
    const until = clock.now() + 30_000
    views.set(lane, {
      lane,
      breaker: 'open',
      hold: { reason: 'retry-after', until },
      limit: 0,
      inFlight: 0,
      credit: CREDIT,
    })
    const { json } = await ask('POST', `${path}/attempt-now`)
    assert.match(json.waits, /https:\/\/api\.example asked to be left alone, for another 30 s/)
    const { json: explained } = await ask('GET', `${path}/explain`)
    assert.deepEqual(explained.hold, { reason: 'retry-after', until })
    assert.equal(explained.explanation, json.waits)
  })

  it('answers 409 unless the task waits, and names its status', async () => {
    const served = await withTask()
    await claim(served, served.taskId)
    const answer = await served.ask('POST', `${served.path}/attempt-now`)
    assert.deepEqual([answer.status, answer.json.taskStatus], [409, 'IN_FLIGHT'])
  })
})

describe('POST …/replay', () => {
  it('begins a dead letter’s next generation: attempts from 0, time from now', async () => {
    const served = await withTask()
    const { ask, path, clock } = served
    await attempt(served, served.taskId, REFUSED)
    await clock.advance(5_000)
    const { status, json } = await ask('POST', `${path}/replay`)
    assert.deepEqual([status, json.status, json.generation, json.attemptNumber], [200, 'PENDING', 2, 0])
    assert.deepEqual([json.nextAttemptAt, json.expiresAt], [clock.now(), clock.now() + 86_400_000])
    assert.deepEqual([json.taskId, json.idempotencyKey, json.reason], [served.taskId, 'k', undefined])
  })

  it('goes on with the policy that the task was accepted with, its own or a version of a named one', async () => {
    const own = await withTask({ policy: { totalBudgetMs: 1_000 } })
    await attempt(own, own.taskId, REFUSED)
    assert.equal((await own.ask('POST', `${own.path}/replay`)).json.expiresAt, own.clock.now() + 1_000)

    const served = await serve()
    const { ask } = served
    await ask('POST', '/retry-policies', { body: { policyId: 'payments', totalBudgetMs: 2_000 } })
    const { json } = await ask('POST', '/retry-tasks', { body: { ...TASK, policyId: 'payments' } })
    await attempt({ ...served, ask }, json.taskId, REFUSED)
    await ask('POST', '/retry-policies', { body: { policyId: 'payments', totalBudgetMs: 9_000 } })
    const again = (await ask('POST', `/retry-tasks/${json.taskId}/replay`)).json
    assert.deepEqual([again.policyVersion, again.expiresAt], [1, served.clock.now() + 2_000])
  })

  it('keeps a large body for as long as the next generation may need it', async () => {
    const served = await withTask({ body: 'x'.repeat(100_000), policy: { maxAttempts: 1 } })
    const { ask, path, clock, store, taskId } = served
    await attempt(served, taskId, FAILED)
    const [task] = await store.get([taskId])
    const bodyRef = task?.request.storedBody?.bodyRef ?? ''
    const neededUntil = async () => (await store.bodies([{ tenant: 'default', bodyRef }])).map(body => body.neededUntil)
    await clock.advance(10 * 86_400_000)
    const before = await neededUntil()
    const { expiresAt } = (await ask('POST', `${path}/replay`)).json
    assert.deepEqual(await neededUntil(), [expiresAt + 7 * 86_400_000])
    assert.notDeepEqual(before, await neededUntil())
  })

  it('finds no more room than a new task would: 429, and it has stayed a dead letter', async () => {
    const served = await serve({ limits: { backlog: { perLane: 1, total: 10 } } })
    const { ask } = served
    const path = `/retry-tasks/${(await ask('POST', '/retry-tasks', { body: TASK })).json.taskId}`
    await attempt(served, path.slice('/retry-tasks/'.length), REFUSED)
    await served.beat()
    assert.equal((await ask('POST', '/retry-tasks', { body: TASK })).status, 201)
    const refused = await ask('POST', `${path}/replay`)
    assert.deepEqual(refusalOf(refused), [429, 'backlog-full'])
    assert.match(refused.json.detail, /has stayed a dead letter: so many tasks wait for https:\/\/api\.example/)
    assert.equal((await ask('GET', path)).json.status, 'EXHAUSTED')
  })

  it('answers 409 unless the task is a dead letter, and names its status', async () => {
    const { ask, path } = await withTask()
    const answer = await ask('POST', `${path}/replay`)
    assert.deepEqual([answer.status, answer.json.code, answer.json.taskStatus], [409, 'wrong-status', 'PENDING'])
    assert.match(answer.json.detail, /It can be cancelled, or attempted now/)
  })
})

describe('GET …/explain', () => {
  it('says in a sentence why a task waits, and until when', async () => {
    const { ask, path, clock } = await withTask({ delayMs: 60_000 })
    const { json } = await ask('GET', `${path}/explain`)
    assert.deepEqual([json.status, json.nextAttemptAt, json.hold], ['PENDING', clock.now() + 60_000, undefined])
    assert.match(json.explanation, /\.$/)
  })

  it('names the gate that keeps retries only for those that are one', async () => {
    const served = await withTask()
    const { ask, path, views, taskId } = served
    const lane = laneKey({ tenant: 'default', destination: 'https://api.example' })
    const retry = { reason: 'breaker-open', since: 1, everyMs: 1_000, until: served.clock.now() + 1_000 } as const
    views.set(lane, { lane, breaker: 'open', kindHolds: { retry }, limit: 10, inFlight: 0, credit: CREDIT })
    assert.equal((await ask('GET', `${path}/explain`)).json.hold, undefined)
    await attempt(served, taskId, FAILED)
    assert.deepEqual((await ask('GET', `${path}/explain`)).json.hold, retry)
  })

  it('says of a task that has ended how it did', async () => {
    const served = await withTask()
    await attempt(served, served.taskId, DONE)
    const { json } = await served.ask('GET', `${served.path}/explain`)
    assert.deepEqual([json.status, json.hold], ['SUCCEEDED', undefined])
    assert.match(json.explanation, /succeeded/)
  })
})

describe('an operation without a body', () => {
  it('refuses one, instead of ignoring it', async () => {
    const { ask, path } = await withTask()
    for (const [method, rest] of [
      ['DELETE', ''],
      ['POST', '/attempt-now'],
      ['POST', '/replay'],
    ] as const) {
      assert.deepEqual(refusalOf(await ask(method, path + rest, { body: { force: true } })), [400, 'invalid-request'])
      assert.notEqual((await ask(method, path + rest, { body: '' })).status, 400)
    }
  })
})

describe('If-Match', () => {
  const changes = [
    ['DELETE', ''],
    ['POST', '/attempt-now'],
    ['POST', '/replay'],
  ] as const

  it('of another version than the present one: 412, nothing is done, and the answer says which it is', async () => {
    const { ask, path, store, taskId } = await withTask({ delayMs: 60_000 })
    for (const [method, rest] of changes) {
      const late = await ask(method, path + rest, { headers: { 'if-match': '"7"' } })
      assert.deepEqual([late.status, late.json.code, late.headers.etag], [412, 'version-changed', '"1"'])
    }
    assert.equal((await store.get([taskId]))[0]?.version, 1)
    const { headers } = await ask('GET', path)
    const cancelled = await ask('DELETE', path, { headers: { 'if-match': headers.etag! } })
    assert.deepEqual([cancelled.status, cancelled.headers.etag], [200, '"2"'])
  })

  it('that stands there twice is refused, though both say the same', async () => {
    const { raw, path, port, store, taskId } = await withTask({ delayMs: 60_000 })
    const head = `DELETE ${path} HTTP/1.1\r\nhost: localhost:${port}\r\nconnection: close\r\n`
    const heard = await raw(`${head}if-match: "1"\r\nif-match: "1"\r\n\r\n`)
    assert.match(heard, /^HTTP\/1\.1 400 .*"code":"invalid-request"/s)
    assert.equal((await store.get([taskId]))[0]?.version, 1)
  })

  it('of the present version leaves the status to be judged', async () => {
    const { ask, path } = await withTask()
    const early = await ask('POST', `${path}/replay`, { headers: { 'if-match': '"1"' } })
    assert.deepEqual([early.status, early.json.code], [409, 'wrong-status'])
  })

  it('that is no ETag of ours is refused, and not passed over', async () => {
    const { ask, path, store, taskId } = await withTask()
    for (const etag of ['1', 'W/"1"', '"x"', '*', '"1", "2"', ''])
      for (const [method, rest] of changes) {
        const { status, json } = await ask(method, path + rest, { headers: { 'if-match': etag } })
        assert.deepEqual([status, json.code, json.problems[0].at], [400, 'invalid-request', 'if-match'], etag)
      }
    assert.equal((await store.get([taskId]))[0]?.version, 1)
  })
})
