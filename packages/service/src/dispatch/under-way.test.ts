import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import type { Attempt } from './attempt.ts'
import { UnderWay } from './under-way.ts'

const attempt = (taskId: string): Attempt => ({ taskId, place: 0 }) as Attempt

describe('what is under way', () => {
  it('is found by its task, in whatever order attempts come and go', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(9)), numbers => {
        const underWay = new UnderWay()
        const expected = new Map<string, Attempt>()
        for (const number of numbers) {
          const taskId = `task ${number}`
          const present = expected.get(taskId)
          if (present === undefined) {
            expected.set(taskId, attempt(taskId))
            underWay.add(expected.get(taskId)!)
          } else {
            expected.delete(taskId)
            underWay.remove(present)
          }
          assert.equal(underWay.of(taskId), expected.get(taskId))
        }
        assert.equal(underWay.size, expected.size)
        assert.deepEqual(new Set(underWay.all()), new Set(expected.values()))
      }),
    )
  })

  it('can end while all of it is walked through', () => {
    const underWay = new UnderWay()
    for (const taskId of ['a', 'b', 'c']) underWay.add(attempt(taskId))
    const walked = underWay.all().map(one => {
      underWay.remove(one)
      return one.taskId
    })
    assert.deepEqual([walked, underWay.size], [['a', 'b', 'c'], 0])
  })
})
