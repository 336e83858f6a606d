import assert from 'node:assert/strict'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { StoreUnavailableError } from '../../stores/store.ts'
import { openMemoryStore } from '../../stores/sqlite/sqlite-store.ts'
import { virtualClock } from '@secondwind/resilience/testing'
import { guarded } from '../access/guarded.test-kit.ts'
import { refusalOf, serve, startApi, TASK, type Served } from '../api.test-kit.ts'
import { DiskFloor } from '../../upkeep/disk-floor.ts'

describe('POST /retry-tasks', () => {
  it('answers 201 with the task, where it can be read, and its version', async () => {
    const { ask, clock } = await serve()
    const { status, headers, json } = await ask('POST', '/retry-tasks', {
      body: {
        ...TASK,
        headers: { 'Content-Type': 'application/json' },
        idempotencyKey: 'order-8812',
        metadata: { a: 'b' },
      },
    })
    assert.equal(status, 201)
    assert.equal(headers.location, `/retry-tasks/${json.taskId}`)
    assert.equal(headers.etag, '"1"')
    const { taskId, ...task } = json
    assert.match(taskId, /^[0-9a-f-]{36}$/)
    assert.deepEqual(task, {
      status: 'PENDING',
      attemptNumber: 0,
      createdBy: 'local',
      nextAttemptAt: clock.now(),
      targetUrl: 'https://api.example/charge',
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      bodyBytes: 14,
      tenant: 'default',
      destination: 'https://api.example',
      policyId: 'default',
      policyVersion: 1,
      idempotencyKey: 'order-8812',
      createdAt: clock.now(),
      expiresAt: clock.now() + 86_400_000,
      generation: 1,
      metadata: { a: 'b' },
      version: 1,
    })
    const { waits, ...read } = (await ask('GET', `/retry-tasks/${taskId}`)).json
    assert.match(waits, /Attempt 1/, 'said to those who read it')
    assert.deepEqual(read, { taskId, ...task })
  })

  it('answers only once the store has the task', async () => {
    const clock = virtualClock()
    const store = openMemoryStore({ clock })
    let finish = (): void => undefined
    const slow = {
      ...store,
      enqueue: async (...asked: Parameters<typeof store.enqueue>) => {
        await new Promise<void>(resolve => void (finish = resolve))
        return store.enqueue(...asked)
      },
    }
    const { ask } = await serve({ store: slow, clock })
    let isAnswered = false
    const answering = ask('POST', '/retry-tasks', { body: TASK }).then(answer => ((isAnswered = true), answer))
    await ask('GET', '/healthz')
    await ask('GET', '/healthz')
    assert.equal(isAnswered, false)
    finish()
    assert.equal((await answering).status, 201)
  })

  it('answers 200 with the same task to the same request with the same key, however it is written', async () => {
    const { ask } = await serve()
    const first = await ask('POST', '/retry-tasks', { body: { ...TASK, idempotencyKey: 'k' } })
    const { body, ...others } = TASK
    const bodyBase64 = Buffer.from(body).toString('base64')
    for (const again of [
      { body: { ...TASK, idempotencyKey: 'k' } },
      { body: TASK, headers: { 'idempotency-key': 'k' } },
      {
        body: { idempotencyKey: 'k', ...others, bodyBase64, policyId: 'default' },
        headers: { 'idempotency-key': 'k' },
      },
    ]) {
      const { status, headers, json } = await ask('POST', '/retry-tasks', again)
      assert.deepEqual([status, headers['idempotency-replayed'], json.taskId], [200, 'true', first.json.taskId])
    }
    assert.equal(first.headers['idempotency-replayed'], undefined)
  })

  it('answers 422 to another request with the same key, and names the task', async () => {
    const { ask } = await serve()
    const first = await ask('POST', '/retry-tasks', { body: { ...TASK, idempotencyKey: 'k' } })
    for (const other of [{ body: '{}' }, { delayMs: 1 }, { policy: {} }, { callbackUrl: TASK.targetUrl }]) {
      const answer = await ask('POST', '/retry-tasks', { body: { ...TASK, ...other, idempotencyKey: 'k' } })
      assert.deepEqual(refusalOf(answer), [422, 'idempotency-conflict'])
      assert.equal(answer.json.taskId, first.json.taskId)
    }
  })

  it('says without a key that the same POST again makes a second task, which it does', async () => {
    const { ask } = await serve()
    const [one, two] = [
      await ask('POST', '/retry-tasks', { body: TASK }),
      await ask('POST', '/retry-tasks', { body: TASK }),
    ]
    assert.match(one.json.note, /would make a second task/)
    assert.equal(one.json.idempotencyKey, one.json.taskId)
    assert.notEqual(one.json.taskId, two.json.taskId)
  })

  it('shows no secret, but sends it', async () => {
    const { ask, store } = await serve()
    const secrets = {
      authorization: 'Bearer s3cret',
      Cookie: 's3cret',
      'X-Api-Key': 's3cret',
      'Proxy-Authorization': 's3cret',
    }
    const { json, text } = await ask('POST', '/retry-tasks', {
      body: { ...TASK, headers: { ...secrets, 'x-plain': 'shown' } },
    })
    assert.ok(!text.includes('s3cret') && text.includes('shown'))
    assert.equal((await store.get([json.taskId]))[0]?.request.headers['authorization'], 'Bearer s3cret')
    for (const path of [`/retry-tasks/${json.taskId}`, '/retry-tasks']) {
      assert.ok(!(await ask('GET', path)).text.includes('s3cret'), path)
    }
  })

  it('takes a delay, an instant, a deadline and the rest of a hand-over', async () => {
    const { ask, clock } = await serve()
    const now = clock.now()
    const post = async (body: object) => (await ask('POST', '/retry-tasks', { body: { ...TASK, ...body } })).json
    assert.equal((await post({ delayMs: 5_000 })).nextAttemptAt, now + 5_000)
    assert.equal((await post({ notBefore: now + 7_000 })).nextAttemptAt, now + 7_000)
    assert.equal((await post({ deadlineAt: now + 9_000 })).expiresAt, now + 9_000)
    const handedOver = await post({ attemptsMade: 3, elapsedMs: 10_000 })
    assert.deepEqual([handedOver.attemptNumber, handedOver.expiresAt], [3, now + 86_400_000 - 10_000])
  })

  it('takes instants by the wall clock, however far the store’s has gone from it', async () => {
    const clock = virtualClock()
    const tenDaysMs = 864_000_000
    const { ask } = await serve({ clock, wallNow: () => clock.now() - tenDaysMs })
    const wallNow = clock.now() - tenDaysMs
    const body = { ...TASK, notBefore: wallNow + 60_000, deadlineAt: wallNow + 3_600_000, idempotencyKey: 'one' }
    const { status, json } = await ask('POST', '/retry-tasks', { body })
    assert.equal(status, 201)
    // A store that is ahead goes at half speed.
    assert.deepEqual([json.nextAttemptAt, json.expiresAt], [clock.now() + 30_000, clock.now() + 1_800_000])
    await clock.advance(1_000)
    assert.equal((await ask('POST', '/retry-tasks', { body })).status, 200, 'the same request')
    const late = await ask('POST', '/retry-tasks', { body: { ...TASK, deadlineAt: wallNow } })
    const say = `deadlineAt must be in the future; the service's clock says ${wallNow + 1_000}`
    assert.deepEqual(refusalOf(late), [400, 'invalid-request', say])
  })

  it('takes a policy of the task’s own, filled with the defaults of the service', async () => {
    const { ask } = await serve()
    const { json } = await ask('POST', '/retry-tasks', { body: { ...TASK, policy: { maxAttempts: 2 } } })
    assert.deepEqual([json.policyId, json.policy.maxAttempts, json.policy.maxDelayMs], ['inline', 2, 3_600_000])
  })

  it('takes the newest version of a named policy', async () => {
    const { ask } = await serve()
    for (const maxAttempts of [3, 4])
      await ask('POST', '/retry-policies', { body: { policyId: 'payments', maxAttempts } })
    const { json } = await ask('POST', '/retry-tasks', { body: { ...TASK, policyId: 'payments' } })
    assert.deepEqual([json.policyId, json.policyVersion], ['payments', 2])
  })
})

