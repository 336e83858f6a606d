import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { ExpectedCalls } from './expected-call.ts'

const expectedAfter = (durations: readonly number[]): number => {
  const calls = new ExpectedCalls()
  for (const ms of durations) calls.add('a', ms)
  return calls.expectedMs('a')
}

describe('the expected call time', () => {
  it('is 0 while fewer than five successes are known', () => {
    assert.equal(expectedAfter([]), 0)
    assert.equal(expectedAfter([9, 9, 9, 9]), 0)
    assert.equal(expectedAfter([9, 9, 9, 9, 9]), 9)
  })

  it('is the median, which one slow call does not move', () => {
    assert.equal(expectedAfter([10, 12, 11, 10, 60_000]), 11)
    assert.equal(expectedAfter([1, 2, 3, 4, 5, 6]), 3.5)
  })

  it('is that of the latest 64 successes', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { minLength: 5, maxLength: 200 }), durations => {
        const latest = durations.slice(-64).toSorted((a, b) => a - b)
        const middle = Math.floor(latest.length / 2)
        const median = latest.length % 2 === 1 ? latest[middle]! : (latest[middle - 1]! + latest[middle]!) / 2
        assert.equal(expectedAfter(durations), median)
      }),
    )
  })

  it('is kept for each origin apart, and forgotten for the one not called for longest when there are 256', () => {
    const calls = new ExpectedCalls()
    const learn = (origin: string, ms: number): void => {
      for (let sample = 0; sample < 5; sample++) calls.add(origin, ms)
    }
    for (let origin = 0; origin < 256; origin++) learn(`o${origin}`, origin + 1)
    learn('o0', 1)
    learn('another', 9)
    assert.deepEqual(
      ['o0', 'o1', 'o2', 'another'].map(origin => calls.expectedMs(origin)),
      [1, 0, 3, 9],
    )
  })
})
