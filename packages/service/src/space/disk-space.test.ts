import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import type { Purpose } from '../task/disk-reserve.ts'
import { DiskSpace } from './disk-space.ts'

const MIB = 1_048_576

/** A disk of a gigabyte: a twentieth is kept from bodies, half of that from tasks that come. */
function spaceOf({ freeBytes }: { freeBytes: number }) {
  const disk = { allBytes: 1_000_000_000, freeBytes, looks: 0, isSilent: false, isSlow: false, seen: () => {} }
  const clock = virtualClock()
  const space = new DiskSpace({
    clock,
    look: async () => {
      disk.looks++
      if (disk.isSilent) throw new Error('EIO')
      if (disk.isSlow) await new Promise<void>(resolve => (disk.seen = resolve))
      return { ...disk }
    },
  })
  return { disk, clock, space }
}

const take = (space: DiskSpace, bytes: number, purpose: Purpose = 'tasks'): Promise<void> =>
  space.within(purpose, bytes, async () => {})

/** Whoever looks beside others has seen. */
const settled = (): Promise<void> => new Promise(resolve => setImmediate(resolve))

const FULL = { name: 'StoreUnavailableError', code: 'store-full' }

describe('tasks that come', () => {
  it('leave half of what bodies leave free, and say so before the disk is full', async () => {
    const { space } = spaceOf({ freeBytes: 25_002_000 })
    await take(space, 1_000)
    assert.equal(await space.problem(), undefined)
    const { space: less } = spaceOf({ freeBytes: 24_999_999 })
    await assert.rejects(take(less, 1_000), FULL)
    assert.match((await less.problem())!, /nearly full, and has no room for tasks/)
  })

  it('look at the disk once a second, however many there are, refused ones too', async () => {
    const { space, disk, clock } = spaceOf({ freeBytes: 500_000_000 })
    await Promise.all(Array.from({ length: 1_000 }, () => take(space, 1_000)))
    assert.equal(disk.looks, 1)
    disk.freeBytes = 0
    await take(space, 1_000)
    await clock.advance(5_000)
    for (let n = 0; n < 100; n++) await assert.rejects(take(space, MIB), FULL)
    assert.equal(disk.looks, 2)
  })

  it('do not wait for a look while there was one a moment ago, and hear of it before the next', async () => {
    const { space, disk, clock } = spaceOf({ freeBytes: 500_000_000 })
    await take(space, 1_000)
    disk.freeBytes = 0
    await clock.advance(1_000)
    await take(space, 1_000)
    await settled()
    await assert.rejects(take(space, 1_000), FULL)
    assert.equal(disk.looks, 2)
  })

  it('count what was written while somebody looked', async () => {
    const { space, disk, clock } = spaceOf({ freeBytes: 25_000_000 + 5 * MIB })
    await take(space, 1_000)
    await clock.advance(1_000)
    disk.isSlow = true
    await take(space, 2 * MIB)
    disk.seen()
    await settled()
    await assert.rejects(take(space, MIB), FULL)
  })

  it('count while they are being written, twice: into the log, and into the file', async () => {
    const { space } = spaceOf({ freeBytes: 25_000_000 + 5 * MIB })
    let written = (): void => {}
    const writing = space.within('tasks', 2 * MIB, () => new Promise<void>(resolve => (written = resolve)))
    await space.problem()
    await assert.rejects(take(space, MIB), FULL)
    await take(space, 1_000)
    written()
    await writing
  })

  it('look sooner when they bring much', async () => {
    const { space, disk } = spaceOf({ freeBytes: 500_000_000 })
    for (let n = 0; n < 4; n++) await take(space, MIB)
    disk.freeBytes = 0
    await take(space, 1)
    await settled()
    await assert.rejects(take(space, 1), FULL)
  })

  it('are let in again within a second after somebody made room', async () => {
    const { space, disk, clock } = spaceOf({ freeBytes: 0 })
    await assert.rejects(take(space, 1), FULL)
    disk.freeBytes = 500_000_000
    await clock.advance(1_000)
    await assert.rejects(take(space, 1), FULL)
    await settled()
    await take(space, 1)
  })

  it('are let in where the disk does not say what it has: the store meets what is wrong with it', async () => {
    const { space, disk } = spaceOf({ freeBytes: 0 })
    disk.isSilent = true
    await take(space, 1)
    assert.deepEqual([await space.problem(), disk.looks], [undefined, 1])
  })

  it('are refused before orders, and these before attempts: whoever comes last has something left', async () => {
    const { space } = spaceOf({ freeBytes: 10_000_000 })
    await assert.rejects(take(space, 1, 'orders'), { ...FULL, message: /no room for orders/ })
    await take(space, 1, 'attempts')
    const { space: less } = spaceOf({ freeBytes: 6_000_000 })
    await assert.rejects(take(less, 1, 'attempts'), FULL)
    assert.match((await less.problem())!, /has no room for attempts/)
  })

  it('count until whoever took the room says that it has written, and whoever can do without is told', async () => {
    const { space } = spaceOf({ freeBytes: 25_000_000 + 5 * MIB })
    const written = (await space.takeIfFree('tasks', 2 * MIB))!
    assert.equal(await space.takeIfFree('tasks', MIB), undefined)
    written()
    assert.equal(await space.takeIfFree('tasks', MIB), undefined)
    assert.ok(await space.takeIfFree('orders', MIB))
  })
})
