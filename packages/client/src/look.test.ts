import assert from 'node:assert/strict'
import fc from 'fast-check'
import { describe, it } from 'vitest'
import { nextLookMs } from './look.ts'

const NOW = 1_767_225_600_000

describe('the next look at a task', () => {
  it('comes soon, and later more and more rarely, while anything can become of it at any moment', () => {
    const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(looks => nextLookMs({ task: {}, looks, now: NOW, roll: 0 }))
    assert.deepEqual(waits, [25, 50, 100, 200, 400, 800, 1_600, 2_500, 2_500])
  })

  it('is never before the next attempt is due, but for half a minute at most', () => {
    const wait = (untilMs: number): number =>
      nextLookMs({ task: { nextAttemptAt: NOW + untilMs }, looks: 1, now: NOW, roll: 0 })
    assert.deepEqual([wait(-5_000), wait(0), wait(8_000), wait(86_400_000)], [25, 25, 8_025, 30_025])
  })

  it('always lies between half a breath and half a minute, whatever the clocks say', () => {
    fc.assert(
      fc.property(
        fc.option(fc.integer({ min: 0, max: 8.64e15 }), { nil: undefined }),
        fc.integer({ min: 1, max: 1_000_000 }),
        fc.double({ min: 0, max: 0.999_999, noNaN: true }),
        (nextAttemptAt, looks, roll) => {
          const task = nextAttemptAt === undefined ? {} : { nextAttemptAt }
          const waitMs = nextLookMs({ task, looks, now: NOW, roll })
          assert.ok(waitMs >= 25 && waitMs <= 35_000)
        },
      ),
    )
  })
})