describe('POST /retry-tasks refuses', () => {
  let served: Served
  beforeAll(async () => {
    served = await startApi({ checkTarget: url => (url.includes('10.0.0.1') ? 'leads inside' : undefined) })
  })
  afterAll(() => served.close())

  const refused = async (body: unknown, headers = {}): Promise<unknown> => {
    const answer = await served.ask('POST', '/retry-tasks', { body, headers })
    assert.deepEqual((await served.store.lanes({ limit: 1 })).items, [], 'nothing was taken in')
    assert.equal(answer.headers['content-type'], 'application/problem+json; charset=utf-8')
    assert.equal(answer.headers['x-request-id'], answer.json.requestId)
    return refusalOf(answer)
  }

  it('every problem at once: of the shape, of single fields, of the policy, of fields together', async () => {
    const body = {
      metod: 'POST',
      targetUrl: 'ftp://a.example/',
      headers: { host: 'a', 'x-a': 3, 'x-b': 'a\nb' },
      body: 'x',
      bodyBase64: '?',
      policyId: 'default',
      policy: { maxAtempts: 3, multiplier: 'two' },
      delayMs: 1,
      notBefore: 1_767_225_600_000,
      deadlineAt: 1_567_225_600_000,
      metadata: { a: 1, b: 'x'.repeat(501) },
    }
    assert.deepEqual(await refused(body), [
      400,
      'invalid-request',
      'metod is an unknown field; did you mean method?',
      'headers.x-a must be a text of at most 16384 characters',
      'metadata.a must be a text of at most 500 characters',
      'metadata.b must be a text of at most 500 characters',
      'policyId and policy exclude each other',
      'delayMs and notBefore exclude each other',
      "deadlineAt must be in the future; the service's clock says 1767225600000",
      'policy.maxAtempts is an unknown field; did you mean maxAttempts?',
      'policy.multiplier must be a number from 1 to 1000',
      'targetUrl must begin with http:// or https://',
      'headers.host is made from targetUrl',
      'headers.x-b must hold no line breaks, no control characters, and nothing beyond Latin-1',
      'body and bodyBase64 exclude each other',
    ])
  })

  it('unknown fields, with what other services call them', async () => {
    assert.deepEqual(await refused({ url: 'https://a.example/', retries: 3, ttl: 1 }), [
      400,
      'invalid-request',
      'targetUrl must be given',
      'url is an unknown field; did you mean targetUrl?',
      'retries is an unknown field; did you mean policy: { "maxAttempts": … }, which counts all calls (retries + 1)?',
      'ttl is an unknown field; did you mean deadlineAt?',
    ])
  })

  it('wrong types and ranges, and a method in small letters', async () => {
    const wrong = {
      targetUrl: 3,
      method: 'post',
      headers: [],
      delayMs: -1,
      attemptsMade: 1.5,
      notBefore: 1_767_225_600,
    }
    assert.deepEqual(await refused({ ...wrong, idempotencyKey: '', policyId: 'a b' }), [
      400,
      'invalid-request',
      'targetUrl must be a text of 1 to 8192 characters',
      'method must be one of GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS; did you mean POST?',
      'headers must be an object with at most 64 entries',
      'policyId must be a name of 1 to 100 letters, digits, dots, dashes and underscores',
      'idempotencyKey must be a key of 1 to 255 visible ASCII characters, perhaps with spaces between them',
      'delayMs must be a whole number from 0 to 315576000000',
      'notBefore must be an instant in whole milliseconds since the epoch',
      'attemptsMade must be a whole number from 0 to 10000',
    ])
  })

  it('what is no object', async () => {
    for (const body of ['[]', '3', '"a"', 'null', ''])
      assert.deepEqual(await refused(body), [400, 'invalid-request', ' must be an object'], body)
  })

  it('a hand-over that leaves nothing to do, and a deadline before the first attempt', async () => {
    const { ask, clock } = await serve()
    const say = async (body: object) => refusalOf(await ask('POST', '/retry-tasks', { body: { ...TASK, ...body } }))
    assert.deepEqual(await say({ attemptsMade: 50, elapsedMs: 86_400_000 }), [
      400,
      'invalid-request',
      'attemptsMade leaves no attempt: maxAttempts of the policy is 50',
      'elapsedMs leaves no time: totalBudgetMs of the policy is 86400000',
    ])
    const firstAt = clock.now() + 1_000
    assert.deepEqual(await say({ delayMs: 1_000, deadlineAt: firstAt }), [
      400,
      'invalid-request',
      `deadlineAt must be later than the first attempt, ${firstAt}`,
    ])
    assert.deepEqual(await say({ notBefore: clock.now() + 400_000_000_000 }), [
      400,
      'invalid-request',
      'notBefore must be within ten years',
    ])
  })

  it('a policy that nobody knows, with one that may have been meant', async () => {
    assert.deepEqual(await refused({ ...TASK, policyId: 'defualt' }), [
      422,
      'policy-not-found',
      'policyId is not known here; did you mean default?',
    ])
    assert.deepEqual(await refused({ ...TASK, policyId: 'inline' }), [
      422,
      'policy-not-found',
      'policyId is none: give the document itself as policy',
    ])
  })

  it('a target that must not be called', async () => {
    assert.deepEqual(await refused({ targetUrl: 'http://10.0.0.1/' }), [
      422,
      'target-forbidden',
      'targetUrl must not be called: leads inside',
    ])
  })

  it('two keys that differ, and a key that cannot be sent', async () => {
    const field = { ...TASK, idempotencyKey: 'a' }
    assert.deepEqual(await refused(field, { 'idempotency-key': 'b' }), [
      400,
      'invalid-request',
      'idempotencyKey differs from the header Idempotency-Key: give one of them, or the same',
    ])
    assert.deepEqual(await refused(TASK, { 'idempotency-key': 'x'.repeat(256) }), [
      400,
      'invalid-request',
      'Idempotency-Key must be 1 to 255 visible ASCII characters',
    ])
  })

  it('text that no store could keep, and metadata of too many entries', async () => {
    assert.deepEqual(await refused({ ...TASK, metadata: { a: '\0', '\ud800': 'b' } }), [
      400,
      'invalid-request',
      'metadata.a must be text without NUL and without halves of surrogate pairs',
      'metadata.\ud800 must be text without NUL and without halves of surrogate pairs',
    ])
    const many = Object.fromEntries(Array.from({ length: 21 }, (_, n) => [`n${n}`, '']))
    assert.deepEqual(await refused({ ...TASK, metadata: many }), [
      400,
      'invalid-request',
      'metadata must be an object with at most 20 entries',
    ])
  })

  it('a heap of junk with its first hundred problems, however long its names are', async () => {
    const { ask } = await serve()
    const junk = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`${'x'.repeat(5_000)}${n}`, 1]))
    for (const body of [junk, { ...TASK, headers: junk }, { ...TASK, policy: junk }]) {
      const { status, json, text } = await ask('POST', '/retry-tasks', { body })
      assert.deepEqual([status, json.problems.length], [400, 100])
      assert.ok(text.length < 50_000, `${text.length}`)
    }
  })

  it('a body that is too large, before it has come in whole', async () => {
    const { ask, raw, port, clock } = await serve({ limits: { bodyBytes: 1_000 } })
    // Whoever does not send the rest is cut off after a while.
    const cutOff = async (heard: Promise<string>): Promise<string> => {
      while (clock.pending === 0) await new Promise(resolve => void setImmediate(resolve))
      await clock.advance(2_000)
      return heard
    }
    const large = await ask('POST', '/retry-tasks', { body: { ...TASK, body: 'x'.repeat(1_001) } })
    assert.deepEqual(refusalOf(large), [413, 'body-too-large'])
    const head = `POST /retry-tasks HTTP/1.1\r\nhost: localhost:${port}\r\ncontent-type: application/json\r\n`
    const answered = await cutOff(raw(`${head}content-length: 10000000\r\n\r\n{"targetUrl":`))
    assert.match(answered, /^HTTP\/1\.1 413 .*"code":"body-too-large"/s)
    const chunked = await cutOff(raw(`${head}transfer-encoding: chunked\r\n\r\n${chunk('x'.repeat(70_000))}`))
    assert.match(chunked, /^HTTP\/1\.1 413 .*"code":"body-too-large"/s)
  })

  it('tasks while the disk is nearly full, alone or in a batch, and says when to come back', async () => {
    const disk = { allBytes: 1_000_000_000, freeBytes: 500_000_000 }
    const clock = virtualClock()
    const { ask } = await serve({ clock, floor: new DiskFloor({ clock, look: async () => ({ ...disk }) }) })
    assert.equal((await ask('POST', '/retry-tasks', { body: TASK })).status, 201)
    disk.freeBytes = 0
    await clock.advance(1_000)
    for (const [path, body] of [
      ['/retry-tasks', TASK],
      ['/retry-tasks/batch', [TASK, TASK]],
    ] as const) {
      const refusal = await ask('POST', path, { body })
      assert.deepEqual(refusalOf(refusal), [503, 'store-full'])
      assert.match(refusal.headers['retry-after']!, /^\d+$/)
      assert.match(refusal.json.detail, /^The disk is nearly full: .* make room/)
    }
    assert.equal((await ask('POST', `/destinations/${encodeURIComponent('https://api.example')}/pause`)).status, 200)
  })

  it('requests that come too fast', async () => {
    const { ask, clock } = await serve({ limits: { intakePerSecond: 2 } })
    const post = () => ask('POST', '/retry-tasks', { body: TASK })
    assert.deepEqual([(await post()).status, (await post()).status], [201, 201])
    const refusal = await post()
    assert.deepEqual(refusalOf(refusal), [429, 'intake-limited'])
    assert.equal(refusal.headers['retry-after'], '1')
    await clock.advance(500)
    assert.equal((await post()).status, 201)
  })

  it('requests of a tenant that come too fast, and takes those of others', async () => {
    const { as, addTenant, keyFor, clock } = await guarded({ limits: { intakePerSecond: 20 } })
    for (const tenant of ['busy', 'quiet']) await addTenant(tenant)
    const [busy, quiet] = [await keyFor('busy', 'enqueue'), await keyFor('quiet', 'enqueue')]
    const post = async (key: string) => (await as('POST', '/retry-tasks', { key, body: TASK })).status
    for (let n = 0; n < 18; n++) assert.equal(await post(busy), 201)
    assert.equal(await post(busy), 429)
    assert.equal(await post(quiet), 201)
    await clock.advance(1_000)
    assert.deepEqual([await post(busy), await post(quiet)], [201, 201])
  })

  it('everything while the store cannot be written to, with the store’s own sentence', async () => {
    const clock = virtualClock()
    const full = {
      ...openMemoryStore({ clock }),
      enqueue: () =>
        Promise.reject(new StoreUnavailableError('store-full', 'the disk is full; make room and try again')),
    }
    const { ask } = await serve({ store: full, clock })
    const answer = await ask('POST', '/retry-tasks', { body: TASK })
    assert.deepEqual(refusalOf(answer), [503, 'store-full'])
    assert.equal(answer.json.detail, 'The disk is full; make room and try again.')
    assert.match(answer.headers['retry-after']!, /^[5-9]|10$/)
  })

  it('nothing of its own failures to the caller, and everything to the log', async () => {
    const clock = virtualClock()
    const broken = { ...openMemoryStore({ clock }), enqueue: () => Promise.reject(new Error('a bug at line 42')) }
    const { ask, log } = await serve({ store: broken, clock })
    const answer = await ask('POST', '/retry-tasks', { body: { ...TASK, headers: { authorization: 'Bearer s3cret' } } })
    assert.deepEqual(refusalOf(answer), [500, 'internal-error'])
    assert.ok(!answer.text.includes('a bug'))
    const written = log.join('')
    assert.ok(written.includes('a bug at line 42') && written.includes(answer.json.requestId))
    assert.ok(!written.includes('s3cret') && !written.includes('amount'))
  })
})

function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`
}
