import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { newTrial, ruleOf, seeAttempt, WATCHED_RAMP_MS } from './stop-rule.ts'

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
    const resumed = { since: NOW, by: 'local', ...HALF_OF_FOUR }
    assert.deepEqual(ruleOf({ ...resumed, rampMs: 10 }, NOW + 9), HALF_OF_FOUR)
    assert.equal(ruleOf({ ...resumed, rampMs: 10 }, NOW + 10), undefined)
    assert.deepEqual(ruleOf(resumed, NOW + WATCHED_RAMP_MS - 1), HALF_OF_FOUR)
    assert.equal(ruleOf({ since: NOW, by: 'local' }, NOW), undefined)
    assert.equal(ruleOf(undefined, NOW), undefined)
  })
})
