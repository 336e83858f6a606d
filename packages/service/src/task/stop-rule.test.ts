import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { isWatched, newTrial, seeAttempt, watchOf, WATCHED_RAMP_MS } from './stop-rule.ts'

const NOW = 1_767_225_600_000
const HALF_OF_FOUR = { stopOnFailureRate: 0.5, overLast: 4 }

/** After which attempt it trips; `x` is a failure. */
function tripsAfter(attempts: string, rule = HALF_OF_FOUR): number | undefined {
  const trial = newTrial()
  const place = Array.from(attempts).findIndex(attempt => seeAttempt(rule, trial, attempt === 'x'))
  return place < 0 ? undefined : place + 1
}

describe('a stop rule', () => {
  it('trips as soon as its part of the last attempts has failed, whatever would follow', () => {
    assert.equal(tripsAfter('xx'), 2)
    assert.equal(tripsAfter('x..x'), 4)
  })

  it('forgets what is older than the last attempts', () => assert.equal(tripsAfter('x...x...x...'), undefined))

  it('never trips on a success', () => {
    assert.equal(tripsAfter('....', { stopOnFailureRate: 0, overLast: 4 }), undefined)
    assert.equal(tripsAfter('...x', { stopOnFailureRate: 0, overLast: 4 }), 4)
  })

  it('is in force for as long as the way back takes', () => {
    const resumed = { since: NOW, by: 'local' }
    const isWatchedAt = (rampMs: number | undefined, at: number): boolean =>
      watchOf('own', { ...resumed, ...HALF_OF_FOUR, ...(rampMs !== undefined && { rampMs }) }).some(watch =>
        isWatched(watch, at),
      )
    assert.deepEqual(
      [-1, 0, 9, 10].map(afterMs => isWatchedAt(10, NOW + afterMs)),
      [false, true, true, false],
    )
    assert.equal(isWatchedAt(undefined, NOW + WATCHED_RAMP_MS - 1), true)
    assert.deepEqual(watchOf('own', { ...resumed, rampMs: 10 }), [])
  })
})
