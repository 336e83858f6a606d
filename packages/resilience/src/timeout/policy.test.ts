import assert from 'node:assert/strict'
import { describe, it } from 'vitest'
import { checkAdaptiveTimeout, DEFAULT_ADAPTIVE_TIMEOUT, withAdaptiveTimeoutDefaults } from './policy.ts'

const say = (input: unknown): string[] =>
  checkAdaptiveTimeout(input, 'adaptiveTimeout').map(({ at, say }) => `${at} ${say}`)

describe('an adaptive time-out', () => {
  it('is twice the p99 of the last thousand successes, and at least 100 ms', () => {
    const { multiplier, percentile, minMs, sampleCalls } = withAdaptiveTimeoutDefaults(true)
    assert.deepEqual([multiplier, percentile, minMs, sampleCalls], [2, 99, 100, 1_000])
  })

  it('is right as it stands, as true, as nothing and in full', () => {
    for (const input of [true, {}, DEFAULT_ADAPTIVE_TIMEOUT] as const) {
      assert.deepEqual(say(input), [])
      assert.deepEqual(withAdaptiveTimeoutDefaults(input), DEFAULT_ADAPTIVE_TIMEOUT)
    }
  })

  it('waits for samples that can be there', () => {
    assert.equal(withAdaptiveTimeoutDefaults({ sampleCalls: 10 }).minSamples, 10)
    assert.equal(withAdaptiveTimeoutDefaults({ sampleCalls: 10, minSamples: 3 }).minSamples, 3)
    assert.deepEqual(say({ sampleCalls: 10, minSamples: 11 }), [
      'adaptiveTimeout.minSamples is never reached: sampleCalls is 10',
    ])
  })

  it('says what is wrong with each field, and where the upper limit stands', () => {
    const [multiplier, percentile, maxMs] = say({ multiplier: 0.5, percentile: 100, maxMs: 5_000 })
    assert.match(multiplier!, /^adaptiveTimeout\.multiplier must be a number from 1 /)
    assert.match(percentile!, /^adaptiveTimeout\.percentile must be/)
    assert.match(maxMs!, /^adaptiveTimeout\.maxMs .*retry\.attemptTimeoutMs/)
    assert.deepEqual(say(false), ['adaptiveTimeout must be true, or an object with what differs'])
  })
})
