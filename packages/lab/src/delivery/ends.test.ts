import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { Ends } from './ends.ts'

describe('a queue with two ends', () => {
  it('gives what a list would give, at either end, however it is used', () => {
    const step = fc.constantFrom('add', 'add', 'first', 'last')
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), steps => {
        const ends = new Ends<number>()
        const list: number[] = []
        for (const [number, one] of steps.entries()) {
          if (one === 'add') {
            ends.add(number)
            list.push(number)
          } else if (one === 'first') assert.equal(ends.takeFirst(), list.shift())
          else assert.equal(ends.takeLast(), list.pop())
          assert.deepEqual([ends.size, ends.first], [list.length, list[0]])
        }
      }),
    )
  })

  it('keeps its order when it lets go of taken entries', () => {
    const ends = new Ends<number>()
    for (let number = 0; number < 20_000; number++) ends.add(number)
    for (let number = 0; number < 15_000; number++) assert.equal(ends.takeFirst(), number)
    assert.deepEqual([ends.size, ends.takeLast(), ends.first], [5_000, 19_999, 15_000])
  })
})
