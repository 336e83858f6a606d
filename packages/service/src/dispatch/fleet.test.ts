import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { PARTITIONS } from '../task/lane.ts'
import { isDead, isLive, look, stewardFor, type Watch } from './fleet.ts'

/** What one instance sees, look by look, a second apart. */
function looks(counts: readonly (number | undefined)[], passedMs = 1_000): [live: boolean, dead: boolean][] {
  const watch: Watch = new Map()
  return counts.map(count => {
    const beats = count === undefined ? [] : [{ instance: 'b', count }]
    look(watch, { beats, stewards: [{ partition: 0, instance: 'b', token: 't' }] }, passedMs)
    return [isLive(watch, 'b'), isDead(watch, 'b')]
  })
}

const UNKNOWN = [false, false]
const LIVE = [true, false]
const DEAD = [false, true]

describe('another instance', () => {
  it('counts as live after three beats', () => {
    assert.deepEqual(looks([7, 8, 9, 10]), [UNKNOWN, UNKNOWN, UNKNOWN, LIVE])
  })

  it('is dead after six seconds without a beat, and needs three again', () => {
    const silent = [10, 10, 10, 10, 10, 10]
    assert.deepEqual(looks([7, 8, 9, 10, ...silent, 11, 12, 13]).slice(3), [
      ...Array.from({ length: 6 }, () => LIVE),
      DEAD,
      UNKNOWN,
      UNKNOWN,
      LIVE,
    ])
  })

  it('that has just been seen for the first time is neither', () => {
    assert.deepEqual(looks([1]), [UNKNOWN])
  })

  it('that serves and was never heard of is dead after the same time', () => {
    assert.deepEqual(looks(Array.from({ length: 7 }, () => undefined)).at(-1), DEAD)
  })

  it('does not die of silence that nobody listened to', () => {
    assert.deepEqual(looks([7, 8, 9, 10, 10, 10, 10, 10, 10, 10, 10], 0).at(-1), LIVE)
  })
})

describe('who should serve a partition', () => {
  const fleet = (size: number) => Array.from({ length: size }, (_, n) => `instance-${n}`)
  const shares = (instances: readonly string[]): number[] => {
    const owners = Array.from({ length: PARTITIONS }, (_, partition) => stewardFor(partition, instances))
    return instances.map(instance => owners.filter(owner => owner === instance).length)
  }

  it('is spread evenly', () => {
    for (const size of [2, 3, 5, 8])
      for (const share of shares(fleet(size)))
        assert.ok(Math.abs(share - PARTITIONS / size) < 0.4 * (PARTITIONS / size), `${share} of ${size}`)
  })

  it('does not depend on the order in which instances are known', () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(fleet(6), { minLength: 1 }), fc.nat(PARTITIONS - 1), (instances, partition) => {
        assert.equal(stewardFor(partition, instances), stewardFor(partition, instances.toSorted()))
      }),
    )
  })

  it('changes only for partitions of who goes, and to who comes', () => {
    for (let partition = 0; partition < PARTITIONS; partition++) {
      const before = stewardFor(partition, fleet(4))
      const after = stewardFor(partition, fleet(5))
      assert.ok(after === before || after === 'instance-4')
      const without = fleet(4).filter(instance => instance !== 'instance-2')
      if (before !== 'instance-2') assert.equal(stewardFor(partition, without), before)
    }
  })
})
