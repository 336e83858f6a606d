import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { SortedRuns } from './sorted-runs.ts'

describe('sorted runs', () => {
  it('have every name that came, in order', () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.integer({ min: 1, max: 9 }), (names, runLength) => {
        const runs = new SortedRuns(runLength)
        for (const name of names) runs.add(name)
        assert.deepEqual([...runs.inOrder()], names.toSorted())
      }),
    )
  })
})
