import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import type { BodyUpload } from '../../task/accept.ts'
import { bodyRefOf } from '../../task/body-ref.ts'
import type { PutBody } from '../task-store.ts'
import { NO_LIMITS, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { DESTINATION, succeed, TENANT, type TaskChanges } from './tasks.test-kit.ts'

const REF = bodyRefOf('a'.repeat(64))
const OTHER_REF = bodyRefOf('b'.repeat(64))
const NAME = { tenant: TENANT, bodyRef: REF }

const BODY: PutBody = {
  ...NAME,
  sizeBytes: 100_000,
  contentType: 'text/plain',
  location: 'first',
  mostBytes: 1_000_000,
}

const REQUEST = { targetUrl: `${DESTINATION}/charge`, method: 'POST', headers: {}, body: null }

/** A task that needs a body, which may come along with it. */
function needing(bodyRef = REF, upload?: BodyUpload): TaskChanges {
  const storedBody = { bodyRef, sizeBytes: BODY.sizeBytes }
  return { request: { ...REQUEST, storedBody }, ...(upload !== undefined && { upload }) }
}

const FOREVER = { unusedBefore: Number.MAX_SAFE_INTEGER, limit: 100 }

/** Forgets every task that has ended. */
async function forgetAll({ store }: Setting): Promise<void> {
  const before = Number.MAX_SAFE_INTEGER
  await store.sweep({ finishedBefore: before, deadBefore: before, keysBefore: before, limit: 100 })
}

export function examineBodies(open: OpenStore): void {
  describe('a large body', () => {
    it('is put once; the same again is the same, and lies where the newest upload is', async () => {
      const { store, clock } = await sit(open)
      const { mostBytes: _, ...body } = BODY
      const record = { ...body, createdAt: clock.now() }
      assert.deepEqual(await store.putBody(BODY), { now: clock.now(), kind: 'created', record })
      await clock.advance(1_000)
      const moved = { ...record, location: 'second', contentType: 'text/html' }
      const again = { ...BODY, location: 'second', contentType: 'text/html' }
      const result = { now: clock.now(), kind: 'existing', record: moved, leftLocation: 'first' }
      assert.deepEqual(await store.putBody(again), result)
      assert.deepEqual(await store.putBody(again), { now: clock.now(), kind: 'existing', record: moved })
      assert.deepEqual(await store.body(NAME), moved)
      assert.deepEqual(await store.keptLocations(['first', 'second', 'third']), ['second'])
    })

    it('is a tenant’s own', async () => {
      const { store, build } = await sit(open)
      await store.putBody(BODY)
      assert.equal(await store.body({ tenant: 'other', bodyRef: REF }), undefined)
      const { results } = await store.enqueue([build({ ...needing(), tenant: 'other' })], NO_LIMITS)
      assert.deepEqual(results, [{ kind: 'body-unknown' }])
      const { kind } = await store.putBody({ ...BODY, tenant: 'other', location: 'other' })
      assert.equal(kind, 'created')
    })

    it('is refused when all of a tenant’s have as many bytes as they may, and taken when there is room again', async () => {
      const { store } = await sit(open)
      const other = { ...BODY, bodyRef: OTHER_REF, location: 'second', mostBytes: 199_999 }
      await store.putBody(BODY)
      assert.equal((await store.putBody(other)).kind, 'full')
      assert.equal(await store.body(other), undefined)
      assert.equal((await store.putBody({ ...BODY, mostBytes: 0 })).kind, 'existing', 'what is there needs no room')
      assert.equal((await store.putBody({ ...other, tenant: 'other', location: 'third' })).kind, 'created')
      assert.equal((await store.sweepBodies(FOREVER)).locations.length, 2)
      assert.equal((await store.putBody(other)).kind, 'created')
    })

    it('is needed by a task from the write on that takes it in', async () => {
      const setting = await sit(open)
      const { store, add, get, claimOne } = setting
      await store.putBody(BODY)
      const task = await add(needing())
      assert.deepEqual((await get(task)).request, task.request)
      assert.deepEqual((await claimOne()).request, task.request)
      assert.deepEqual((await store.sweepBodies(FOREVER)).locations, [])
    })

    it('that nobody put is said to be unknown, and the task is not taken', async () => {
      const { store, build, listed } = await sit(open)
      const task = build({ ...needing(), idempotencyKey: 'a', keyGiven: true })
      assert.deepEqual((await store.enqueue([task], NO_LIMITS)).results, [{ kind: 'body-unknown' }])
      assert.deepEqual(await listed(), [])
      await store.putBody(BODY)
      assert.deepEqual((await store.enqueue([task], NO_LIMITS)).results, [{ kind: 'created' }], 'its key is still free')
    })

    it('that comes with its task is put in the same write, or not at all', async () => {
      const { store, build, clock, add } = await sit(open)
      const upload = { location: 'first', contentType: 'text/plain' }
      const limits = { perLane: 1, total: 10, bodyBytes: 150_000 }
      const task = build(needing(REF, upload))
      assert.deepEqual((await store.enqueue([task], limits)).results, [{ kind: 'created' }])
      const { mostBytes: _, ...body } = BODY
      assert.deepEqual(await store.body(NAME), { ...body, createdAt: clock.now() })
      const late = build(needing(OTHER_REF, { ...upload, location: 'second' }))
      assert.deepEqual((await store.enqueue([late], limits)).results, [{ kind: 'full', scope: 'lane' }])
      const large = (await store.enqueue([late], { ...limits, perLane: 10 })).results
      assert.deepEqual(large, [{ kind: 'full', scope: 'bodies' }])
      assert.equal(await store.body({ tenant: TENANT, bodyRef: OTHER_REF }), undefined)
      await add(needing())
      assert.deepEqual(await store.keptLocations(['first', 'second']), ['first'])
    })

    it('that comes again with another task lies where the newest is; with the same task it stays', async () => {
      const { store, build } = await sit(open)
      const first = build(needing(REF, { location: 'first', contentType: 'text/plain' }))
      const second = build(needing(REF, { location: 'second', contentType: 'text/plain' }))
      await store.enqueue([first], NO_LIMITS)
      assert.deepEqual((await store.enqueue([second], NO_LIMITS)).results, [{ kind: 'created', leftLocation: 'first' }])
      const again = { ...first, upload: { location: 'third', contentType: 'text/plain' } }
      assert.equal((await store.enqueue([again], NO_LIMITS)).results[0]!.kind, 'existing')
      assert.equal((await store.body(NAME))!.location, 'second')
    })

    it('is forgotten when no task needs it and none has for a while, and not before', async () => {
      const setting = await sit(open)
      const { store, ended, clock } = setting
      await store.putBody(BODY)
      await ended(succeed, needing())
      await ended(succeed, needing())
      assert.deepEqual(
        (await store.sweepBodies(FOREVER)).locations,
        [],
        'tasks that have ended may be replayed or read',
      )
      await clock.advance(60_000)
      await forgetAll(setting)
      const forgottenAt = clock.now()
      await clock.advance(60_000)
      const notYet = await store.sweepBodies({ unusedBefore: forgottenAt, limit: 100 })
      assert.deepEqual(notYet.locations, [])
      const now = await store.sweepBodies({ unusedBefore: forgottenAt + 1, limit: 100 })
      assert.deepEqual(now.locations, ['first'])
      assert.equal(await store.body(NAME), undefined)
      assert.deepEqual(await store.keptLocations(['first']), [])
    })

    it('that was put lately is spared, the second time too', async () => {
      const { store, clock } = await sit(open)
      await store.putBody(BODY)
      await clock.advance(60_000)
      await store.putBody(BODY)
      assert.deepEqual((await store.sweepBodies({ unusedBefore: clock.now(), limit: 100 })).locations, [])
    })

    it('is swept with the longest unused first, and no more than asked for', async () => {
      const { store, clock } = await sit(open)
      for (const letter of ['c', 'a', 'b']) {
        await store.putBody({ ...BODY, bodyRef: bodyRefOf(letter.repeat(64)), location: letter })
        await clock.advance(1_000)
      }
      assert.deepEqual((await store.sweepBodies({ ...FOREVER, limit: 2 })).locations, ['c', 'a'])
      assert.deepEqual((await store.sweepBodies({ ...FOREVER, limit: 2 })).locations, ['b'])
    })

    it('is still there, and still needed, when the store is opened anew', async context => {
      const setting = await sit(open)
      context.skip(!setting.isDurable, 'nothing outlives its process')
      await setting.store.putBody(BODY)
      const task = await setting.add(needing())
      const record = await setting.store.body(NAME)
      const { store, get } = await setting.reopen()
      assert.deepEqual(await store.body(NAME), record)
      assert.deepEqual((await get(task)).request, task.request)
      assert.deepEqual((await store.sweepBodies(FOREVER)).locations, [])
    })
  })
}
