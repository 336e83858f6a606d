import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { failure, SUCCESS } from '../classify/outcome.ts'
import { mayBeRecalled, recallAt } from './recall.ts'

describe('a recall', () => {
  it('brings back what failed by itself, and nothing that the destination asked to wait or that is done', () => {
    assert.deepEqual([failure('transient'), failure('ambiguous')].map(mayBeRecalled), [true, true])
    const not = [SUCCESS, failure('throttled'), failure('throttled', 1_000), failure('transient', 1_000)]
    assert.deepEqual(not.map(mayBeRecalled), [false, false, false, false])
  })

  it('spreads its tasks over the second that follows', () => {
    assert.deepEqual(
      [0, 0.5, 0.999_999].map(roll => recallAt(7_000, roll)),
      [7_000, 7_500, 7_999],
    )
  })
})
