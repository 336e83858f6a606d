import assert from 'node:assert/strict'
import { virtualClock } from '@secondwind/resilience/testing'
import { describe, it } from 'vitest'
import { temporaryDirectory } from '../stores/sqlite/sqlite.test-kit.ts'
import { DiskFloor, floorBytes, roomAt } from './disk-floor.ts'

const GIB = 1_073_741_824
const MIB = 1_048_576

/** A disk of a gigabyte: its floor is 50 MB. */
function floorOn({ freeBytes }: { freeBytes: number }) {
  const disk = { allBytes: 1_000_000_000, freeBytes, looks: 0, isSilent: false }
  const clock = virtualClock()
  const look = async () => {
    disk.looks++
    if (disk.isSilent) throw new Error('EIO')
    return { ...disk }
  }
  return { disk, clock, floor: new DiskFloor({ clock, look }) }
}

const FULL = { name: 'StoreUnavailableError', code: 'store-full' }

describe('the floor of the disk', () => {
  it('is a twentieth of it, and 256 MiB of a large one', () => {
    assert.deepEqual([floorBytes(GIB), floorBytes(1_000 * GIB)], [GIB / 20, 256 * MIB])
  })

  it('lets nothing in while less is free, and says what to do', async () => {
    const { floor } = floorOn({ freeBytes: 50_000_000 })
    await floor.admit()
    assert.equal(await floor.problem(), undefined)
    const { floor: below } = floorOn({ freeBytes: 49_999_999 })
    await assert.rejects(below.admit(), FULL)
    assert.equal(
      await below.problem(),
      'the disk is nearly full: with less than 48 MiB free, no tasks and no uploads are taken in; make room, and it goes on by itself',
    )
  })

  it('costs one look at the disk a second, however many come', async () => {
    const { floor, disk, clock } = floorOn({ freeBytes: 500_000_000 })
    await Promise.all(Array.from({ length: 1_000 }, () => floor.admit()))
    assert.equal(disk.looks, 1)
    disk.freeBytes = 0
    await clock.advance(999)
    await floor.admit()
    await clock.advance(1)
    for (let n = 0; n < 100; n++) await assert.rejects(floor.admit(), FULL)
    assert.equal(disk.looks, 2)
  })

  it('is looked at sooner when uploads bring much: they cannot fill the disk within a second', async () => {
    const { floor, disk } = floorOn({ freeBytes: 500_000_000 })
    await floor.admit(MIB)
    disk.freeBytes = 0
    for (let n = 0; n < 3; n++) await floor.admit(MIB)
    await assert.rejects(floor.admit(MIB), FULL)
    assert.equal(disk.looks, 2)
  })

  it('lets in again within a second after room was made', async () => {
    const { floor, disk, clock } = floorOn({ freeBytes: 0 })
    await assert.rejects(floor.admit(), FULL)
    disk.freeBytes = 500_000_000
    await clock.advance(1_000)
    await floor.admit()
  })

  it('refuses nothing where the disk does not say what it has', async () => {
    const { floor, disk } = floorOn({ freeBytes: 0 })
    disk.isSilent = true
    await floor.admit()
    assert.deepEqual([await floor.problem(), disk.looks], [undefined, 1])
  })
})

describe('the room at a data directory', () => {
  it('is what its disk has, judged by the same floor', async () => {
    const { allBytes, freeBytes, isBelowFloor } = await roomAt(temporaryDirectory())
    assert.ok(freeBytes > 0 && freeBytes <= allBytes)
    assert.equal(isBelowFloor, freeBytes < floorBytes(allBytes))
  })
})
