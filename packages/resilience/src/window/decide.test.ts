import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { count, emptyWindow, forgetOld, uncount } from './decide.ts'

describe('a sliding window', () => {
  it('begins a new slice at the very instant at which the old one ends', () => {
    const window = emptyWindow(1_000, 1, 0)
    count(window, 0, 100)
    forgetOld(window, 1_050)
    assert.deepEqual(window.sums, [1])
    forgetOld(window, 1_100)
    assert.deepEqual(window.sums, [0])
  })

  it('counts each column apart', () => {
    const window = emptyWindow(1_000, 2, 0)
    count(window, 0, 10)
    count(window, 1, 20)
    count(window, 1, 30)
    assert.deepEqual(window.sums, [1, 2])
  })

  it('forgets everything after a silence, however long', () => {
    const window = emptyWindow(1_000, 1, 0)
    for (let n = 0; n < 100; n++) count(window, 0, n * 10)
    count(window, 0, 3_600_000)
    assert.deepEqual(window.sums, [1])
  })

  it('takes back what did not happen from the slice that had counted it, whenever that is', () => {
    fc.assert(
      fc.property(fc.nat({ max: 1_500 }), fc.nat({ max: 1_500 }), (countedAt, laterMs) => {
        const [window, without] = [emptyWindow(1_000, 1, 0), emptyWindow(1_000, 1, 0)]
        count(window, 0, countedAt)
        uncount(window, 0, countedAt, countedAt + laterMs)
        for (const one of [window, without]) forgetOld(one, countedAt + laterMs)
        assert.deepEqual([window.sums, window.slices.flat()], [without.sums, without.slices.flat()])
      }),
    )
  })

  it('holds no more than its window and no less than nine tenths of it', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 200 }), steps => {
        const window = emptyWindow(1_000, 1, 0)
        const instants: number[] = []
        let now = 0
        for (const step of steps) {
          now += step
          instants.push(now)
          count(window, 0, now)
          const within = (ms: number): number => instants.filter(at => at > now - ms).length
          assert.ok(window.sums[0]! <= within(1_000 + 1), 'too many')
          assert.ok(window.sums[0]! >= within(900), 'too few')
        }
      }),
    )
  })
})
