import { virtualClock } from '@secondwind/resilience/testing'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { connect } from 'node:net'
import { describe, it, onTestFinished } from 'vitest'
import { openMemoryStore } from '../../stores/sqlite/sqlite-store.ts'
import type { BodyRecord } from '../../stores/store.ts'
import { guarded } from '../access/guarded.test-kit.ts'
import { serve, TASK, type Served } from '../api.test-kit.ts'

const LARGE = 'a large body '.repeat(10_000)
const TYPE = { 'content-type': 'text/plain; charset=utf-8' }

function refOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('hex')}`
}

async function recordOf({ store }: Served, bodyRef: string): Promise<BodyRecord | undefined> {
  const [record] = await store.bodies([{ tenant: 'default', bodyRef }])
  return record
}

const upload = ({ ask }: Served, body: string | Buffer = LARGE, headers: { readonly [name: string]: string } = TYPE) =>
  ask('POST', '/bodies', { body, headers })

describe('POST /bodies', () => {
  it('keeps the bytes under their hash, with their type; the same again is the same', async () => {
    const served = await serve()
    const first = await upload(served)
    const shown = {
      bodyRef: refOf(LARGE),
      sizeBytes: LARGE.length,
      contentType: 'text/plain; charset=utf-8',
      createdAt: served.clock.now(),
    }
    assert.deepEqual([first.status, first.json], [201, shown])
    assert.equal(first.headers.location, `/bodies/${shown.bodyRef}`)
    await served.clock.advance(1_000)
    const again = await upload(served)
    assert.deepEqual([again.status, again.json], [200, shown])
    const record = await recordOf(served, shown.bodyRef)
    assert.equal(record!.neededUntil, served.clock.now() + 86_400_000)
  })

  it('takes any type, JSON and none too, byte by byte', async () => {
    const { ask, raw, port } = await serve()
    const bytes = Buffer.from([0, 255, 10, 13, 0])
    for (const type of ['application/json', 'application/x-ndjson', 'image/png']) {
      const { json } = await ask('POST', '/bodies', { body: bytes, headers: { 'content-type': type } })
      assert.deepEqual([json.sizeBytes, json.contentType], [5, type])
    }
    const head = `POST /bodies HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\ncontent-length: 1\r\n\r\nx`
    assert.match(await raw(head), /"contentType":"application\/octet-stream"/)
  })

  it('refuses a body that is too large, by its announced length or by its bytes, and keeps nothing of it', async () => {
    const served = await serve({ limits: { uploadBytes: 10 } })
    const { raw, port } = served
    const { status, json } = await upload(served, '123456123456')
    assert.deepEqual([status, json.code], [413, 'body-too-large'])
    // More than there is ever room for is no reason to come back later.
    const narrow = await serve({ limits: { uploadBytes: 100_000, bytesUnderWay: 100_000 } })
    assert.equal((await upload(narrow, 'x'.repeat(100_001))).json.code, 'body-too-large')
    const head = `POST /bodies HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n`
    const chunked = await raw(`${head}\r\n6\r\n123456\r\n6\r\n123456\r\n0\r\n\r\n`)
    assert.match(chunked, /^HTTP\/1.1 413[^]*body-too-large/)
    assert.equal(await recordOf(served, refOf('123456123456')), undefined)
  })

  it('refuses an empty body, a compressed one, and an endless type', async () => {
    const served = await serve()
    assert.equal((await upload(served, '')).json.code, 'invalid-request')
    assert.equal(
      (await upload(served, 'x', { ...TYPE, 'content-encoding': 'gzip' })).json.code,
      'unsupported-media-type',
    )
    assert.equal((await upload(served, 'x', { 'content-type': `a/${'b'.repeat(300)}` })).json.code, 'invalid-request')
  })

  it('refuses more bytes than a tenant may have, and says when to come back', async () => {
    const served = await serve({ limits: { backlog: { perLane: 9, total: 9, bodyBytes: 10 } } })
    assert.equal((await upload(served, '12345678')).status, 201)
    const { status, json, headers } = await upload(served, '123')
    assert.deepEqual([status, json.code], [429, 'bodies-full'])
    assert.ok(Number(headers['retry-after']) > 0)
    assert.equal((await upload(served, '12345678')).status, 200)
  })

  it('counts bytes that are still to come, in fair shares, until they are there or will never be', async () => {
    const served = await serve({ limits: { uploadBytes: 1_000_000, bytesUnderWay: 1_000_000 } })
    const { port, raw } = served
    const head = `POST /bodies HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\n`
    const slow = connect({ port, host: '127.0.0.1' })
    onTestFinished(() => void slow.destroy())
    slow.write(`${head}content-length: 800000\r\n\r\n${'x'.repeat(1_000)}`)
    const isFull = async (): Promise<boolean> =>
      (await upload(served, 'y'.repeat(150_000))).json.code === 'too-many-requests'
    while (!(await isFull()));
    assert.equal((await upload(served, 'z')).status, 201)
    const unmeasured = await raw(`${head}connection: close\r\ntransfer-encoding: chunked\r\n\r\n1\r\nz\r\n0\r\n\r\n`)
    assert.match(unmeasured, /too-many-requests/)
    slow.destroy()
    while (await isFull());
  })
})

describe('GET /bodies/{bodyRef}', () => {
  it('gives the bytes back as what they were, and as nothing that a browser would run', async () => {
    const served = await serve()
    await upload(served, '<script>alert(1)</script>', { 'content-type': 'text/html' })
    const ref = refOf('<script>alert(1)</script>')
    const { status, text, headers } = await served.ask('GET', `/bodies/${ref}`)
    assert.deepEqual([status, text], [200, '<script>alert(1)</script>'])
    assert.equal(headers['content-type'], 'text/html')
    assert.equal(headers['content-disposition'], 'attachment')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.match(String(headers['content-security-policy']), /sandbox/)
    assert.equal(headers.etag, `"${ref}"`)
    const sha256 = createHash('sha256').update(text).digest('base64')
    assert.equal(headers['repr-digest'], `sha-256=:${sha256}:`)
    const head = await served.ask('HEAD', `/bodies/${ref}`)
    assert.deepEqual([head.status, head.text, head.headers.etag], [200, '', `"${ref}"`])
  })

  it('knows no body that was never uploaded, and no name that is none', async () => {
    const { ask } = await serve()
    const unknown = await ask('GET', `/bodies/${refOf('never')}`)
    assert.deepEqual([unknown.status, unknown.json.code], [404, 'body-not-found'])
    for (const name of ['..%2f..%2fetc%2fpasswd', 'sha256-abc', refOf('x').toUpperCase()])
      assert.equal((await ask('GET', `/bodies/${name}`)).json.code, 'invalid-request')
  })
})

describe('a task with a large body', () => {
  it('names one that was uploaded, and sends its type unless it gives another', async () => {
    const served = await serve()
    await upload(served)
    const body = { targetUrl: TASK.targetUrl, bodyRef: refOf(LARGE) }
    const { status, json } = await served.ask('POST', '/retry-tasks', { body })
    assert.deepEqual([status, json.bodyBytes, json.bodyRef], [201, LARGE.length, refOf(LARGE)])
    assert.equal(json.headers['content-type'], 'text/plain; charset=utf-8')
    const headers = { 'content-type': 'application/json' }
    const own = await served.ask('POST', '/retry-tasks', { body: { ...body, headers } })
    assert.equal(own.json.headers['content-type'], 'application/json')
  })

  it('is refused for a body that is not there, together with all else that is wrong', async () => {
    const { ask } = await serve()
    const task = { targetUrl: TASK.targetUrl, bodyRef: refOf('never') }
    const alone = await ask('POST', '/retry-tasks', { body: task })
    assert.deepEqual([alone.status, alone.json.code], [422, 'body-not-found'])
    const { status, json } = await ask('POST', '/retry-tasks', { body: { ...task, metod: 'PUT' } })
    assert.deepEqual([status, json.problems.length], [400, 2])
    const both = await ask('POST', '/retry-tasks', { body: { ...task, body: 'x' } })
    assert.match(both.text, /and bodyRef exclude each other/)
  })

  it('leaves its row by itself, and is the same task when it comes again', async () => {
    const served = await serve()
    const { ask, store, clock } = served
    const body = { ...TASK, body: LARGE, idempotencyKey: 'large-1' }
    const first = await ask('POST', '/retry-tasks', { body })
    assert.deepEqual([first.status, first.json.bodyBytes], [201, LARGE.length])
    const [task] = await store.get([first.json.taskId])
    assert.equal(task!.request.body, null)
    assert.deepEqual(task!.request.storedBody, { bodyRef: refOf(LARGE), sizeBytes: LARGE.length })
    const record = await recordOf(served, refOf(LARGE))
    assert.ok(record!.neededUntil > clock.now() + 7 * 86_400_000, 'it is needed a week longer than the task can wait')
    const again = await ask('POST', '/retry-tasks', { body })
    assert.deepEqual([again.status, again.json.taskId], [200, first.json.taskId])
    const other = await ask('POST', '/retry-tasks', { body: { ...body, body: `${LARGE}!` } })
    assert.deepEqual([other.status, other.json.code], [422, 'idempotency-conflict'])
  })

  it('stays in its row as long as it is small', async () => {
    const { ask, store } = await serve()
    const { json } = await ask('POST', '/retry-tasks', { body: { ...TASK, body: 'x'.repeat(65_536) } })
    const [task] = await store.get([json.taskId])
    assert.equal(task!.request.body!.length, 65_536)
    assert.equal(json.bodyRef, undefined)
  })

  it('may come in a batch, each with a result of its own', async () => {
    const served = await serve()
    const body = [{ ...TASK, body: LARGE }, { ...TASK, bodyRef: refOf('never'), body: undefined }, TASK]
    const { json } = await served.ask('POST', '/retry-tasks/batch', { body })
    assert.deepEqual([json.created, json.refused], [2, 1])
    assert.equal(json.items[1].problem.code, 'body-not-found')
    assert.ok(await recordOf(served, refOf(LARGE)))
  })

  it('is refused where the tenant can keep no more, and the rest of its batch is taken', async () => {
    const served = await serve({ limits: { backlog: { perLane: 9, total: 9, bodyBytes: 200_000 } } })
    const body = [{ ...TASK, body: LARGE }, { ...TASK, body: `${LARGE}!` }, TASK]
    const { json } = await served.ask('POST', '/retry-tasks/batch', { body })
    assert.deepEqual([json.created, json.refused], [2, 1])
    assert.equal(json.items[1].problem.code, 'bodies-full')
    assert.equal(await recordOf(served, refOf(`${LARGE}!`)), undefined)
  })
})

describe('bodies that are read at once', () => {
  it('are few until they have been taken, in fair shares: one tenant leaves some for the next', async () => {
    const store = { ...openMemoryStore({ clock: virtualClock() }), list: () => new Promise<never>(() => {}) }
    // Ten readings, and a list.
    const served = await guarded({ store, limits: { bytesUnderWay: 10 * 4_194_304 + 1_048_576 } })
    const path = `/bodies/${refOf('few')}`
    const addTenant = async (tenant: string): Promise<string> => {
      await served.addTenant(tenant)
      const key = await served.keyFor(tenant, 'enqueue', 'read', 'read-bodies')
      const headers = { ...TYPE, authorization: `Bearer ${key}` }
      assert.equal((await upload(served, 'few', headers)).status, 201)
      return key
    }
    const [greedy, other] = [await addTenant('greedy'), await addTenant('other')]
    const read = (key: string) => served.as('GET', path, { key })
    const socket = connect(served.port, '127.0.0.1')
    const head = `HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${greedy}\r\n\r\n`
    // Behind a list that is never answered.
    socket.write(`GET /retry-tasks ${head}${`GET ${path} ${head}`.repeat(12)}`)
    let refused = await read(greedy)
    while (refused.status === 200) refused = await read(greedy)
    assert.deepEqual([refused.status, refused.json.code], [429, 'too-many-requests'])
    assert.ok(Number(refused.headers['retry-after']) > 0)
    assert.equal((await read(other)).status, 200)
    socket.destroy()
    while ((await read(greedy)).status !== 200);
  })
})
