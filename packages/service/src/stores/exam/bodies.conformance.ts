import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { bodyRefOf } from '../../task/body-ref.ts'
import type { BodyRecord, NewBody } from '../store.ts'
import { only, sit, type OpenStore, type Setting } from './exam.test-kit.ts'
import { TENANT } from './tasks.test-kit.ts'

const NAME = { tenant: TENANT, bodyRef: bodyRefOf('a'.repeat(64)) }
const OTHER = { tenant: TENANT, bodyRef: bodyRefOf('b'.repeat(64)) }

const BODY = { ...NAME, sizeBytes: 100_000, contentType: 'text/plain', location: 'first', mostBytes: 1_000_000 }

/** A body that is needed for so long from now on. */
function bodyOf({ clock }: Setting, neededMs: number, changes: Partial<NewBody> = {}): NewBody {
  return { ...BODY, neededUntil: clock.now() + neededMs, ...changes }
}

function recordOf(upload: NewBody, createdAt: number): BodyRecord {
  const { mostBytes: _, ...body } = upload
  return { ...body, createdAt }
}

export function examineBodies(open: OpenStore): void {
  describe('a large body', () => {
    it('is put once; the same again is the same, and lies where the newest upload is', async () => {
      const setting = await sit(open)
      const { store, clock } = setting
      const createdAt = clock.now()
      const first = bodyOf(setting, 60_000)
      const record = recordOf(first, createdAt)
      assert.deepEqual(await store.putBody(first), { now: createdAt, kind: 'created', record })
      await clock.advance(1_000)
      const again = bodyOf(setting, 60_000, { location: 'second', contentType: 'text/html' })
      const moved = { now: clock.now(), kind: 'existing', record: recordOf(again, createdAt) }
      assert.deepEqual(await store.putBody(again), { ...moved, leftLocation: 'first' })
      assert.deepEqual(await store.putBody(again), moved)
      assert.deepEqual(await store.bodies([NAME]), [recordOf(again, createdAt)])
    })

    it('is needed until the latest instant that an upload named', async () => {
      const setting = await sit(open)
      const { store } = setting
      const [long, short] = [bodyOf(setting, 60_000), bodyOf(setting, 1_000)]
      await store.putBody(long)
      const again = await store.putBody(short)
      assert.ok(again.kind === 'existing')
      assert.equal(again.record.neededUntil, long.neededUntil)
      assert.deepEqual(await store.bodies([NAME]), [again.record])
    })

    it('is a tenant’s own', async () => {
      const setting = await sit(open)
      const { store } = setting
      await store.putBody(bodyOf(setting, 60_000))
      assert.deepEqual(await store.bodies([{ ...NAME, tenant: 'other' }]), [])
      const theirs = await store.putBody(bodyOf(setting, 60_000, { tenant: 'other', location: 'other' }))
      assert.equal(theirs.kind, 'created')
      assert.equal(only(await store.bodies([NAME])).location, 'first')
    })

    it('is refused when a tenant has as many bytes as it may, and taken when there is room again', async () => {
      const setting = await sit(open)
      const { store, clock } = setting
      const other = bodyOf(setting, 60_000, { ...OTHER, location: 'second', mostBytes: 199_999 })
      await store.putBody(bodyOf(setting, 1_000))
      assert.deepEqual(await store.putBody(other), { now: clock.now(), kind: 'full' })
      assert.deepEqual(await store.bodies([OTHER]), [])
      const again = await store.putBody(bodyOf(setting, 1_000, { mostBytes: 0 }))
      assert.equal(again.kind, 'existing', 'a body that is there needs no room')
      assert.equal((await store.putBody({ ...other, tenant: 'other', location: 'third' })).kind, 'created')
      await store.sweepBodies({ neededBefore: clock.now() + 1_001, limit: 100 })
      assert.equal((await store.putBody(other)).kind, 'created')
      assert.equal((await store.putBody({ ...other, ...NAME })).kind, 'full')
    })
  })

  describe('reading bodies', () => {
    it('answers in the order asked, and leaves unknown ones out', async () => {
      const setting = await sit(open)
      const { store, clock } = setting
      const [one, other] = [bodyOf(setting, 1_000), bodyOf(setting, 1_000, { ...OTHER, location: 'second' })]
      await store.putBody(one)
      await store.putBody(other)
      const unknown = { tenant: TENANT, bodyRef: bodyRefOf('c'.repeat(64)) }
      const records = [recordOf(other, clock.now()), recordOf(one, clock.now())]
      assert.deepEqual(await store.bodies([OTHER, unknown, NAME]), records)
      assert.deepEqual(await store.bodies([]), [])
    })

    it('with an instant makes each needed at least until then, and never shorter', async () => {
      const setting = await sit(open)
      const { store, clock } = setting
      const [short, long] = [bodyOf(setting, 1_000), bodyOf(setting, 60_000, { ...OTHER, location: 'second' })]
      await store.putBody(short)
      await store.putBody(long)
      const until = clock.now() + 30_000
      const records = [{ ...recordOf(short, clock.now()), neededUntil: until }, recordOf(long, clock.now())]
      assert.deepEqual(await store.bodies([NAME, OTHER], until), records)
      assert.deepEqual(await store.bodies([NAME, OTHER]), records)
      assert.deepEqual(await store.bodies([NAME, OTHER], clock.now()), records)
    })
  })

  describe('a sweep of bodies', () => {
    it('forgets those that are no longer needed, and says where they lay', async () => {
      const setting = await sit(open)
      const { store, clock } = setting
      await store.putBody(bodyOf(setting, 1_000))
      await store.putBody(bodyOf(setting, 5_000, { ...OTHER, location: 'second' }))
      const neededBefore = clock.now() + 1_000
      assert.deepEqual(await store.sweepBodies({ neededBefore, limit: 100 }), { now: clock.now(), locations: [] })
      const swept = await store.sweepBodies({ neededBefore: neededBefore + 1, limit: 100 })
      assert.deepEqual(swept.locations, ['first'])
      const left = await store.bodies([NAME, OTHER])
      assert.deepEqual(
        left.map(({ location }) => location),
        ['second'],
      )
    })

    it('spares a body whose need was raised, and forgets it later', async () => {
      const setting = await sit(open)
      const { store, clock } = setting
      await store.putBody(bodyOf(setting, 1_000))
      await store.bodies([NAME], clock.now() + 9_000)
      const sweep = async (neededMs: number) =>
        (await store.sweepBodies({ neededBefore: clock.now() + neededMs, limit: 100 })).locations
      assert.deepEqual(await sweep(9_000), [])
      assert.deepEqual(await sweep(9_001), ['first'])
    })

    it('begins with the body that was unneeded longest, and takes no more than its limit', async () => {
      const setting = await sit(open)
      const { store } = setting
      for (const [letter, neededMs] of [
        ['a', 2_000],
        ['b', 3_000],
        ['c', 1_000],
      ] as const)
        await store.putBody(bodyOf(setting, neededMs, { bodyRef: bodyRefOf(letter.repeat(64)), location: letter }))
      const all = { neededBefore: Number.MAX_SAFE_INTEGER, limit: 2 }
      assert.deepEqual((await store.sweepBodies(all)).locations, ['c', 'a'])
      assert.deepEqual((await store.sweepBodies(all)).locations, ['b'])
    })

    it('lets a body come back as a new one', async () => {
      const setting = await sit(open)
      const { store, clock } = setting
      await store.putBody(bodyOf(setting, 1_000))
      await store.sweepBodies({ neededBefore: Number.MAX_SAFE_INTEGER, limit: 2 })
      await clock.advance(5_000)
      const again = bodyOf(setting, 500, { location: 'second' })
      const record = recordOf(again, clock.now())
      assert.deepEqual(await store.putBody(again), { now: clock.now(), kind: 'created', record })
    })
  })
}
