import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { createTurns, merged, startOf, walkOf, type Place } from './walk.ts'

const place: fc.Arbitrary<Place> = fc.tuple(fc.nat(20), fc.nat(1_000))

describe('walks that are merged', () => {
  it('lead through all places in order, however many are asked at once', () => {
    const lists = fc.array(fc.array(place, { maxLength: 60 }), { minLength: 1, maxLength: 6 })
    fc.assert(
      fc.property(
        lists,
        fc.constantFrom('ascending', 'descending'),
        fc.integer({ min: 1, max: 50 }),
        (all, way, step) => {
          // A task stands in one queue only.
          const seen = new Set<number>()
          const unique = all.map(list => list.filter(([, seq]) => !seen.has(seq) && seen.add(seq)))
          const walk = merged(
            unique.map(list => walkOf(list, way)),
            way,
          )
          const found: Place[] = []
          for (let last = startOf(way); ;) {
            const more = walk(last, step)
            found.push(...more)
            last = more.at(-1) ?? last
            if (more.length < step) break
          }
          assert.deepEqual(found, walkOf(unique.flat(), way)(startOf(way), 10_000))
          assert.equal(found.length, seen.size)
        },
      ),
    )
  })
})

describe('lists', () => {
  it('read in turns, one of them in each turn of the event loop, however many wait', async () => {
    const turn = createTurns()
    const read: string[] = []
    const list = async (name: string): Promise<void> => {
      for (let step = 0; step < 3; step++) {
        await turn()
        read.push(name)
      }
    }
    const all = Promise.all(['a', 'b', 'c'].map(list))
    for (let n = 1; n <= 9; n++) {
      await new Promise(resolve => setImmediate(resolve))
      assert.ok(read.length <= n, `${read.length} reads in ${n} turns`)
    }
    await all
    assert.deepEqual(read, ['a', 'b', 'c', 'a', 'b', 'c', 'a', 'b', 'c'])
  })
})
