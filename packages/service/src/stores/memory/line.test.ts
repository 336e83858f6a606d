import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { Line, type Place } from './line.ts'

const place: fc.Arbitrary<Place> = fc.record({ at: fc.nat(5), number: fc.nat(30) }, { noNullPrototype: true })

function compare(one: Place, other: Place): number {
  return one.at - other.at || one.number - other.number
}

function placesIn(standing: readonly Place[]): Place[] {
  return standing.map(({ at, number }) => ({ at, number }))
}

/** Comes if it is not there, and goes if it is; from the front as often as from anywhere. */
const steps = fc.array(fc.option(place, { freq: 3 }), { maxLength: 200 })

describe('a line', () => {
  it('is walked in order from any place, forwards and backwards, whatever came and went', () => {
    fc.assert(
      fc.property(steps, place, fc.nat(40), (made, from, count) => {
        const line = new Line<string>()
        let left: Place[] = []
        for (const each of made) {
          const moved = each ?? left[0]
          if (moved === undefined) continue
          const others = left.filter(other => compare(other, moved) !== 0)
          if (others.length < left.length) line.remove(moved)
          else line.add(moved, 'item')
          left = (others.length < left.length ? others : [...left, moved]).toSorted(compare)
        }
        const behind = left.filter(each => compare(each, from) > 0)
        const ahead = left.filter(each => compare(each, from) < 0).toReversed()
        assert.deepEqual(placesIn(line.after(from, count)), behind.slice(0, count))
        assert.deepEqual(placesIn(line.before(from, count)), ahead.slice(0, count))
        assert.deepEqual(placesIn(line.after(undefined, Infinity)), left)
        assert.deepEqual(placesIn(line.before(undefined, 2)), left.toReversed().slice(0, 2))
        assert.equal(line.isEmpty, left.length === 0)
        assert.equal(line.first?.number, left[0]?.number)
      }),
    )
  })

  it('of which less than nothing is asked gives nothing', () => {
    const line = new Line<string>()
    line.add({ at: 1, number: 1 }, 'item')
    assert.deepEqual([line.after(undefined, -1), line.before(undefined, -1)], [[], []])
  })
})
