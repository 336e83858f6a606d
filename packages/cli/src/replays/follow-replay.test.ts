import type { Replay } from '@secondwind/client'
import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { timeLeft } from './follow-replay.ts'

const after = (sent: number): Pick<Replay, 'selected' | 'counts' | 'ratePerSecond'> => ({
  selected: 900,
  ratePerSecond: 20,
  counts: {
    moved: sent,
    sent,
    succeeded: sent,
    failed: 0,
    exhausted: 0,
    cancelled: 0,
    waiting: 0,
    underWay: 0,
    left: 900 - sent,
  },
})

describe('the time that a replay has left', () => {
  it('shrinks by a second each second while it keeps its rate', () => {
    const seconds = [1, 2, 3, 4].map(passed =>
      timeLeft(after(20 * passed), { done: 20 * passed, inMs: 1_000 * passed }),
    )
    assert.deepEqual(seconds, [44_000, 43_000, 42_000, 41_000])
  })

  it('is longer where it was held back, by what it has kept to since somebody watches', () => {
    assert.equal(timeLeft(after(100), { done: 100, inMs: 10_000 }), 80_000)
    assert.equal(timeLeft(after(500), { done: 100, inMs: 1_000 }), 20_000, 'and never shorter than its rate allows')
  })

  it('is not known before the first was sent', () => {
    assert.equal(timeLeft(after(0), { done: 0, inMs: 9_000 }), undefined)
  })
})
